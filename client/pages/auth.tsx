import i18next from "i18next";
import type { ReactNode } from "react";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useSearchParams } from "wouter";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import styles from "#client/features/auth/auth.module.css";
import { AuthPicture } from "#client/features/auth/auth-picture.tsx";
import type { AwaitedMail } from "#client/features/auth/check-email.tsx";
import type { AuthMode } from "#client/features/auth/credentials-form.tsx";
import { CredentialsForm } from "#client/features/auth/credentials-form.tsx";
import type { GoogleState, OwnWay } from "#client/features/auth/google-state.ts";
import { readGoogleState } from "#client/features/auth/google-state.ts";
import type { MailedToken } from "#client/features/auth/mailed-token.ts";
import { readMailedToken } from "#client/features/auth/mailed-token.ts";
import { useNextStep, waitForStep } from "#client/features/auth/next-step-store.ts";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { useEnvironment } from "#client/features/environment/environment-store.ts";
import { ownPath } from "#client/lib/own-path.ts";
import { untilLate } from "#client/lib/until-idle.ts";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth/sign-in.ts";

/** What comes after the form, or instead of it. Fetched once the form is there, so that nobody waits for it. */
const steps = {
  checkEmail: () => import("#client/features/auth/check-email.tsx"),
  recover: () => import("#client/features/auth/recover-form.tsx"),
  others: () => import("#client/features/auth/steps.tsx"),
};
const CheckEmail = lazy(async () => ({ default: (await steps.checkEmail()).CheckEmail }));
const RecoverForm = lazy(async () => ({ default: (await steps.recover()).RecoverForm }));
const MailedStep = lazy(async () => ({ default: (await steps.others()).MailedStep }));
const NextStep = lazy(async () => ({ default: (await steps.others()).NextStep }));
/** Only for those who come back from Google, so it is not fetched ahead. */
const googleReturn = () => import("#client/features/auth/google-return.tsx");
const GoogleFinish = lazy(async () => ({ default: (await googleReturn()).GoogleFinish }));
const GoogleNotice = lazy(async () => ({ default: (await googleReturn()).GoogleNotice }));
const LinkGoogle = lazy(async () => ({ default: (await googleReturn()).LinkGoogle }));

async function fetchSteps(): Promise<void> {
  await untilLate();
  // A failure is ignored here, because showing a step fetches it again.
  await Promise.allSettled([...Object.values(steps).map((step) => step()), i18next.loadNamespaces("steps")]);
}

/** Around the steps alone: React would hydrate a form in here later than the rest of the page, and forget what was typed before. */
function Step({ children }: { children: ReactNode }) {
  return <Suspense fallback={<PageSpinner />}>{children}</Suspense>;
}

/** The form that `mode` in the address asks for; without it, the sign-in form. */
const modes: Readonly<Record<string, AuthMode | "recover">> = { "sign-up": "signUp", recover: "recover" };

/** Where a person goes after signing in if no page was requested: a subscriber to the chat. Null until we know whether they subscribe. */
function useOwnHome(): string | null {
  const check = useSubscription((state) => state.check);
  return check && (check.subscribed ? paths.aiModels : paths.home);
}

/** What keeps somebody on the page although they are signed in. */
interface Staying {
  /** A mailed link that is not `done`. */
  mailed: MailedToken | null;
  done: boolean;
  /** The question whether to link Google. */
  linking: boolean;
}

/**
 * Leaves the page once somebody is signed in: here, by a mailed link that is `done`, or in another tab. Returns the id of the person
 * signed in when the page was opened, or null; undefined until the session has been read.
 */
function useLeaving(destination: string | null, { mailed, done, linking }: Staying): string | null | undefined {
  const [, navigate] = useLocation();
  const { status, user } = useSession();
  const [openedBy, setOpenedBy] = useState<string | null>();
  useEffect(() => {
    if (status !== "loading") setOpenedBy((known) => (known === undefined ? (user?.id ?? null) : known));
    const isNew = openedBy !== undefined && user?.id !== openedBy;
    const mayLeave = user !== null && !linking && (mailed === null || done || isNew);
    if (mayLeave && destination !== null) navigate(destination, { replace: true });
  }, [mailed, status, user, openedBy, done, linking, destination, navigate]);
  return openedBy;
}

interface FormsProps {
  mode: AuthMode | "recover";
  email: string;
  onEmail: (email: string) => void;
  /** The page to return to, which each form's address keeps. */
  wanted: string | null;
  /** What led here, said above the fields. */
  notice: ReactNode;
  /** Called when the person has to wait for a mail. */
  onMail: (mail: AwaitedMail) => void;
}

