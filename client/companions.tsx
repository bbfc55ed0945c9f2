import type { ComponentType } from "react";
import { Suspense, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useSession } from "./features/auth/session-store.ts";
import { useSubscription } from "./features/billing/subscription-store.ts";
import { useConsentShown } from "./features/consent/use-consent-shown.ts";
import { openFeedback, recallDismissal, showFeedbackCard, useFeedback } from "./features/feedback/feedback-store.ts";
import { startForgetting } from "./offline/forget-person.ts";
import { startFormQueue } from "./offline/form-sender.ts";
import { paths } from "./paths.ts";

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

/**
 * Whether the feedback card may be shown: never in the chat, where it would cover the composer, and to signed-in people only
 * after their first answer, because before that they have little to say.
 */
function useCardWelcome(): boolean {
  const [location] = useLocation();
  const { status } = useSession();
  const answered = useSubscription((state) => state.check?.answered === true);
  return location !== paths.aiModels && (status === "signed_out" || (status === "signed_in" && answered));
}

/** What accompanies every page and none of them needs: fetched after the page, never part of the HTML built ahead. */
export function Companions() {
  const { status, user } = useSession();
  const Banner = useFetched(useConsentShown(status), loadBanner);
  const welcome = useCardWelcome();
  const { step, asked } = useFeedback();
  const Feedback = useFetched(asked || (welcome && step === "shown"), loadFeedback);
  useFeedbackTimer();
  useFormQueue();
  useEffect(() => startForgetting(), []);
  return (
    <Suspense fallback={null}>
      {Feedback && <Feedback card={welcome} owner={status === "loading" ? undefined : (user?.id ?? null)} email={user?.email} />}
      {Banner && <Banner />}
    </Suspense>
  );
}
