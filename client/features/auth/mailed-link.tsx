import type { ReactNode } from "react";
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { paths } from "#client/paths.ts";
import type { MailedLink as Link } from "#contract/auth/sign-in.ts";
import styles from "./auth.module.css";
import { confirmAddress, lookAtLink } from "./auth-calls.ts";
import { ConfirmPassword } from "./confirm-password.tsx";
import { LinkBusy } from "./mailed-link-parts.tsx";
import { ReplaceSession } from "./replace-session.tsx";
import { Step } from "./step.tsx";

interface MailedLinkProps {
  token: string;
  /** The email of the signed-in person, or null. */
  signedInAs: string | null;
  /** Called with the link's address as soon as it is known. */
  onEmail: (email: string) => void;
  /** Called when the address is confirmed, or the link of the signed-in account was opened again. */
  onDone: () => void;
  /** Called when the person wants to sign in or sign up without the link. */
  onInstead: () => void;
}

type State = "looking" | "disowned" | { failure: string } | { link: Link; replacing: boolean };

const codeOf = (error: unknown) => (error instanceof ApiProblem ? error.code : "network");

/** Opens the mailed link. First reads whose link it is, and confirms nothing before it is clear that the person wants it. */
export function MailedLink({ token, signedInAs, onEmail, onDone, onInstead }: MailedLinkProps) {
  const [step, setStep] = useState<State>("looking");
  const fail = useCallback((code: string) => setStep({ failure: code }), []);

  const look = useCallback(() => {
    setStep("looking");
    lookAtLink(token).then(
      (link) => {
        onEmail(link.email);
        setStep({ link, replacing: false });
      },
      (error: unknown) => fail(codeOf(error)),
    );
  }, [token, onEmail, fail]);
  useEffect(look, [look]);

  const isOwn = typeof step === "object" && "link" in step && step.link.state === "used" && step.link.email === signedInAs;
  useEffect(() => {
    if (isOwn) onDone();
  }, [isOwn, onDone]);

  if (step === "looking" || isOwn) return <Busy />;
  const waysOn = signedInAs === null ? <SignInInstead onInstead={onInstead} /> : <GoOn onGoOn={onDone} />;
  if (step === "disowned") return <Disowned waysOn={signedInAs === null ? <SignUpInstead onInstead={onInstead} /> : waysOn} />;
  if ("failure" in step) return <Failed code={step.failure} onAgain={look} waysOn={waysOn} />;
  const { link, replacing } = step;
  if (link.state === "used") return <Used email={link.email} waysOn={waysOn} />;
  if (signedInAs !== null && signedInAs !== link.email && !replacing)
    return <ReplaceSession email={signedInAs} other={link.email} onStay={onDone} onUse={() => setStep({ link, replacing: true })} />;
  if (link.state === "here") return <ConfirmHere token={token} onConfirmed={onDone} onFailed={fail} />;
  return <ConfirmPassword token={token} email={link.email} onConfirmed={onDone} onDisowned={() => setStep("disowned")} onSpent={fail} />;
}

function Busy() {
  const { t } = useTranslation(["auth", "steps"]);
  return <LinkBusy title={t("steps:confirm.title")} />;
}

/** In the browser that signed up, opening the link is enough. */
function ConfirmHere({ token, onConfirmed, onFailed }: { token: string; onConfirmed: () => void; onFailed: (code: string) => void }) {
  useEffect(() => {
    confirmAddress(token).then(onConfirmed, (error: unknown) => onFailed(codeOf(error)));
  }, [token, onConfirmed, onFailed]);
  return <Busy />;
}

/** Shown for a link that is not valid. */
function SignInInstead({ onInstead }: { onInstead: () => void }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <div className={styles.ways}>
      <LinkButton href={paths.auth} variant="primary" wide onClick={onInstead}>
        {t("steps:confirm.signIn")}
      </LinkButton>
      <LinkButton href={`${paths.auth}?mode=sign-up`} wide onClick={onInstead}>
        {t("signIn.otherAction")}
      </LinkButton>
    </div>
  );
}

function GoOn({ onGoOn }: { onGoOn: () => void }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <Button variant="primary" wide onClick={onGoOn}>
      {t("steps:confirm.goOn")}
    </Button>
  );
}

function Failed({ code, onAgain, waysOn }: { code: string; onAgain: () => void; waysOn: ReactNode }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  return (
    <Step title={t("steps:confirm.failed")}>
      <Alert tone="danger">{problemText(code)}</Alert>
      {code === "link_invalid" ? (
        waysOn
      ) : (
        <Button variant="primary" wide onClick={onAgain}>
          {t("steps:confirm.again")}
        </Button>
      )}
    </Step>
  );
}

function Used({ email, waysOn }: { email: string; waysOn: ReactNode }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <Step title={t("signIn.title")} lead={t("steps:confirm.used", { email })}>
      {waysOn}
    </Step>
  );
}

function Disowned({ waysOn }: { waysOn: ReactNode }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <Step title={t("steps:confirm.disown.title")} lead={t("steps:confirm.disown.text")}>
      {waysOn}
    </Step>
  );
}

/** Shown for a link whose sign-up was made by somebody else. */
function SignUpInstead({ onInstead }: { onInstead: () => void }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <LinkButton href={`${paths.auth}?mode=sign-up`} variant="primary" wide onClick={onInstead}>
      {t("signIn.otherAction")}
    </LinkButton>
  );
}
