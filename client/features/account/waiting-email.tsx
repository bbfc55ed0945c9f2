import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { ResendButton, useResend } from "#client/components/resend.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Account } from "#contract/account/account.ts";
import styles from "./account.module.css";

interface WaitingEmailProps {
  asked: NonNullable<Account["newEmail"]>;
  /** The link was mailed while this page was open. */
  justSent: boolean;
  /** Called when the account has to be read again. */
  onChanged: () => void;
}

/** The new address waits until its link is opened. */
export function WaitingEmail({ asked, justSent, onChanged }: WaitingEmailProps) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals", "steps"]);
  const { dateTime } = useFormat();
  const { note, busy, run } = useAct();
  const resending = useResend(() => api("POST /api/account/email/resend").then(onChanged), { justSent });

  const text = t("account:email.waiting", { email: asked.email, time: dateTime(asked.expiresAt) });
  const actions = (
    <>
      <ResendButton resending={resending} size="small" />
      <Button
        size="small"
        busy={busy !== undefined}
        busyLabel={t("account:email.cancelling")}
        onClick={() => void run("cancel", () => api("DELETE /api/account/email").then(onChanged))}
      >
        {t("account:email.cancel")}
      </Button>
    </>
  );
  return (
    <div className={styles.form}>
      <Alert action={actions}>
        <RichText text={text} elements={{ strong: <strong className={styles.address} /> }} />
      </Alert>
      {resending.state === "sent" && <p role="status">{t("steps:checkEmail.resent")}</p>}
      {resending.note}
      {note}
    </div>
  );
}
