/** What the two mailed links about a lost second factor lead to: cancelling the request, and removing the factor. */
import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import type { Refusal } from "#client/components/use-refusal.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { securityPath } from "#client/lib/security-path.ts";
import { paths, recoverPath } from "#client/paths.ts";
import type { FactorNeeded } from "#contract/auth.ts";
import styles from "./auth.module.css";
import { cancelFactorReset, removeLostFactor } from "./auth-calls.ts";
import { StepHeading } from "./step-heading.tsx";

/** One act that can be refused. `spent` is set once its link works no longer. */
function useLinkAct(): Refusal & { busy: boolean; spent: boolean; run: (act: () => Promise<void>) => Promise<void> } {
  const refusal = useRefusal();
  const [busy, setBusy] = useState(false);
  const [spent, setSpent] = useState(false);
  async function run(act: () => Promise<void>): Promise<void> {
    if (busy || refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(true);
    try {
      await act();
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "link_invalid") setSpent(true);
      else refusal.refuse(error);
    } finally {
      setBusy(false);
    }
  }
  return { ...refusal, busy, spent, run };
}

interface CancelResetProps {
  token: string;
  isSignedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Cancels on a click, not on opening: programs that look at mails open links. */
function CancelReset({ token, isSignedIn, onInstead }: CancelResetProps) {
  const { t } = useTranslation(["account", "auth", "errors"]);
  const { note, waitSeconds, busy, spent, run } = useLinkAct();
  const [done, setDone] = useState(false);
  const cancel = () =>
    run(async () => {
      await cancelFactorReset(token);
      setDone(true);
    });
  return (
    <>
      <header className={styles.header}>
        <StepHeading key={done ? "done" : "ask"}>{t(done ? "account:lost.cancel.done" : "account:lost.cancel.title")}</StepHeading>
        <p className={styles.lead}>{t(done ? "account:lost.cancel.doneText" : "account:lost.cancel.text")}</p>
      </header>
      {note}
      {spent && <Alert tone="warning">{t("account:lost.cancel.spent")}</Alert>}
      <div className={styles.actions}>
        {!done && !spent && (
          <Button
            variant="primary"
            wide
            busy={busy}
            busyLabel={t("account:lost.cancel.busy")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void cancel()}
          >
            {t("account:lost.cancel.submit")}
          </Button>
        )}
        {(done || spent) && (
          <LinkButton href={isSignedIn ? securityPath : recoverPath} variant="primary" wide onClick={onInstead}>
            {t("account:lost.cancel.password")}
          </LinkButton>
        )}
        {!isSignedIn && (
          <LinkButton href={paths.auth} wide onClick={onInstead}>
            {t("account:lost.cancel.signIn")}
          </LinkButton>
        )}
      </div>
    </>
  );
}

/** For somebody who is signed in here, and so needs no link. */
function SignedIn() {
  const { t } = useTranslation("account");
  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("lost.link.title")}</StepHeading>
        <p className={styles.lead}>{t("lost.link.signedIn")}</p>
      </header>
      <LinkButton href={securityPath} variant="primary" wide>
        {t("lost.link.settings")}
      </LinkButton>
    </>
  );
}

interface ResetLinkProps extends CancelResetProps {
  purpose: "keep-factors" | "reset-factors";
  /** The link removes the factor only once the password was shown. */
  signInForm: ReactNode;
}

/** Where the link of a mail about a lost factor leads. */
export function ResetLink({ purpose, signInForm, ...link }: ResetLinkProps) {
  const { t } = useTranslation("account");
  if (purpose === "keep-factors") return <CancelReset {...link} />;
  if (link.isSignedIn) return <SignedIn />;
  return (
    <>
      <Alert>{t("lost.link.lead")}</Alert>
      {signInForm}
    </>
  );
}

interface RemoveFactorProps {
  needed: FactorNeeded;
  link: string;
  onDone: () => void;
  /** Called when the person goes on with a code: they found one, or the link works no longer. */
  onCode: () => void;
}

/** The password was right: the link may remove the second factor. */
export function RemoveFactor({ needed, link, onDone, onCode }: RemoveFactorProps) {
  const { t } = useTranslation(["account", "auth", "errors"]);
  const { note, waitSeconds, busy, spent, run } = useLinkAct();
  const remove = () =>
    run(async () => {
      await removeLostFactor(needed.token, link);
      onDone();
    });
  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("account:lost.link.title")}</StepHeading>
        {!spent && <p className={styles.lead}>{t("account:lost.link.text")}</p>}
      </header>
      {note}
      {spent ? (
        <Alert tone="warning">{t("account:lost.link.spent")}</Alert>
      ) : (
        <Button
          variant="primary"
          wide
          busy={busy}
          busyLabel={t("account:lost.link.busy")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void remove()}
        >
          {t("account:lost.link.submit")}
        </Button>
      )}
      <Button wide onClick={onCode}>
        {t("account:lost.link.code")}
      </Button>
    </>
  );
}
