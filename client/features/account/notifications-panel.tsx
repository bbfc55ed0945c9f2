import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Checkbox } from "#client/components/field.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { optionalMailKinds } from "#domain/notifications.ts";
import styles from "./account.module.css";
import { Reading } from "./reading.tsx";
import { useRead } from "./use-read.ts";

const readMails = async () => (await api("GET /api/account/notifications")).mails;

/** The mails that can be switched off. A change is kept at once. */
export function MailChoicesPanel({ email }: { email: string }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  // Read again when the page comes back to the front: a mail's link may have switched one off meanwhile.
  const { change, ...reading } = useRead(readMails);
  const { note, waitSeconds, busy, run } = useAct();
  /** The new value of the switch that is being saved, shown until the server has answered. */
  const [wish, setWish] = useState(false);

  function choose(kind: string, wanted: boolean): void {
    if (busy === undefined) setWish(wanted);
    void run(kind, async () => {
      const { mails } = await api("PATCH /api/account/notifications", { body: { kind, wanted } });
      change(() => mails);
    });
  }

  return (
    <Panel name="mail-choices" title={t("account:notifications.title")} lead={[t("account:notifications.lead", { email })]}>
      <Reading
        {...reading}
        label={t("account:notifications.title")}
        rows={optionalMailKinds.length}
        failed={t("account:notifications.loadFailed")}
      >
        {(mails) => (
          <ul className={styles.rows}>
            {optionalMailKinds.flatMap((kind) => {
              const choice = mails.find((mail) => mail.kind === kind);
              if (!choice) return [];
              return (
                <li key={kind} className={styles.row}>
                  <Checkbox
                    label={t(`account:notifications.kinds.${kind}.title`)}
                    hint={t(`account:notifications.kinds.${kind}.text`)}
                    checked={busy === kind ? wish : choice.wanted}
                    aria-disabled={busy !== undefined || waitSeconds > 0}
                    onChange={(event) => choose(kind, event.target.checked)}
                  />
                </li>
              );
            })}
          </ul>
        )}
      </Reading>
      {note}
    </Panel>
  );
}

/** The mails that are always sent, and why. */
export function FixedMailsPanel() {
  const { t } = useTranslation("account");
  return (
    <Panel name="fixed-mails" title={t("notifications.fixedTitle")} lead={[t("notifications.fixedLead")]}>
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
    </Panel>
  );
}
