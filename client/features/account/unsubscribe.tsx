import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Page } from "#client/components/page.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { isOptionalMailKind } from "#domain/notifications.ts";
import styles from "./account.module.css";
import { sectionPaths } from "./account-sections.tsx";

/**
 * Where the link of a mail leads that can be switched off. It needs no sign-in and acts on a click only, because programs that look through
 * mails open links too.
 */
export function Unsubscribe({ token }: { token: string }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const [busy, setBusy] = useState(false);
  const [kind, setKind] = useState<string>();

  async function submit(): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      setKind((await api("POST /api/notifications/unsubscribe", { querystring: { token }, anonymous: true })).kind);
    } catch (error) {
      const isInvalid = error instanceof ApiProblem && error.code === "link_invalid";
      refuse(error, isInvalid ? t("account:unsubscribe.invalid") : undefined);
    }
    setBusy(false);
  }

  const settings = <LinkButton href={sectionPaths.notifications}>{t("account:unsubscribe.settings")}</LinkButton>;
  const title = t(kind === undefined ? "account:unsubscribe.title" : "account:unsubscribe.done");
  return (
    <Page title={title} width="narrow">
      <div className={styles.panel}>
        <h1>{title}</h1>
        {kind === undefined ? (
          <>
            <p>{t("account:unsubscribe.text")}</p>
            {note}
            <div className={styles.actions}>
              <Button
                variant="primary"
                busy={busy}
                busyLabel={t("account:unsubscribe.busy")}
                aria-disabled={waitSeconds > 0}
                onClick={() => void submit()}
              >
                {t("account:unsubscribe.submit")}
              </Button>
              {settings}
            </div>
          </>
        ) : (
          <Alert tone="good" action={settings}>
            {isOptionalMailKind(kind) && t(`account:notifications.kinds.${kind}.title`)}
          </Alert>
        )}
      </div>
    </Page>
  );
}
