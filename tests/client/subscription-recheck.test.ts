/** When the subscription is checked again (specification §4). */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSubscription } from "#client/features/billing/subscription-checks.ts";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { provideBearers } from "#client/lib/api.ts";
import { tellListeners } from "#client/lib/realtime.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { origin, stubPage } from "./page-stubs.ts";

const user = { id: "0198c0de-0000-7000-8000-000000000001", email: "ada@example.com", user_metadata: { avatar_url: null } };
const server = setupServer();
let askedAtMs: number[] = [];
let stop: () => void = () => undefined;

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
  askedAtMs = [];
  server.use(
    http.post(`${origin}/api/functions/reliable-subscription-check`, () => {
      askedAtMs.push(performance.now());
      return HttpResponse.json({ subscribed: true, subscription_tier: "starter", credits: askedAtMs.length, subscription_end: null });
    }),
  );
  stop = startSubscription();
});
afterEach(() => {
  stop();
  sessionStore.setState({ status: "signed_out", user: null });
  server.resetHandlers();
});
afterAll(() => server.close());

const answered = (credits: number) => expect.poll(() => useSubscription.getState().check?.credits).toBe(credits);

describe("the subscription is checked again (specification §4)", () => {
  it("on sign-in, and removed on sign-out", async () => {
    expect(useSubscription.getState()).toMatchObject({ status: "idle", check: null });
    sessionStore.setState({ status: "signed_in", user });
    await answered(1);
    sessionStore.setState({ status: "signed_out", user: null });
    expect(useSubscription.getState()).toMatchObject({ status: "idle", check: null });
    expect(askedAtMs).toHaveLength(1);
  });

  it("once, 500 ms after the last of several pushed changes", async () => {
    sessionStore.setState({ status: "signed_in", user });
    await answered(1);
    tellListeners({ type: "change", table: "user_subscriptions" });
    const pushedAtMs = performance.now();
    tellListeners({ type: "change", table: "user_subscriptions" });
    await answered(2);
    const delayMs = (askedAtMs[1] ?? 0) - pushedAtMs;
    // Timers have a resolution of one millisecond.
    expect(delayMs).toBeGreaterThanOrEqual(499);
    expect(askedAtMs).toHaveLength(2);
  });

  it("when live updates start, because a change may have come after the first check", async () => {
    sessionStore.setState({ status: "signed_in", user });
    await answered(1);
    tellListeners({ type: "listening" });
    await answered(2);
    expect(askedAtMs).toHaveLength(2);
  });
});
