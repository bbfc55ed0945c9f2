import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { CodeForm } from "#client/components/code-form.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import type { FactorNeeded } from "#contract/auth/sign-in.ts";
import styles from "./auth.module.css";
import { answerFactor } from "./auth-calls.ts";
import { LostFactor } from "./lost-factor.tsx";
import { Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

type Method = FactorNeeded["methods"][number];

/** Asks for the second factor after the first one was right. */
export function FactorStep({ needed, onBack }: { needed: FactorNeeded; onBack: () => void }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const [method, setMethod] = useState<Method>("totp");
  const [expired, setExpired] = useState(false);
  const [lost, setLost] = useState(false);
  const onExpired = () => setExpired(true);
  const back = (
    <Button variant={expired ? "primary" : "quiet"} wide onClick={onBack}>
      {t("steps:factor.back")}
    </Button>
  );
  if (expired)
    return (
      <Step key="expired" title={t("steps:factor.title")}>
        <Alert tone="danger">{problemText("sign_in_expired")}</Alert>
        {back}
      </Step>
    );
  if (lost) return <LostFactor token={needed.token} onBack={() => setLost(false)} onExpired={onExpired} />;
  const isApp = method === "totp";
  return (
    <Step key="code" title={t("steps:factor.title")} lead={t(isApp ? "steps:factor.lead" : "steps:factor.leadRecovery")}>
      <CodeForm
        key={method}
        kind={method}
        send={(code) => answerFactor(needed.token, code).catch(unlessCode("sign_in_expired", onExpired))}
        submit={{ label: t("auth:signIn.submit"), busyLabel: t("steps:factor.busy") }}
      />
      <div className={styles.ways}>
        {needed.methods.includes("recovery_code") && (
          <Button wide onClick={() => setMethod(isApp ? "recovery_code" : "totp")}>
            {t(isApp ? "steps:factor.useRecovery" : "steps:factor.useApp")}
          </Button>
        )}
        <Button variant="quiet" wide onClick={() => setLost(true)}>
          {t("steps:factor.lost")}
        </Button>
        {back}
      </div>
    </Step>
  );
}
