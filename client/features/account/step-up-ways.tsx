import type { ComponentType, FormEvent, ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { CodeField } from "#client/components/code-field.tsx";
import { GoogleButton } from "#client/components/google-button.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { api } from "#client/lib/api.ts";
import type { StepUpProof, StepUpWay } from "#contract/step-up.ts";
import styles from "./account.module.css";

export interface WayProps {
  email: string;
  /** Called once the server has accepted the factor. */
  onProved: () => void;
}

interface TypedProps {
  onProved: () => void;
  proof: StepUpProof;
  /** What is missing before it can be sent. */
  missing: string | undefined;
  children: (fault: string | undefined) => ReactNode;
}

/** The form of a way in which the person types something. */
function TypedProof({ onProved, proof, missing, children }: TypedProps) {
  const { t } = useTranslation(["account", "auth", "steps", "errors", "refusals"]);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(missing);
    if (missing !== undefined) return;
    clear();
    setBusy(true);
    try {
      await api("POST /api/account/step-up", { body: proof });
      onProved();
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      {note}
      {children(fault)}
      <SubmitButton label={t("account:stepUp.submit")} busy={busy} busyLabel={t("account:stepUp.busy")} waitSeconds={waitSeconds} />
    </form>
  );
}

function ByPassword({ email, onProved }: WayProps) {
  const { t } = useTranslation(["auth", "steps"]);
  const [password, setPassword] = useState("");
  return (
    <TypedProof onProved={onProved} proof={{ password }} missing={password === "" ? t("passwordNeeded") : undefined}>
      {(fault) => (
        <>
          {/* Password managers find the password by the address. */}
          <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
          <PasswordField value={password} onChange={setPassword} error={fault} isNew={false} />
        </>
      )}
    </TypedProof>
  );
}

function ByCode({ onProved }: WayProps) {
  const { t } = useTranslation(["auth", "steps"]);
  const [code, setCode] = useState("");
  return (
    <TypedProof onProved={onProved} proof={{ code }} missing={code.trim() === "" ? t("steps:factor.needed") : undefined}>
      {(fault) => <CodeField kind="any" value={code} onChange={setCode} error={fault} />}
    </TypedProof>
  );
}

/** Leaves the page; google-return.tsx goes on when Google has sent the person back. */
function ByGoogle() {
  return (
    <div className={styles.form}>
      <GoogleButton begin={() => api("POST /api/account/step-up/google", { body: { return: `${location.pathname}${location.search}` } })} />
    </div>
  );
}

/** The browser asks which of the person's passkeys, and for the finger, the face or the PIN. */
function ByPasskey({ onProved }: WayProps) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function show(): Promise<void> {
    if (waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      const { showPasskey } = await import("#client/lib/webauthn.ts");
      const options = await api("POST /api/account/step-up/passkey", { body: {} });
      await api("POST /api/account/step-up", { body: { passkey: await showPasskey(options) } });
      onProved();
    } catch (error) {
      refuse(error, passkeyText(error, t("account:passkeys.notUsed")));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={styles.form}>
      {note}
      <Button
        variant="primary"
        wide
        busy={busy}
        busyLabel={t("account:passkeys.waiting")}
        aria-disabled={waitSeconds > 0}
        onClick={() => void show()}
      >
        {t("account:stepUp.ways.passkey.use")}
      </Button>
    </div>
  );
}

/** What the dialog shows for each way. Its texts are `account:stepUp.ways.<way>`. */
export const stepUpWays: Readonly<Record<StepUpWay, ComponentType<WayProps>>> = {
  passkey: ByPasskey,
  password: ByPassword,
  code: ByCode,
  google: ByGoogle,
};
