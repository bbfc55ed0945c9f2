import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { afterFailure, askForSubscription } from "#client/features/billing/check-subscription.ts";
import { provideBearers } from "#client/lib/api.ts";
import type { CachedCheck } from "#client/offline/subscription-cache.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { minuteMs } from "#domain/clock.ts";
import { origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const address = `${origin}/api/functions/reliable-subscription-check`;
const nowMs = Date.parse("2026-11-20T12:00:00Z");
const active: SubscriptionCheck = {
  subscribed: true,
  subscription_tier: "starter",
  plan_name: "Starter Plan",
  credits: 299,
  subscription_end: "2026-12-20T12:00:00.000Z",
  reason: null,
  status: "active",
  billing_interval: "month",
  next_credits_at: "2026-02-01T00:00:00.000Z",
  cancel_at_period_end: false,
  plan_to_come: null,
  can_start_trial: false,
  trial_end: null,
  answered: false,
  server_time: "2026-11-20T11:58:00.000Z",
};

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function failure() {
  const outcome = await askForSubscription();
  if (!("failure" in outcome)) throw new Error("the check was expected to fail");
  return outcome.failure;
}

function cachedFor(minutes: number): CachedCheck {
  return { check: active, checkedAtMs: nowMs - minutes * minuteMs };
}

describe("subscription check (specification §7, §8)", () => {
  it("bypasses every cache, with a timestamp", async () => {
    let headers: Headers | undefined;
    server.use(
      http.post(address, ({ request }) => {
        headers = request.headers;
        return HttpResponse.json(active);
      }),
    );
    expect(await askForSubscription()).toEqual({ check: active });
    expect(headers?.get("cache-control")).toContain("no-cache");
    expect(Number(headers?.get("x-request-timestamp"))).toBeGreaterThan(0);
  });

  it("that is refused uses the stored result for 5 minutes, then reports temporary unavailability", async () => {
    server.use(http.post(address, () => HttpResponse.json({ code: "service_unavailable" }, { status: 503 })));
    const found = await failure();
    expect(afterFailure(found, cachedFor(4.9), nowMs)).toBe(active);
    for (const cached of [cachedFor(5), undefined]) {
      expect(afterFailure(found, cached, nowMs)).toMatchObject({
        subscribed: false,
        subscription_tier: "none",
        credits: 0,
        reason: "Subscription verification temporarily unavailable - please refresh",
      });
    }
  });

  it("with an empty response reports no data", async () => {
    for (const body of ["", "null", "{}"]) {
      server.use(http.post(address, () => new HttpResponse(body)));
      expect(afterFailure(await failure(), undefined, nowMs).reason).toBe("No subscription data available");
    }
  });

  it("that can't reach the server uses the stored result for 10 minutes, then reports that it could not verify", async () => {
    server.use(http.post(address, () => HttpResponse.error()));
    const found = await failure();
    expect(afterFailure(found, cachedFor(9.9), nowMs)).toBe(active);
    expect(afterFailure(found, cachedFor(10), nowMs)).toMatchObject({
      subscribed: false,
      credits: 0,
      reason: "Unable to verify subscription - please try refreshing the page",
    });
  });

  it("does not treat a stored result from the future as fresh", async () => {
    server.use(http.post(address, () => HttpResponse.error()));
    expect(afterFailure(await failure(), cachedFor(-60), nowMs).subscribed).toBe(false);
  });
});
