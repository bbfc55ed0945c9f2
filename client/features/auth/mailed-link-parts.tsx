import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { paths } from "#client/paths.ts";
import { Step } from "./step.tsx";

type LinkState<Link> = { step: "looking" } | { step: "known"; link: Link } | { step: "failed"; code: string };

/** Reads what a mailed link is for. `fail` shows why it can't be used. */
export function useLink<Link>(token: string, lookAt: (token: string) => Promise<Link>) {
  const [state, setState] = useState<LinkState<Link>>({ step: "looking" });
  const fail = useCallback(
    (error: unknown) => setState({ step: "failed", code: error instanceof ApiProblem ? error.code : "network" }),
    [],
  );
  const look = useCallback(() => {
    setState({ step: "looking" });
    lookAt(token).then((link) => setState({ step: "known", link }), fail);
  }, [token, lookAt, fail]);
  useEffect(look, [look]);
  return { state, look, fail };
}

export function LinkBusy({ title }: { title: string }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <>
      <h1>{title}</h1>
      <Spinner label={t("steps:confirm.busy")} />
    </>
  );
}

/** Leads on without the link: to the account, or to signing in. */
export function WithoutLink({ signedIn, onInstead }: { signedIn: boolean; onInstead: () => void }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <LinkButton href={signedIn ? paths.profile : paths.auth} variant="primary" wide onClick={onInstead}>
      {t(signedIn ? "steps:confirm.goOn" : "steps:confirm.signIn")}
    </LinkButton>
  );
}

interface LinkFailedProps {
  code: string;
  title: string;
  /** What to say of a link that no longer works. */
  spent: string;
  onAgain: () => void;
  signedIn: boolean;
  onInstead: () => void;
}

export function LinkFailed({ code, title, spent, onAgain, signedIn, onInstead }: LinkFailedProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  if (code === "link_invalid")
    return (
      <Step title={t("steps:reset.failed")} lead={spent}>
        <WithoutLink signedIn={signedIn} onInstead={onInstead} />
      </Step>
    );
  return (
    <Step title={title}>
      <Alert tone="danger">{problemText(code)}</Alert>
      <Button variant="primary" wide onClick={onAgain}>
        {t("steps:confirm.again")}
      </Button>
    </Step>
  );
}
