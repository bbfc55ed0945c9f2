/** What the two mailed links about a lost second factor lead to: cancelling the request, and removing the factor. */
import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { securityPath } from "#client/lib/security-path.ts";
import { paths, recoverPath } from "#client/paths.ts";
import type { FactorNeeded } from "#contract/auth/sign-in.ts";
import styles from "./auth.module.css";
import { cancelFactorReset, removeLostFactor } from "./auth-calls.ts";
import { ActStep, Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

interface CancelResetProps {
  token: string;
  isSignedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Cancels on a click, not on opening: programs that look at mails open links. */
function CancelReset({ token, isSignedIn, onInstead }: CancelResetProps) {
  const { t } = useTranslation(["account", "auth", "errors"]);
  const [outcome, setOutcome] = useState<"done" | "spent">();
  const signIn = !isSignedIn && (
    <LinkButton href={paths.auth} wide onClick={onInstead}>
      {t("account:lost.cancel.signIn")}
    </LinkButton>
  );
  if (outcome === undefined)
    return (
      <ActStep
        title={t("account:lost.cancel.title")}
        lead={t("account:lost.cancel.text")}
        submit={{ label: t("account:lost.cancel.submit"), busyLabel: t("account:lost.cancel.busy") }}
        act={() =>
          cancelFactorReset(token)
            .then(() => setOutcome("done"))
            .catch(unlessCode("link_invalid", () => setOutcome("spent")))
        }
      >
        {signIn}
      </ActStep>
    );
  const isDone = outcome === "done";
  return (
    <Step
      key={outcome}
      title={t(isDone ? "account:lost.cancel.done" : "account:lost.cancel.title")}
      lead={isDone ? t("account:lost.cancel.doneText") : undefined}
    >
      {!isDone && <Alert tone="warning">{t("account:lost.cancel.spent")}</Alert>}
      <div className={styles.ways}>
        <LinkButton href={isSignedIn ? securityPath : recoverPath} variant="primary" wide onClick={onInstead}>
          {t("account:lost.cancel.password")}
        </LinkButton>
        {signIn}
      </div>
    </Step>
  );
}

/** For somebody who is signed in here, and so needs no link. */
function SignedIn() {
  const { t } = useTranslation("account");
  return (
    <Step title={t("lost.link.title")} lead={t("lost.link.signedIn")}>
      <LinkButton href={securityPath} variant="primary" wide>
        {t("lost.link.settings")}
      </LinkButton>
    </Step>
  );
}

interface ResetLinkProps extends CancelResetProps {
  purpose: "keep-factors" | "reset-factors";
  /** The link removes the factor only once the password was shown. */
  signInForm: (notice: ReactNode) => ReactNode;
}

/** Where the link of a mail about a lost factor leads. */
export function ResetLink({ purpose, signInForm, ...link }: ResetLinkProps) {
  const { t } = useTranslation("account");
  if (purpose === "keep-factors") return <CancelReset {...link} />;
  if (link.isSignedIn) return <SignedIn />;
  return signInForm(<Alert>{t("lost.link.lead")}</Alert>);
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
  const [spent, setSpent] = useState(false);
  const title = t("account:lost.link.title");
  const code = (
    <Button wide onClick={onCode}>
      {t("account:lost.link.code")}
    </Button>
  );
  if (spent)
    return (
      <Step key="spent" title={title}>
        <Alert tone="warning">{t("account:lost.link.spent")}</Alert>
        {code}
      </Step>
    );
  return (
    <ActStep
      title={title}
      lead={t("account:lost.link.text")}
      submit={{ label: t("account:lost.link.submit"), busyLabel: t("account:lost.link.busy") }}
      act={() =>
        removeLostFactor(needed.token, link)
          .then(onDone)
          .catch(unlessCode("link_invalid", () => setSpent(true)))
      }
    >
      {code}
    </ActStep>
  );
}
