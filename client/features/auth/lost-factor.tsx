import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { FactorReset } from "#contract/auth/factor-reset.ts";
import { hourMs } from "#domain/clock.ts";
import { factorResetWaitMs } from "#domain/periods.ts";
import { askForFactorReset } from "./auth-calls.ts";
import { ActStep, Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

interface LostFactorProps {
  /** The token of the sign-in that waits for its second factor. */
  token: string;
  onBack: () => void;
  onExpired: () => void;
}

/** For somebody who has neither the app nor a recovery code: asks for a link that comes after 72 hours. */
export function LostFactor({ token, onBack, onExpired }: LostFactorProps) {
  const { t } = useTranslation(["account", "auth", "errors"]);
  const { dateTime } = useFormat();
  const [reset, setReset] = useState<FactorReset>();
  const back = (
    <Button wide onClick={onBack}>
      {t("account:lost.ask.back")}
    </Button>
  );
  if (reset) {
    const lead = reset.status === "waiting" ? "account:lost.waiting.text" : "account:lost.waiting.sent";
    return (
      <Step key="waiting" title={t("account:lost.waiting.title")} lead={t(lead, { time: dateTime(reset.until) })}>
        {back}
      </Step>
    );
  }
  return (
    <ActStep
      title={t("account:lost.ask.title")}
      lead={t("account:lost.ask.text", { hours: factorResetWaitMs / hourMs })}
      submit={{ label: t("account:lost.ask.submit"), busyLabel: t("account:lost.ask.busy") }}
      act={() => askForFactorReset(token).then(setReset).catch(unlessCode("sign_in_expired", onExpired))}
    >
      {back}
    </ActStep>
  );
}
