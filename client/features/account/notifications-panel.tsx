import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { Checkbox } from "#client/components/field.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { askedMailKinds } from "#domain/notifications.ts";
import styles from "./account.module.css";
import { RowsLoading } from "./rows-loading.tsx";
import { useMailChoices } from "./use-mail-choices.ts";

/** The mails that can be switched off. A change is kept at once. */
export function MailChoicesPanel({ email }: { email: string }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { state, look, choose } = useMailChoices();
  const { note, waitSeconds, refuse, clear } = useRefusal();
  /** The switch that is being kept, as the person set it. */
  const [pending, setPending] = useState<{ kind: string; wanted: boolean }>();

  async function change(kind: string, wanted: boolean): Promise<void> {
    if (pending || waitSeconds > 0) return;
    clear();
    setPending({ kind, wanted });
    await choose(kind, wanted).catch((error: unknown) => refuse(error));
    setPending(undefined);
  }

  const mails = state.status === "known" ? state.mails : [];
  return (
    <Card as="section" className={styles.list ?? ""} aria-labelledby="mail-choices-title">
      <h2 id="mail-choices-title">{t("account:notifications.title")}</h2>
      <p className={styles.lead}>{t("account:notifications.lead", { email })}</p>
      {state.status === "loading" && <RowsLoading label={t("account:notifications.title")} rows={askedMailKinds.length} />}
      {state.status === "failed" && (
        <Alert
          tone="warning"
          action={
            <Button size="small" onClick={look}>
              {t("account:retry")}
            </Button>
          }
        >
          {t("account:notifications.loadFailed")}
        </Alert>
      )}
      {mails.length > 0 && (
        <ul className={styles.rows}>
          {askedMailKinds.flatMap((kind) => {
            const choice = mails.find((mail) => mail.kind === kind);
            if (!choice) return [];
            return (
              <li key={kind} className={styles.row}>
                <Checkbox
                  label={t(`account:notifications.kinds.${kind}.title`)}
                  hint={t(`account:notifications.kinds.${kind}.text`)}
                  checked={pending?.kind === kind ? pending.wanted : choice.wanted}
                  aria-disabled={pending !== undefined || waitSeconds > 0}
                  onChange={(event) => void change(kind, event.target.checked)}
                />
              </li>
            );
          })}
        </ul>
      )}
      {note}
    </Card>
  );
}

/** The mails that are always sent, and why. */
export function FixedMailsPanel() {
  const { t } = useTranslation("account");
  return (
    <Card as="section" className={styles.list ?? ""} aria-labelledby="fixed-mails-title">
      <h2 id="fixed-mails-title">{t("notifications.fixedTitle")}</h2>
      <p className={styles.lead}>{t("notifications.fixedLead")}</p>
      <ul className={styles.rows}>
        {(["security", "payments"] as const).map((kind) => (
          <li key={kind} className={styles.row}>
            <div>
              <p className={styles.what}>{t(`notifications.fixed.${kind}.title`)}</p>
              <p className={styles.detail}>{t(`notifications.fixed.${kind}.text`)}</p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
