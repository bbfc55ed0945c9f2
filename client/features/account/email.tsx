import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { ResendButton, useResend } from "#client/components/resend.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Account } from "#contract/account.ts";
import styles from "./account.module.css";
import { EmailDialog } from "./email-dialog.tsx";

interface EmailProps {
  email: string;
  /** Whether the account is loaded. */
  known: boolean;
  /** Called when a link to another address is on its way. */
  onAsked: () => void;
}

/** The address, with the way to another one. */
export function Email({ email, known, onAsked }: EmailProps) {
  const { t } = useTranslation("account");
  const [dialogOpen, setDialogOpen] = useState(false);

  function sent(): void {
    setDialogOpen(false);
    onAsked();
  }

  return (
    <>
      <p className={styles.email}>
        {email}
        {/* Takes its space before the account is loaded, so that nothing shifts. */}
        <Badge tone="good" className={known ? "" : (styles.unknown ?? "")}>
          {t("verified")}
        </Badge>
        <Button size="small" variant="quiet" onClick={() => setDialogOpen(true)}>
          {t("email.change")}
        </Button>
      </p>
      {dialogOpen && <EmailDialog current={email} onClose={() => setDialogOpen(false)} onSent={sent} />}
    </>
  );
}

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
  const { note, refuse, clear } = useRefusal();
  const [cancelling, setCancelling] = useState(false);
  const resending = useResend(() => api("POST /api/account/email/resend").then(onChanged), { justSent });

  async function cancel(): Promise<void> {
    if (cancelling) return;
    clear();
    setCancelling(true);
    await api("DELETE /api/account/email").then(onChanged, (error: unknown) => refuse(error));
    setCancelling(false);
  }

  const text = t("account:email.waiting", { email: asked.email, time: dateTime(asked.expiresAt) });
  return (
    <div className={styles.form}>
      <Alert>
        <RichText text={text} elements={{ strong: <strong className={styles.address} /> }} />
      </Alert>
      {resending.state === "sent" && <p role="status">{t("steps:checkEmail.resent")}</p>}
      {resending.note}
      {note}
      <div className={styles.actions}>
        <ResendButton resending={resending} size="small" />
        <Button size="small" busy={cancelling} busyLabel={t("account:email.cancelling")} onClick={() => void cancel()}>
          {t("account:email.cancel")}
        </Button>
      </div>
    </div>
  );
}
