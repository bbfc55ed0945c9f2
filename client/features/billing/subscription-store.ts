import { create } from "zustand";
import type { CachedCheck } from "#client/offline/subscription-cache.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";

interface SubscriptionState {
  /**
   * `idle` when signed out, `checking` before the first answer, `refreshing` when the person asked again, `failed` when
   * the last check did not get through: `check` is then what spec §8 falls back to.
   */
  status: "idle" | "checking" | "refreshing" | "ready" | "failed";
  check: SubscriptionCheck | null;
  /** The last check that the server returned, however old. It is shown with its age and never used for decisions. */
  lastKnown: CachedCheck | null;
  /** Asks the server again and shows that it does. */
  refresh: () => Promise<void>;
}

/** The state of signed-out people, and of everybody until subscription-checks.ts is loaded. */
export const noSubscription = { status: "idle", check: null, lastKnown: null } as const;

export const useSubscription = create<SubscriptionState>(() => ({ ...noSubscription, refresh: async () => undefined }));

/**
 * Updates the available credits from a receipt or the wallet, which are newer than the last check, so that every page shows the
 * same number.
 */
export function noteAvailableCredits(credits: number): void {
  useSubscription.setState(({ check: known }) => (known ? { check: { ...known, credits } } : {}));
}
