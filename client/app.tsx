import type { ReactNode } from "react";
import { Suspense, useEffect, useLayoutEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { Late } from "./components/late.tsx";
import { PageSpinner } from "./components/spinner.tsx";
import { ToastRegion } from "./components/toast-region.tsx";
import { useEnvironment } from "./features/environment/environment-store.ts";
import { BannerPlace } from "./features/frame/banner-place.tsx";
import { Frame } from "./features/frame/frame.tsx";
import { PageBoundary } from "./features/frame/page-boundary.tsx";
import { LanguageSwitch } from "./features/language/language-switch.tsx";
import { endSleep, Sleeping } from "./lib/sleep.ts";
import { untilLate } from "./lib/until-idle.ts";
import { useSession } from "./lib/use-session.ts";
import { prefetchPage, Routes } from "./routes.tsx";

const reopenConsent = () => void import("./features/consent/consent-store.ts").then(({ reopenConsent }) => reopenConsent());
const loadLate = async () => {
  await untilLate();
  return (await import("./late-parts.tsx")).lateParts;
};
const loadInstall = async () => (await loadLate()).InstallButton;
const loadCompanions = async () => (await loadLate()).Companions;
const loadNotices = async () => (await loadLate()).Notices;

/** The page at the current address. */
function Content({ onFirstPage }: { onFirstPage: (() => void) | undefined }) {
  const [location] = useLocation();
  const [first] = useState(location);
  const [left, setLeft] = useState(false);
  if (!left && location !== first) setLeft(true);
  useLayoutEffect(() => {
    if (left) endSleep();
  }, [left]);
  // Another key, so that content that still sleeps makes way for the next page instead of being hydrated first.
  return (
    <PageBoundary key={left ? "next" : "first"} onBroken={onFirstPage}>
      <Suspense fallback={<PageSpinner />}>
        <Sleeping over={left}>
          <Routes onFirstPage={onFirstPage} />
        </Sleeping>
      </Suspense>
    </PageBoundary>
  );
}

interface AppProps {
  /** The trial's banner for visitors, while prerendering. */
  banner?: ReactNode;
  /** Called once the frame is rendered or hydrated. The first page may still be sleeping or loading. */
  onFrame?: () => void;
  /** Called once the first page is rendered or hydrated, or the page that says that it is broken. */
  onFirstPage?: () => void;
}

/** Composes features that may not import each other: the frame shows the session, and every page is drawn inside the frame. */
export function App({ banner, onFrame, onFirstPage }: AppProps) {
  const { status, user } = useSession();
  const sandboxUrl = useEnvironment((state) => state.sandboxUrl);
  useEffect(() => void useEnvironment.getState().load(), []);
  useLayoutEffect(() => onFrame?.(), [onFrame]);
  // Always the same elements: an update from here would make React discard content that is not hydrated yet.
  const content = useMemo(() => <Content onFirstPage={onFirstPage} />, [onFirstPage]);
  const top = useMemo(() => <BannerPlace>{banner}</BannerPlace>, [banner]);
  return (
    <>
      <Frame
        banner={top}
        notice={<Late load={loadNotices} />}
        sessionStatus={status}
        user={user}
        sandboxUrl={sandboxUrl}
        onCookiePreferences={reopenConsent}
        install={<Late load={loadInstall} />}
        languageSwitch={{ bar: <LanguageSwitch compact />, menu: <LanguageSwitch /> }}
      >
        {content}
      </Frame>
      <Late load={loadCompanions} prefetch={prefetchPage} />
      <ToastRegion />
    </>
  );
}
