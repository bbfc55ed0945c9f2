import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { CodeForm } from "#client/components/code-form.tsx";
import { GoogleButton } from "#client/components/google-button.tsx";
import { PasswordForm } from "#client/components/password-form.tsx";
import { useAct } from "#client/components/use-act.ts";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { api } from "#client/lib/api.ts";
import { showFactor } from "#client/lib/step-up.ts";
import type { StepUpWay } from "#contract/account/step-up.ts";
import styles from "./account.module.css";

export interface WayProps {
  email: string;
  /** Called once the server has accepted the factor. */
  onProved: () => void;
}

function useSubmit() {
  const { t } = useTranslation("account");
  return { label: t("stepUp.submit"), busyLabel: t("stepUp.busy") };
}

function ByPassword({ email, onProved }: WayProps) {
  return <PasswordForm email={email} send={(password) => showFactor({ password }).then(onProved)} submit={useSubmit()} />;
}

function ByCode({ onProved }: WayProps) {
  return <CodeForm kind="any" send={(code) => showFactor({ code }).then(onProved)} submit={useSubmit()} />;
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
  const { note, waitSeconds, busy, run } = useAct();

  async function show(): Promise<void> {
    const { showPasskey } = await import("#client/lib/webauthn.ts");
    const options = await api("POST /api/account/step-up/passkey", { body: {} });
    await showFactor({ passkey: await showPasskey(options) });
    onProved();
  }

  return (
    <div className={styles.form}>
      {note}
      <Button
        variant="primary"
        wide
        busy={busy !== undefined}
        busyLabel={t("account:passkeys.waiting")}
        aria-disabled={waitSeconds > 0}
        onClick={() => void run("show", show, (error) => passkeyText(error, t("account:passkeys.notUsed")))}
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
