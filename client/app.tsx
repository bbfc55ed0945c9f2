import { Suspense, useEffect } from "react";
import { trialOffered } from "#domain/plans.ts";
import { Late } from "./components/late.tsx";
import { PageSpinner } from "./components/spinner.tsx";
import { ToastRegion } from "./components/toast-region.tsx";
import { useEnvironment } from "./features/environment/environment-store.ts";
import { Frame } from "./features/frame/frame.tsx";
import { PageBoundary } from "./features/frame/page-boundary.tsx";
import { LanguageSwitch } from "./features/language/language-switch.tsx";
import { TrialBanner } from "./features/marketing/trial-banner.tsx";
import { useSession } from "./lib/use-session.ts";
import { prefetchPage, Routes } from "./routes.tsx";

const reopenConsent = () => void import("./features/consent/consent-store.ts").then(({ reopenConsent }) => reopenConsent());
const loadInstall = async () => (await import("./features/install/install-button.tsx")).InstallButton;
const loadPrefetching = async () => (await import("./lib/prefetch-on-intent.ts")).PrefetchOnIntent;
const loadCompanions = async () => (await import("./companions.tsx")).Companions;
const loadSupport = async () => (await import("./features/support-widget/support-button.tsx")).SupportButton;

/** Composes features that may not import each other: the frame shows the session, and every page is drawn inside the frame. */
export function App({ onFirstPage }: { onFirstPage?: () => void }) {
  const { status, user } = useSession();
  const { sandboxUrl, load } = useEnvironment();
  useEffect(() => void load(), [load]);
  return (
    <>
      <Frame
        sessionStatus={status}
        user={user}
        sandboxUrl={sandboxUrl}
        onCookiePreferences={reopenConsent}
        banner={trialOffered && status !== "signed_in" && <TrialBanner sessionKnown={status === "signed_out"} />}
        install={<Late load={loadInstall} />}
        languageSwitch={{ bar: <LanguageSwitch compact />, menu: <LanguageSwitch /> }}
      >
        <PageBoundary>
          <Suspense fallback={<PageSpinner />}>
            <Routes onFirstPage={onFirstPage} />
          </Suspense>
        </PageBoundary>
      </Frame>
      <Late load={loadSupport} />
      <Late load={loadPrefetching} prefetch={prefetchPage} />
      <Late load={loadCompanions} />
      <ToastRegion />
    </>
  );
}
