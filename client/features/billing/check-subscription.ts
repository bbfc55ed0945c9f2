import { ApiProblem, apiResponse, NetworkProblem } from "#client/lib/api.ts";
import type { CachedCheck } from "#client/offline/subscription-cache.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { minuteMs } from "#domain/clock.ts";
import { checkReasons } from "#domain/subscription.ts";

/** Spec §8: for how long a cached check is used, and the reason shown without one. */
const functionError = { cacheMs: 5 * minuteMs, reason: checkReasons.unavailable };
const emptyAnswer = { cacheMs: 5 * minuteMs, reason: checkReasons.empty };
const thrownError = { cacheMs: 10 * minuteMs, reason: checkReasons.unverified };

export type CheckFailure = typeof functionError | typeof emptyAnswer | typeof thrownError;

export type CheckOutcome = { check: SubscriptionCheck } | { failure: CheckFailure };

/** Asks the server and ignores every cache (spec §7). Never throws: a failure is a result that the product can handle. */
export async function askForSubscription(): Promise<CheckOutcome> {
  try {
    const response = await apiResponse("POST /api/functions/reliable-subscription-check", {
      headers: { "cache-control": "no-cache", pragma: "no-cache", "x-request-timestamp": String(Date.now()) },
    });
    const text = await response.text();
    const check = (text.trim() === "" ? null : JSON.parse(text)) as Partial<SubscriptionCheck> | null;
    return typeof check?.subscribed === "boolean" ? { check: check as SubscriptionCheck } : { failure: emptyAnswer };
  } catch (error) {
    return { failure: error instanceof ApiProblem && !(error instanceof NetworkProblem) ? functionError : thrownError };
  }
}

/** The check to use after a failure: the cached one if it is recent enough, otherwise "not subscribed" with the reason. */
export function afterFailure(failure: CheckFailure, cached: CachedCheck | undefined, nowMs: number): SubscriptionCheck {
  const ageMs = cached ? nowMs - cached.checkedAtMs : Number.POSITIVE_INFINITY;
  if (cached && ageMs >= 0 && ageMs < failure.cacheMs) return cached.check;
  return {
    subscribed: false,
    subscription_tier: "none",
    plan_name: "No Plan",
    credits: 0,
    subscription_end: null,
    reason: failure.reason,
    status: "none",
    billing_interval: null,
    next_credits_at: null,
    cancel_at_period_end: false,
    plan_to_come: null,
    can_start_trial: false,
    trial_end: null,
    answered: cached?.check.answered ?? false,
    server_time: new Date(nowMs).toISOString(),
  };
}
