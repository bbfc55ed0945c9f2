import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useSearchParams } from "wouter";
import { Page } from "#client/components/page.tsx";
import styles from "#client/features/auth/auth.module.css";
import { AuthPicture } from "#client/features/auth/auth-picture.tsx";
import { CheckEmail } from "#client/features/auth/check-email.tsx";
import { ConfirmAddress } from "#client/features/auth/confirm-address.tsx";
import type { AuthMode } from "#client/features/auth/credentials-form.tsx";
import { CredentialsForm } from "#client/features/auth/credentials-form.tsx";
import { ReplaceSession } from "#client/features/auth/replace-session.tsx";
import { useSession } from "#client/features/auth/session-store.ts";
import { useEnvironment } from "#client/features/environment/environment-store.ts";
import { ownPath } from "#client/lib/own-path.ts";
import { paths } from "#client/paths.ts";

export function AuthPage() {
  const { t } = useTranslation("auth");
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const [email, setEmail] = useState("");
  const [waitingForMail, setWaitingForMail] = useState(false);
  // Kept apart from the address, which must not go on showing a token that signs in.
  const [token] = useState(() => search.get("confirm"));
  const sandboxUrl = useEnvironment((state) => state.sandboxUrl);
  const { status, user } = useSession();
  /** Who was signed in when the mailed link was opened; undefined until it is. */
  const [openedBy, setOpenedBy] = useState<string | null>();
  const [confirmed, setConfirmed] = useState(false);
  const mode: AuthMode = search.get("mode") === "sign-up" ? "signUp" : "signIn";
  const wanted = search.get("return");
  const destination = ownPath(wanted) ?? (token === null ? paths.home : paths.pricing);

  useEffect(() => {
    if (token === null) return;
    history.replaceState(history.state, "", wanted === null ? paths.auth : `${paths.auth}?return=${encodeURIComponent(wanted)}`);
  }, [token, wanted]);

  const leave = useCallback(() => navigate(destination, { replace: true }), [destination, navigate]);
  const onConfirmed = useCallback(() => setConfirmed(true), []);
  useEffect(() => {
    if (status === "signed_out") setOpenedBy((known) => known ?? null);
    const isNew = openedBy !== undefined && user?.id !== openedBy;
    if (user && (token === null || confirmed || isNew)) leave();
  }, [token, status, user, openedBy, confirmed, leave]);

  const other = new URLSearchParams(wanted === null ? {} : { return: wanted });
  if (mode === "signIn") other.set("mode", "sign-up");
  const otherHref = other.size > 0 ? `${paths.auth}?${other}` : paths.auth;

  return (
    <Page title={t(`${mode}.title`)} width="bare" className={styles.page ?? ""}>
      <div className={styles.panel}>
        {waitingForMail ? (
          <CheckEmail email={email.trim()} sandboxUrl={sandboxUrl} onBack={() => setWaitingForMail(false)} />
        ) : token !== null ? (
          openedBy === undefined ? (
            user && <ReplaceSession email={user.email} onStay={leave} onUse={() => setOpenedBy(user.id)} />
          ) : (
            <ConfirmAddress
              token={token}
              email={email}
              onEmail={setEmail}
              onResent={() => setWaitingForMail(true)}
              onConfirmed={onConfirmed}
            />
          )
        ) : (
          <CredentialsForm
            key={mode}
            mode={mode}
            email={email}
            onEmail={setEmail}
            otherHref={otherHref}
            onUnconfirmed={() => setWaitingForMail(true)}
          />
        )}
      </div>
      <AuthPicture />
    </Page>
  );
}
