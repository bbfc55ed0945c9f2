import { useCallback, useEffect, useRef, useState } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { CheckoutReturn } from "#contract/billing/subscription.ts";
import type { SubscriptionTier } from "#domain/subscription.ts";
import { useSubscription } from "./subscription-store.ts";

/** After this time we say that the payment takes longer than usual. */
const slowAfterMs = 8_000;

export type CheckoutReturnView =
  | { step: "waiting" | "processing" }
  | { step: "expired"; packCredits: number | null }
  | { step: "slow"; asking: boolean; again: () => void }
  | { step: "paid"; tier: SubscriptionTier; packCredits: number | null };

type Told = "unknown" | CheckoutReturn["state"];

/**
 * Follows the payment of a person who is back from the payment page until its result is pushed. Returns null if there is
 * nothing to follow. The address contains the checkout session, so a reload and a second tab work too.
 */
export function useCheckoutReturn(sessionId: string | null, userId: string | undefined): CheckoutReturnView | null {
  const [told, setTold] = useState<Told>("unknown");
  const [packCredits, setPackCredits] = useState<number | null>(null);
  const [slow, setSlow] = useState(false);
  const [asking, setAsking] = useState(false);
  const latest = useRef<string | null>(null);
  const check = useSubscription((state) => state.check);
  const followed = userId === undefined ? null : sessionId;

  const ask = useCallback(async () => {
    if (followed === null) return;
    setAsking(true);
    latest.current = followed;
    const answer = await api("POST /api/billing/checkout-return", { body: { sessionId: followed } }).then(
      ({ state, packCredits: bought }) => {
        setPackCredits(bought);
        return state;
      },
      // A 404 means that the session is unknown or another person's, so there is nothing to wait for. Any other failure is retried.
      (error: unknown): Told => (error instanceof ApiProblem && error.status === 404 ? "over" : "unknown"),
    );
    if (latest.current !== followed) return;
    setAsking(false);
    setTold(answer);
    const known = useSubscription.getState();
    if (answer === "paid" && (known.check?.subscription_tier ?? "none") === "none") void known.refresh();
    if (answer === "unknown") setSlow(true);
  }, [followed]);

  useEffect(() => {
    setTold("unknown");
    setSlow(false);
    if (followed === null) return;
    void ask();
    const timer = setTimeout(() => setSlow(true), slowAfterMs);
    return () => {
      clearTimeout(timer);
      latest.current = null;
    };
  }, [followed, ask]);

  // A pack's buyer has a plan, so only the answer says whether the pack is paid. The check comes anew with each push.
  const awaitsPack = packCredits !== null && (told === "waiting" || told === "processing");
  useEffect(() => {
    if (awaitsPack && check) void ask();
  }, [awaitsPack, check, ask]);

  if (followed === null || told === "over") return null;
  if (told === "expired") return { step: "expired", packCredits };
  // On the free trial a person is subscribed, but without a plan.
  const hasPlan = check?.subscribed && check.subscription_tier !== "none";
  if (hasPlan && !awaitsPack && (told !== "unknown" || slow)) return { step: "paid", tier: check.subscription_tier, packCredits };
  if (told === "processing") return { step: "processing" };
  return slow ? { step: "slow", asking, again: () => void ask() } : { step: "waiting" };
}
