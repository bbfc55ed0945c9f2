import type { FormEvent } from "react";
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { paths } from "#client/paths.ts";
import { checkEmail } from "#domain/rules.ts";
import styles from "./auth.module.css";
import { confirmAddress, resendConfirmation } from "./auth-calls.ts";
import { useRuleText } from "./rule-text.ts";
import { SignInEmail } from "./sign-in-email.tsx";

interface ConfirmAddressProps {
  token: string;
  email: string;
  onEmail: (email: string) => void;
  /** A new link is on its way to `email`. */
  onResent: () => void;
  /** The account the link was mailed to is signed in. */
  onConfirmed: () => void;
}

/** Opens the mailed link, which signs in. */
export function ConfirmAddress({ token, email, onEmail, onResent, onConfirmed }: ConfirmAddressProps) {
  const { t } = useTranslation(["auth", "errors"]);
  const ruleText = useRuleText();
  const [failure, setFailure] = useState<string>();
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);

  const confirm = useCallback(() => {
    setFailure(undefined);
    confirmAddress(token).then(onConfirmed, (error: unknown) => setFailure(error instanceof ApiProblem ? error.code : "network"));
  }, [token, onConfirmed]);

  useEffect(confirm, [confirm]);

  async function sendNewLink(event: FormEvent): Promise<void> {
    event.preventDefault();
    const message = checkEmail(email);
    setFault(ruleText(message));
    if (message !== undefined || busy) return;
    setBusy(true);
    try {
      await resendConfirmation(email);
      onResent();
    } catch (error) {
      setFailure(error instanceof ApiProblem ? error.code : "network");
    } finally {
      setBusy(false);
    }
  }

  if (failure === undefined) {
    return (
      <>
        <h1>{t("auth:confirm.title")}</h1>
        <Spinner label={t("auth:confirm.busy")} />
      </>
    );
  }
  const spent = failure === "link_invalid";
  return (
    <>
      <h1>{t("auth:confirm.failed")}</h1>
      <Alert tone="danger">{problemText(failure)}</Alert>
      {spent ? (
        <form className={styles.form} onSubmit={(event) => void sendNewLink(event)} noValidate>
          <p>{t("auth:confirm.newLink")}</p>
          <SignInEmail value={email} onChange={onEmail} error={fault} />
          <Button type="submit" variant="primary" wide busy={busy}>
            {t("auth:confirm.send")}
          </Button>
        </form>
      ) : (
        <Button variant="primary" onClick={confirm}>
          {t("auth:confirm.again")}
        </Button>
      )}
      <p className={styles.other}>
        <Link href={paths.auth}>{t("auth:confirm.signIn")}</Link>
      </p>
    </>
  );
}
