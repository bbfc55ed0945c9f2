import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { CodeField } from "#client/components/code-field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import type { TotpSetUp } from "#contract/factors.ts";
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

function CodeForm({ setUp, onDone, onCancel, onSpent }: SetUpAppProps) {
  const { t } = useTranslation(["account", "auth", "common", "errors", "refusals", "steps"]);
  const [code, setCode] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(code.trim() === "" ? t("steps:factor.needed") : undefined);
    if (code.trim() === "") return;
    clear();
    setBusy(true);
    try {
      const body = { setUp: setUp.setUp, code };
      const answer = await withStepUp(() => api("POST /api/account/factors/totp/confirm", { body }));
      if (answer) onDone(answer.recoveryCodes);
    } catch (error) {
      if (error instanceof ApiProblem && (error.code === "set_up_expired" || error.code === "conflict")) onSpent(error);
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      <p>{t("account:twoStep.app.enter")}</p>
      {note}
      <CodeField kind="totp" value={code} onChange={setCode} error={fault} />
      <SubmitButton
        label={t("account:twoStep.app.submit")}
        busy={busy}
        busyLabel={t("account:twoStep.app.busy")}
        waitSeconds={waitSeconds}
      />
      <Button wide onClick={onCancel}>
        {t("common:cancel")}
      </Button>
    </form>
  );
}

/** Connects an authenticator app: by a picture, by a link on a phone, or by typing the key. Its first code turns the factor on. */
export function SetUpApp(props: SetUpAppProps) {
  const { t } = useTranslation("account");
  const { secret, uri } = props.setUp;
  return (
    <>
      <StepTitle>{t("twoStep.app.title")}</StepTitle>
      <p>{t("twoStep.app.scan")}</p>
      <QrCode text={uri} label={t("twoStep.app.qr")} />
      <p className={twoStep.openApp}>
        <a href={uri}>{t("twoStep.app.open")}</a>
      </p>
      <p>{t("twoStep.app.key")}</p>
      <p className={twoStep.secret}>
        <code>{grouped(secret)}</code>
      </p>
      <div className={styles.actions}>
        <CopyText label={t("twoStep.app.copyKey")} text={secret} />
      </div>
      <CodeForm {...props} />
    </>
  );
}
