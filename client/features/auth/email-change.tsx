import type { FormEvent } from "react";
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { PasswordField } from "#client/components/password-field.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { minuteMs } from "#domain/clock.ts";
import { emailChangeMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { confirmEmailChange, lookAtEmailChange } from "./auth-calls.ts";
import { LinkBusy, LinkFailed, useLink, WithoutLink } from "./mailed-link-parts.tsx";
import { StepHeading } from "./step-heading.tsx";

interface EmailChangeProps {
  token: string;
  signedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Opens the link that was mailed to a new address. In the browser that asked for it that is enough. */
export function EmailChange({ token, ...way }: EmailChangeProps) {
  const { t } = useTranslation(["auth", "steps"]);
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
  const strong = { strong: <strong className={styles.address} /> };
  const { email } = state.link;
  const key = confirmed ? "done" : state.link.state === "elsewhere" ? "elsewhere" : "lead";
  return (
    <>
      <header className={styles.header}>
        <StepHeading key={key}>{confirmed ? t("steps:change.doneTitle") : title}</StepHeading>
        <p className={styles.lead}>
          <RichText text={t(`steps:change.${key}`, { email })} elements={strong} />
        </p>
      </header>
      {key === "lead" && <OwnPassword email={email} onPassword={confirm} onSpent={fail} />}
      {confirmed && <WithoutLink {...way} />}
    </>
  );
}

interface OwnPasswordProps {
  email: string;
  onPassword: (password: string) => Promise<void>;
  /** The link has expired or was used meanwhile. */
  onSpent: (error: unknown) => void;
}

function OwnPassword({ email, onPassword, onSpent }: OwnPasswordProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(password === "" ? t("auth:passwordNeeded") : undefined);
    if (password === "") return;
    clear();
    setBusy(true);
    try {
      await onPassword(password);
    } catch (error) {
      const code = error instanceof ApiProblem ? error.code : "network";
      setBusy(false);
      if (code === "link_invalid") onSpent(error);
      else refuse(error, code === "invalid_credentials" ? t("steps:change.wrong") : undefined);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      {note}
      {/* For password managers: from now on the password belongs to this address. */}
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField value={password} onChange={setPassword} error={fault} isNew={false} />
      <SubmitButton label={t("steps:change.submit")} busy={busy} busyLabel={t("steps:confirm.password.busy")} waitSeconds={waitSeconds} />
    </form>
  );
}
