import i18next from "i18next";
import { useEffect, useState } from "react";
import { createPortal, flushSync } from "react-dom";
import { useLocation } from "wouter";
import { StartTrial } from "./features/billing/start-trial.tsx";
import { useSubscription } from "./features/billing/subscription-store.ts";
import { hideTrialBanner, TrialBanner, VisitorTrialBanner } from "./features/marketing/trial-banner.tsx";
import { trialStateOf } from "./lib/trial-state.ts";
import { useSession } from "./lib/use-session.ts";
import { paths } from "./paths.ts";

/** The pages that offer the trial in their content to those who can start it. The admin panel offers nothing. */
const offering: readonly string[] = [paths.profile, paths.aiModels, paths.pricing];

const start = (className: string) => <StartTrial size="small" className={className} />;

/** Visitors are led to sign up, and people who are signed in start the trial here. */
function OwnBanner() {
  const [location] = useLocation();
  const { user } = useSession();
  const check = useSubscription((state) => state.check);
  if (!user) return <VisitorTrialBanner />;
  if (!check || trialStateOf(check) !== "offered" || offering.includes(location) || location.startsWith(paths.admin)) return null;
  return <TrialBanner action={start} />;
}

/**
 * The trial's banner (spec §2), in the place that the frame has for it. It replaces the banner that was prerendered for visitors once the
 * texts are loaded, in one step, so that nothing moves.
 */
export function LiveTrialBanner() {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => {
    const found = document.getElementById("banner");
    if (!found) return;
    // If the texts can't be fetched, the prerendered banner stays, and its links work.
    void i18next.loadNamespaces("trial").then(() => {
      if (found.querySelector("[data-tapped]")) hideTrialBanner();
      // The prerendered banner is hidden and not removed, because React keeps a reference to it.
      for (const drawn of found.querySelectorAll("section")) drawn.hidden = true;
      delete found.dataset.asleep;
      flushSync(() => setPlace(found));
    });
  }, []);
  return place && createPortal(<OwnBanner />, place);
}
