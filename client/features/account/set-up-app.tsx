import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { CodeForm } from "#client/components/code-form.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import styles from "./account.module.css";
import { CopyText } from "./copy-text.tsx";
import { QrCode } from "./qr-code.tsx";
import { StepTitle } from "./step-title.tsx";
import twoStep from "./two-step.module.css";

/** In groups of four, which are easier to type. */
function grouped(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, "$& ");
}

interface SetUpAppProps {
  setUp: TotpSetUp;
  /** Called once the factor is on, with the recovery codes. */
  onDone: (recoveryCodes: readonly string[]) => void;
  onCancel: () => void;
  /** Called with an error after which the set-up has to begin again. */
  onSpent: (error: ApiProblem) => void;
}

/** Connects an authenticator app: by a picture, by a link on a phone, or by typing the key. Its first code turns the factor on. */
export function SetUpApp({ setUp, onDone, onCancel, onSpent }: SetUpAppProps) {
  const { t } = useTranslation(["account", "common"]);
  const { secret, uri } = setUp;

  async function confirm(code: string): Promise<void> {
    try {
      const answer = await withStepUp(() => api("POST /api/account/factors/totp/confirm", { body: { setUp: setUp.setUp, code } }));
      if (answer) onDone(answer.recoveryCodes);
    } catch (error) {
      if (!(error instanceof ApiProblem) || (error.code !== "set_up_expired" && error.code !== "conflict")) throw error;
      onSpent(error);
    }
  }

  return (
    <>
      <StepTitle>{t("account:twoStep.app.title")}</StepTitle>
      <p>{t("account:twoStep.app.scan")}</p>
      <QrCode text={uri} label={t("account:twoStep.app.qr")} />
      <p className={twoStep.openApp}>
        <a href={uri}>{t("account:twoStep.app.open")}</a>
      </p>
      <p>{t("account:twoStep.app.key")}</p>
      <p className={twoStep.secret}>
        <code>{grouped(secret)}</code>
      </p>
      <div className={styles.actions}>
        <CopyText label={t("account:twoStep.app.copyKey")} text={secret} />
      </div>
      <CodeForm
        kind="totp"
        lead={<p>{t("account:twoStep.app.enter")}</p>}
        send={confirm}
        submit={{ label: t("account:twoStep.app.submit"), busyLabel: t("account:twoStep.app.busy") }}
      >
        <Button wide onClick={onCancel}>
          {t("common:cancel")}
        </Button>
      </CodeForm>
    </>
  );
}
