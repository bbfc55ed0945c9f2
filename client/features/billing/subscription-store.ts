import { create } from "zustand";
import type { CachedCheck } from "#client/offline/subscription-cache.ts";
import type { SubscriptionCheck } from "#contract/billing.ts";

interface SubscriptionState {
  /**
   * `idle` when signed out, `checking` before the first answer, `refreshing` when the person asked again, `failed` when
   * the last check did not get through: `check` is then what spec §8 falls back to.
   */
  status: "idle" | "checking" | "refreshing" | "ready" | "failed";
  check: SubscriptionCheck | null;
  /** The last state the server told, however old: shown with its age, never used to decide anything. */
  lastKnown: CachedCheck | null;
  /** Asks the server again, visibly. */
  refresh: () => Promise<void>;
}

/** Of whoever is signed out, and of everybody until subscription-checks.ts has been fetched. */
export const noSubscription = { status: "idle", check: null, lastKnown: null } as const;

export const useSubscription = create<SubscriptionState>(() => ({ ...noSubscription, refresh: async () => undefined }));

/** A receipt or the wallet says what can be spent before the next check does: one figure on every page. */
export function noteAvailableCredits(credits: number): void {
  useSubscription.setState(({ check: known }) => (known ? { check: { ...known, credits } } : {}));
}
