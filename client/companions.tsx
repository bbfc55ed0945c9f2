import type { ComponentType } from "react";
import { Suspense, useEffect, useState } from "react";
import { useSession } from "./features/auth/session-store.ts";
import { useConsentShown } from "./features/consent/use-consent-shown.ts";
import { openFeedback, recallDismissal, showFeedbackCard, useFeedback } from "./features/feedback/feedback-store.ts";
import { startForgetting } from "./offline/forget-person.ts";
import { startFormQueue } from "./offline/form-sender.ts";

/** Spec §4: after load. */
const feedbackDelayMs = 10_000;

/** A component fetched once `wanted`. Where that fails the page goes on without it. */
function useFetched<Props>(wanted: boolean, load: () => Promise<ComponentType<Props>>): ComponentType<Props> | null {
  const [Fetched, setFetched] = useState<ComponentType<Props> | null>(null);
  useEffect(() => {
    if (!wanted || Fetched) return;
    let current = true;
    load().then(
      (component) => current && setFetched(() => component),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [wanted, Fetched, load]);
  return wanted ? Fetched : null;
}

const loadBanner = async () => (await import("./features/consent/consent-banner.tsx")).ConsentBanner;
const loadFeedback = async () => (await import("./features/feedback/feedback.tsx")).Feedback;

function sinceLoadMs(): number {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return performance.now() - (navigation?.loadEventEnd ?? 0);
}

/** Shows the card when its time has come, unless it was dismissed on this device. */
function useFeedbackTimer(): void {
  useEffect(() => {
    void recallDismissal();
    const timer = setTimeout(() => void showFeedbackCard(), Math.max(0, feedbackDelayMs - sinceLoadMs()));
    return () => clearTimeout(timer);
  }, []);
}

/** Sends what waits, and tells of what was sent or refused while its form was out of sight. */
function useFormQueue(): void {
  useEffect(() => {
    const stop = startFormQueue();
    let unlisten: (() => void) | undefined;
    let stopped = false;
    void import("./form-notices.ts").then(
      ({ tellOfForms }) => {
        if (!stopped) unlisten = tellOfForms(openFeedback);
      },
      () => undefined,
    );
    return () => {
      stopped = true;
      unlisten?.();
      stop();
    };
  }, []);
}

/** What accompanies every page and none of them needs: fetched after the page, never part of the HTML built ahead. */
export function Companions() {
  const { status, user } = useSession();
  const Banner = useFetched(useConsentShown(status), loadBanner);
  const Feedback = useFetched(useFeedback().needed, loadFeedback);
  useFeedbackTimer();
  useFormQueue();
  useEffect(() => startForgetting(), []);
  return (
    <Suspense fallback={null}>
      {Feedback && <Feedback owner={status === "loading" ? undefined : (user?.id ?? null)} email={user?.email} />}
      {Banner && <Banner />}
    </Suspense>
  );
}