function Forms({ mode, email, onEmail, wanted, notice, onMail }: FormsProps) {
  const hrefOf = (to?: "sign-up" | "recover") => {
    const query = new URLSearchParams({ ...(wanted === null ? {} : { return: wanted }), ...(to && { mode: to }) });
    return query.size > 0 ? `${paths.auth}?${query}` : paths.auth;
  };
  if (mode === "recover")
    return (
      <Step>
        <RecoverForm email={email} onEmail={onEmail} signInHref={hrefOf()} onSent={() => onMail({ kind: "recover", justSent: true })} />
      </Step>
    );
  return (
    <CredentialsForm
      key={mode}
      mode={mode}
      email={email}
      onEmail={onEmail}
      otherHref={hrefOf(mode === "signIn" ? "sign-up" : undefined)}
      recoverHref={hrefOf("recover")}
      returnTo={ownPath(wanted)}
      notice={notice}
      onUnconfirmed={({ justSent }) => onMail({ kind: "confirm", justSent })}
    />
  );
}

/** Whether to ask somebody who has just signed in whether to link Google: only if theirs is the address that Google named. */
function isLinkOffered(google: GoogleState | null, user: User | null): google is OwnWay {
  return google?.step === "own-way" && google.email === user?.email;
}

interface ByGoogleProps {
  google: GoogleState | null;
  onGoogle: (state: GoogleState | null) => void;
  user: User | null;
  forms: (notice: ReactNode) => ReactNode;
}

/** The next step of a sign-in with Google, or else the forms, with a notice of how it ended. */
function ByGoogle({ google, onGoogle, user, forms }: ByGoogleProps) {
  const offered = useEnvironment((environment) => environment.google);
  useEffect(() => {
    // The server wrote it into the document, but the document may be an older one of the service worker.
    if (offered !== undefined) document.documentElement.toggleAttribute("data-google", offered);
  }, [offered]);
  if (isLinkOffered(google, user))
    return (
      <Step>
        <LinkGoogle email={google.email} onDone={() => onGoogle(null)} />
      </Step>
    );
  if (user) return <PageSpinner />;
  if (google?.step === "finish")
    return (
      <Step>
        <GoogleFinish onOtherwise={onGoogle} />
      </Step>
    );
  return forms(
    google && (
      <Suspense fallback={null}>
        <GoogleNotice state={google} />
      </Suspense>
    ),
  );
}

export function AuthPage() {
  const { t } = useTranslation("auth");
  const [search] = useSearchParams();
  const [email, setEmail] = useState("");
  const [waitingForMail, setWaitingForMail] = useState<AwaitedMail>();
  // Kept in state, because the token must not stay in the address bar.
  const [mailed, setMailed] = useState(() => readMailedToken(search));
  const sandboxUrl = useEnvironment((state) => state.sandboxUrl);
  const user = useSession((state) => state.user);
  const [done, setDone] = useState(false);
  const nextStep = useNextStep();
  const mode = modes[search.get("mode") ?? ""] ?? "signIn";
  const wanted = search.get("return");
  const home = useOwnHome();
  const [google, setGoogle] = useState(() => readGoogleState(search));
  const linking = isLinkOffered(google, user);
  const openedBy = useLeaving(ownPath(wanted) ?? (mailed?.purpose === "confirm" ? paths.pricing : home), { mailed, done, linking });

  useEffect(() => {
    if (mailed === null && google === null) return;
    history.replaceState(history.state, "", wanted === null ? paths.auth : `${paths.auth}?return=${encodeURIComponent(wanted)}`);
  }, [mailed, google, wanted]);

  const onDone = useCallback(() => setDone(true), []);
  const onInstead = useCallback(() => setMailed(null), []);
  const onGoogle = useCallback((state: GoogleState | null) => {
    setGoogle(state);
    if (state?.step === "own-way") setEmail(state.email);
  }, []);
  const onBack = useCallback(() => {
    waitForStep(undefined);
    setMailed(null);
    setGoogle((state) => (state?.step === "finish" ? null : state));
  }, []);
  useEffect(() => void fetchSteps(), []);
  // Whoever left the page in the middle of a sign-in has given it up.
  useEffect(() => waitForStep(undefined), []);
  const forms = (notice: ReactNode) => (
    <Forms mode={mode} email={email} onEmail={setEmail} wanted={wanted} notice={notice} onMail={setWaitingForMail} />
  );
  const link = { signedInAs: user?.email ?? null, onEmail: setEmail, onDone, onInstead, onNext: setMailed, signInForm: forms };

  return (
    <Page title={t(`${mode}.title`)} width="bare" className={styles.page ?? ""}>
      <div className={styles.panel}>
        {nextStep ? (
          <Step>
            <NextStep step={nextStep} mailed={mailed} onBack={onBack} onDone={onDone} onCode={onInstead} />
          </Step>
        ) : waitingForMail ? (
          <Step>
            <CheckEmail email={email.trim()} {...waitingForMail} sandboxUrl={sandboxUrl} onBack={() => setWaitingForMail(undefined)} />
          </Step>
        ) : mailed && !done ? (
          openedBy !== undefined && (
            <Step>
              <MailedStep mailed={mailed} {...link} />
            </Step>
          )
        ) : (
          <ByGoogle google={google} onGoogle={onGoogle} user={user} forms={forms} />
        )}
      </div>
      <AuthPicture />
    </Page>
  );
}
