import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { PasswordForm } from "#client/components/password-form.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { minuteMs } from "#domain/clock.ts";
import { emailChangeMs } from "#domain/periods.ts";
import { confirmEmailChange, lookAtEmailChange } from "./auth-calls.ts";
import { LinkBusy, LinkFailed, useLink, WithoutLink } from "./mailed-link-parts.tsx";
import { Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

interface EmailChangeProps {
  token: string;
  signedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Opens the link that was mailed to a new address. In the browser that asked for it that is enough. */
export function EmailChange({ token, ...way }: EmailChangeProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const title = t("steps:change.title");
  const [confirmed, setConfirmed] = useState(false);
  const { state, look, fail } = useLink(token, lookAtEmailChange);
  const confirm = useCallback((password?: string) => confirmEmailChange(token, password).then(() => setConfirmed(true)), [token]);
  const isHere = state.step === "known" && state.link.state === "here";
  useEffect(() => {
    if (isHere) confirm().catch(fail);
  }, [isHere, confirm, fail]);

  if (state.step === "failed")
    return (
      <LinkFailed
        code={state.code}
        title={title}
        spent={t("steps:change.spent", { minutes: emailChangeMs / minuteMs })}
        onAgain={look}
        {...way}
      />
    );
  if (state.step === "looking" || (isHere && !confirmed)) return <LinkBusy title={title} />;
  const key = confirmed ? "done" : state.link.state === "elsewhere" ? "elsewhere" : "lead";
  const { email } = state.link;
  return (
    <Step key={key} title={confirmed ? t("steps:change.doneTitle") : title} lead={t(`steps:change.${key}`, { email })}>
      {/* From now on the password belongs to this address. */}
      {key === "lead" && (
        <PasswordForm
          email={email}
          send={(password) => confirm(password).catch(unlessCode("link_invalid", fail))}
          wordsOf={(error) => (error instanceof ApiProblem && error.code === "invalid_credentials" ? t("steps:change.wrong") : undefined)}
          submit={{ label: t("steps:change.submit"), busyLabel: t("steps:confirm.password.busy") }}
        />
      )}
      {confirmed && <WithoutLink {...way} />}
    </Step>
  );
}
