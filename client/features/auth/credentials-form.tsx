import type { FormEvent, ReactNode } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { GoogleButton } from "#client/components/google-button.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { paths } from "#client/paths.ts";
import { checkEmail, checkPassword } from "#domain/rules.ts";
import styles from "./auth.module.css";
import { beginGoogle, signIn, signUp } from "./auth-calls.ts";
import { PasskeyWay } from "./passkey-way.tsx";
import { SignInEmail } from "./sign-in-email.tsx";

export type AuthMode = "signIn" | "signUp";

interface CredentialsFormProps {
  mode: AuthMode;
  email: string;
  onEmail: (email: string) => void;
  /** The address of the other mode, including the visitor's query parameters. */
  otherHref: string;
  /** The address of the form for those who forgot their password. */
  recoverHref: string;
  /** The page to return to after signing in with Google; null: none was asked for. */
  returnTo: string | null;
  /** What led here, said above the fields. */
  notice?: ReactNode;
  /** Called if the address must be confirmed first: after signing up, which has sent the link, and after signing in too early. */
  onUnconfirmed: (step: { justSent: boolean }) => void;
}

interface Faults {
  email: string | undefined;
  password: string | undefined;
}

function Intro({ mode }: { mode: AuthMode }) {
  const { t } = useTranslation("auth");
  return (
    <header className={styles.header}>
      <h1>{t(`${mode}.title`)}</h1>
      <p className={styles.lead}>{t(`${mode}.lead`)}</p>
    </header>
  );
}

/** What a person accepts by signing up. */
function Legal() {
  const { t } = useTranslation("auth");
  return (
    <p className={styles.small}>
      <RichText text={t("signUp.legal")} elements={{ terms: <Link href={paths.terms} />, privacy: <Link href={paths.privacy} /> }} />
    </p>
  );
}

function Forgot({ href }: { href: string }) {
  const { t } = useTranslation("auth");
  return (
    <p className={styles.forgot}>
      <Link href={href}>{t("signIn.forgot")}</Link>
    </p>
  );
}

function OtherMode({ mode, href }: { mode: AuthMode; href: string }) {
  const { t } = useTranslation("auth");
  return (
    <p className={styles.other}>
      {t(`${mode}.other`)} <Link href={href}>{t(`${mode}.otherAction`)}</Link>
    </p>
  );
}

/** Google makes an account for those who have none, so what they accept is here too. Hidden where there is no Google (auth.module.css). */
function GoogleWay({ mode, returnTo }: { mode: AuthMode; returnTo: string | null }) {
  const { t } = useTranslation("auth");
  return (
    <div className={styles.google}>
      <p className={styles.or}>{t("google.or")}</p>
      <GoogleButton begin={() => beginGoogle(returnTo)} />
      {mode === "signIn" && <Legal />}
    </div>
  );
}

function useFaults(): (mode: AuthMode, email: string, password: string) => Faults {
  const { t } = useTranslation("auth");
  const ruleText = useRuleText();
  return (mode, email, password) => {
    // When signing in, only missing fields are reported. The server checks whether the password is right.
    const missing = password === "" ? t("passwordNeeded") : undefined;
    return { email: ruleText(checkEmail(email)), password: mode === "signUp" ? ruleText(checkPassword(password, email)) : missing };
  };
}

export function CredentialsForm({ mode, email, onEmail, otherHref, recoverHref, returnTo, notice, onUnconfirmed }: CredentialsFormProps) {
  const { t, i18n } = useTranslation(["auth", "errors"]);
  const ruleText = useRuleText();
  const findFaults = useFaults();
  const form = useRef<HTMLFormElement>(null);
  const [password, setPassword] = useState("");
  const [faults, setFaults] = useState<Faults>({ email: undefined, password: undefined });
  const refusal = useRefusal();
  const [busy, setBusy] = useState(false);

  function refuse(error: unknown): void {
    if (error instanceof ApiProblem && error.code === "email_not_confirmed") {
      onUnconfirmed({ justSent: false });
      return;
    }
    if (error instanceof ApiProblem) {
      const named = (field: string) => ruleText(error.fields.find((fault) => fault.field === field)?.message);
      setFaults({ email: named("email"), password: named("password") });
    }
    refusal.refuse(error);
  }

  // Remove a field's error when its content changes.
  const changing = (field: keyof Faults, change: (value: string) => void) => (value: string) => {
    change(value);
    setFaults({ ...faults, [field]: undefined });
  };

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || refusal.waitSeconds > 0) return;
    const found = findFaults(mode, email, password);
    setFaults(found);
    refusal.clear();
    if (found.email || found.password) {
      form.current?.querySelector<HTMLInputElement>(found.email ? "[name=email]" : "[name=password]")?.focus();
      return;
    }
    setBusy(true);
    try {
      if (mode === "signIn") await signIn(email, password);
      else {
        await signUp(email, password, i18n.language);
        onUnconfirmed({ justSent: true });
      }
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <Intro mode={mode} />
      {notice}
      <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        {refusal.note}
        <SignInEmail value={email} onChange={changing("email", onEmail)} error={faults.email} />
        <PasswordField value={password} onChange={changing("password", setPassword)} error={faults.password} isNew={mode === "signUp"} />
        {mode === "signIn" && <Forgot href={recoverHref} />}
        <SubmitButton label={t(`auth:${mode}.submit`)} busy={busy} busyLabel={t(`auth:${mode}.busy`)} waitSeconds={refusal.waitSeconds} />
        {mode === "signUp" && <Legal />}
      </form>
      {mode === "signIn" && <PasskeyWay paused={busy} refusal={refusal} />}
      <GoogleWay mode={mode} returnTo={returnTo} />
      <OtherMode mode={mode} href={otherHref} />
    </>
  );
}
