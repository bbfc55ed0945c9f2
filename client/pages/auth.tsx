import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useSearchParams } from "wouter";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import styles from "#client/features/auth/auth.module.css";
import { AuthPicture } from "#client/features/auth/auth-picture.tsx";
import { CheckEmail } from "#client/features/auth/check-email.tsx";
import type { AuthMode } from "#client/features/auth/credentials-form.tsx";
import { CredentialsForm } from "#client/features/auth/credentials-form.tsx";
import { MailedLink } from "#client/features/auth/mailed-link.tsx";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { useEnvironment } from "#client/features/environment/environment-store.ts";
import { ownPath } from "#client/lib/own-path.ts";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";

/** Where a person goes after signing in if no page was requested: a subscriber to the chat. Null until we know whether they subscribe. */
function useOwnHome(): string | null {
  const check = useSubscription((state) => state.check);
  return check && (check.subscribed ? paths.aiModels : paths.home);
}

export function AuthPage() {
  const { t } = useTranslation("auth");
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const [email, setEmail] = useState("");
  const [waitingForMail, setWaitingForMail] = useState<{ justSent: boolean }>();
  // Kept in state, because the token signs in and must not stay in the address bar.
  const [token, setToken] = useState(() => search.get("confirm"));
  const sandboxUrl = useEnvironment((state) => state.sandboxUrl);
  const { status, user } = useSession();
  /** The person signed in when the mailed link was opened, or null; undefined until the session has been read. */
  const [openedBy, setOpenedBy] = useState<string | null>();
  const [done, setDone] = useState(false);
  const mode: AuthMode = search.get("mode") === "sign-up" ? "signUp" : "signIn";
  const wanted = search.get("return");
  const home = useOwnHome();
  const destination = ownPath(wanted) ?? (token === null ? home : paths.pricing);

  useEffect(() => {
    if (token === null) return;
    history.replaceState(history.state, "", wanted === null ? paths.auth : `${paths.auth}?return=${encodeURIComponent(wanted)}`);
  }, [token, wanted]);

  const leave = useCallback(() => destination !== null && navigate(destination, { replace: true }), [destination, navigate]);
  const onDone = useCallback(() => setDone(true), []);
  useEffect(() => {
    if (status !== "loading") setOpenedBy((known) => (known === undefined ? (user?.id ?? null) : known));
    // If somebody signs in while this page is open, here or in another tab, it sends them on.
    const isNew = openedBy !== undefined && user?.id !== openedBy;
    if (user && (token === null || done || isNew)) leave();
  }, [token, status, user, openedBy, done, leave]);

  const other = new URLSearchParams(wanted === null ? {} : { return: wanted });
  if (mode === "signIn") other.set("mode", "sign-up");
  const otherHref = other.size > 0 ? `${paths.auth}?${other}` : paths.auth;

  return (
    <Page title={t(`${mode}.title`)} width="bare" className={styles.page ?? ""}>
      <div className={styles.panel}>
        {waitingForMail ? (
          <CheckEmail email={email.trim()} {...waitingForMail} sandboxUrl={sandboxUrl} onBack={() => setWaitingForMail(undefined)} />
        ) : token !== null ? (
          openedBy !== undefined && (
            <MailedLink
              token={token}
              signedInAs={user?.email ?? null}
              onEmail={setEmail}
              onDone={onDone}
              onInstead={() => setToken(null)}
            />
          )
        ) : user ? (
          <PageSpinner />
        ) : (
          <CredentialsForm
            key={mode}
            mode={mode}
            email={email}
            onEmail={setEmail}
            otherHref={otherHref}
            onUnconfirmed={setWaitingForMail}
          />
        )}
      </div>
      <AuthPicture />
    </Page>
  );
}
