import { Suspense, useEffect } from "react";
import { useLocation } from "wouter";
import { useSubscription } from "./features/billing/subscription-store.ts";
import { useConsentShown } from "./features/consent/use-consent-shown.ts";
import { openFeedback, recallDismissal, showFeedbackCard, useFeedback } from "./features/feedback/feedback-store.ts";
import { RouteAnnouncer } from "./features/frame/route-announcer.tsx";
import { SleepingSaveSlot } from "./features/kept/sleeping-save-slot.tsx";
import { SupportButton } from "./features/support-widget/support-button.tsx";
import { watchFormOutcomes } from "./form-notices.ts";
import { usePrefetchOnIntent } from "./lib/prefetch-on-intent.ts";
import { useFetched } from "./lib/use-fetched.ts";
import { useSession } from "./lib/use-session.ts";
import { startForgetting } from "./offline/forget-person.ts";
import { startFormQueue } from "./offline/form-sender.ts";
import { paths } from "./paths.ts";
import { LiveTrialBanner } from "./trial-banner.tsx";

/** Spec §4: counted from the load of the page. */
const feedbackDelayMs = 10_000;

const loadBanner = async () => (await import("./features/consent/consent-banner.tsx")).ConsentBanner;
const loadFeedback = async () => (await import("./features/feedback/feedback.tsx")).Feedback;

function sinceLoadMs(): number {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return performance.now() - (navigation?.loadEventEnd ?? 0);
}

/** Shows the card after the delay, unless it was dismissed on this device. */
function useFeedbackTimer(): void {
  useEffect(() => {
    void recallDismissal();
    const timer = setTimeout(() => void showFeedbackCard(), Math.max(0, feedbackDelayMs - sinceLoadMs()));
    return () => clearTimeout(timer);
  }, []);
}

/** Sends queued forms, and shows a toast for each that was sent or refused while its form was not on the screen. */
function useFormQueue(): void {
  useEffect(() => {
    const stop = startFormQueue();
    const unlisten = watchFormOutcomes(openFeedback);
    return () => {
      unlisten();
      stop();
    };
  }, []);
}

/** In the admin panel the team works: nothing of the product is offered there, and nothing floats above its tables. */
function useIsForCustomers(): boolean {
  const [location] = useLocation();
  return !location.startsWith(paths.admin);
}

/**
 * Whether the feedback card may be shown: never in the chat, where it would cover the composer, nor over the forms for signing in and up,
 * and to signed-in people only after their first answer, because before that they have little to say.
 */
function useCardAllowed(): boolean {
  const [location] = useLocation();
  const { status } = useSession();
  const answered = useSubscription((state) => state.check?.answered === true);
  const hasOwnTask = location === paths.aiModels || location === paths.auth;
  return !hasOwnTask && (status === "signed_out" || (status === "signed_in" && answered));
}

interface CompanionsProps {
  /** Fetches a page ahead. */
  prefetch: (pathname: string) => void;
}

/** Parts that every page shows and none needs. They are fetched after the page, and are not in the prerendered HTML. */
export function Companions({ prefetch }: CompanionsProps) {
  const { status, user } = useSession();
  const Banner = useFetched(useConsentShown(status), loadBanner);
  const isForCustomers = useIsForCustomers();
  const cardAllowed = useCardAllowed() && isForCustomers;
  const { step, asked } = useFeedback();
  const Feedback = useFetched(asked || (cardAllowed && step === "shown"), loadFeedback);
  useFeedbackTimer();
  useFormQueue();
  useEffect(() => startForgetting(), []);
  usePrefetchOnIntent(prefetch);
  return (
    <>
      <RouteAnnouncer />
      <SleepingSaveSlot />
      <LiveTrialBanner />
      {isForCustomers && <SupportButton />}
      <Suspense fallback={null}>
        {Feedback && <Feedback card={cardAllowed} owner={status === "loading" ? undefined : (user?.id ?? null)} email={user?.email} />}
        {Banner && <Banner />}
      </Suspense>
    </>
  );
}
