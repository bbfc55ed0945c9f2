/** A stubbed API behind real HTTP. The contract types its responses, so they can't differ from the product's. */
import type { FastifyRequest } from "fastify";
import type { Page } from "playwright-core";
import { beforeEach } from "vitest";
import type { CallName, CallResult } from "#client/lib/api.ts";
import { offeredModels } from "#client/lib/offered-models.ts";
import type { Account } from "#contract/account/account.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import type { DiscountEligibility, SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Problem } from "#contract/common.ts";
import { planList, priceCents } from "#domain/plans.ts";
import { tierDisplayName } from "#domain/subscription.ts";
import { sendProblem, toProblem } from "#server/http/problem.ts";
import type { DeviceOptions } from "#tests/support/devices.ts";
import type { AnswerCall, Site } from "./frame-support.ts";
import { onSite, openPage, visit } from "./frame-support.ts";

const now = new Date("2026-03-10T12:00:00Z").toISOString();

export const account: Account = {
  id: "7d0f6a52-1c1e-4a5f-9a58-3f1f5d1c9b01",
  email: "maria@example.com",
  emailVerifiedAt: "2026-01-05T09:00:00.000Z",
  name: null,
  language: "en",
  avatarUrl: null,
  newEmail: null,
  createdAt: "2025-01-14T09:30:00.000Z",
  lastSignInAt: "2026-03-09T18:45:00.000Z",
};

/** The subscription check of a person without a plan. */
export const noPlan: SubscriptionCheck = {
  subscribed: false,
  subscription_tier: "none",
  plan_name: tierDisplayName("none"),
  credits: 0,
  subscription_end: null,
  reason: null,
  status: "none",
  billing_interval: null,
  next_credits_at: null,
  cancel_at_period_end: false,
  plan_to_come: null,
  can_start_trial: false,
  trial_end: null,
  answered: false,
  server_time: now,
};

export const starter: SubscriptionCheck = {
  ...noPlan,
  subscribed: true,
  subscription_tier: "starter",
  plan_name: tierDisplayName("starter"),
  credits: 300,
  subscription_end: "2026-04-01T00:00:00.000Z",
  status: "active",
  billing_interval: "month",
};

export function discountOf(percent: number): DiscountEligibility {
  const cut = (originalPrice: number) => {
    const savings = Math.floor((originalPrice * percent) / 100);
    return { originalPrice, discountedPrice: originalPrice - savings, savings, discountPercentage: percent, discount: percent / 100 };
  };
  const pricing = planList.map((plan) => [plan.key, { ...cut(priceCents(plan, "month")), annual: cut(priceCents(plan, "year")) }]);
  return { discountEligible: percent > 0, pricing: Object.fromEntries(pricing) as DiscountEligibility["pricing"] };
}

const usual: { [Name in CallName]?: CallResult<Name> } = {
  "GET /api/environment": { sandboxUrl: null, google: false, notice: null, serverTime: now },
  "GET /api/models": {
    models: offeredModels().map((model) => ({
      ...model,
      available: true,
      pausedSeconds: null,
      sandbox: false,
      until: null,
      successor: model.successor ?? null,
    })),
  },
  "GET /api/account": account,
  "GET /api/account/support-access": { until: null, askedAt: null },
  "GET /api/conversations": { conversations: [], nextCursor: null },
  "GET /api/credits/wallet": { balance: 0, held: 0, available: 0, frozen: false, grants: [], serverTime: now },
  "GET /api/credits/explanation": { balance: 0, held: 0, closedCredits: 0, grants: [], agrees: true },
  "GET /api/credits/limits": { dailyCapCredits: null, askAboveCredits: null, alertPercent: 80, todayCredits: null },
  "GET /api/credits/usage": { from: "2026-02-09", to: "2026-03-10", unit: "day", sums: [] },
  "GET /api/credits/ledger": { lines: [], nextCursor: null, readTo: null },
  "POST /api/functions/verify-admin": { isAdmin: false, team: null },
  "POST /api/functions/check-discount-eligibility": discountOf(0),
  "POST /api/functions/reliable-subscription-check": noPlan,
};

interface Received {
  name: string;
  headers: FastifyRequest["headers"];
  body: unknown;
  query: unknown;
}

/** The API's responses in a test; call `reset` before each test. A call without a response is refused as unavailable. */
export class StubbedApi {
  readonly #results = new Map<string, unknown>();
  readonly #refusals = new Map<string, Problem>();
  readonly #held = new Map<string, Promise<void>>();
  #received: Received[] = [];

  reset(): void {
    this.#received = [];
    this.#held.clear();
    this.#refusals.clear();
    this.#results.clear();
    for (const [name, result] of Object.entries(usual)) this.#results.set(name, result);
  }

  answer<Name extends CallName>(name: Name, result: CallResult<Name>): void {
    this.#refusals.delete(name);
    this.#results.set(name, result);
  }

  /** Answers a call whose path ends with an id. */
  answerAt<Name extends CallName & `${string}:id`>(name: Name, id: string, result: CallResult<Name>): void {
    this.#results.set(name.replace(":id", id), result);
  }

  refuse(name: CallName, status: number, code: string, details: Partial<Problem> = {}): void {
    this.#refusals.set(name, toProblem(status, code, code, details));
  }

  /** Delays a call until the returned function is called; the response is the one set at that time. */
  hold(name: CallName): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.set(name, promise);
    return () => {
      this.#held.delete(name);
      resolve();
    };
  }

  calls(name: CallName): readonly Received[] {
    return this.#received.filter((call) => call.name === name);
  }

  readonly answerCall: AnswerCall = async (request, reply) => {
    const name = `${request.method} ${request.url.split("?")[0]}`;
    this.#received.push({ name, headers: request.headers, body: request.body, query: request.query });
    await this.#held.get(name);
    const refusal = this.#refusals.get(name);
    if (refusal) return sendProblem(reply, refusal);
    if (!this.#results.has(name)) return sendProblem(reply, toProblem(503, "service_unavailable", "not answered by this test"));
    return reply.send(this.#results.get(name));
  };
}

/** Serves the client and a stubbed API to the tests of a file. Each test begins with the API's usual answers. */
export function onStubbedSite(take: (site: Site) => void): StubbedApi {
  const api = new StubbedApi();
  beforeEach(() => api.reset());
  onSite(take, api.answerCall);
  return api;
}

/** The session, as the client keeps it, of a person who is signed in. */
export function sessionOf(avatar?: string): string {
  const { id, email } = account;
  const session: Session = {
    access_token: "access",
    refresh_token: "refresh",
    expires_at: 4_102_444_800,
    expires_in: 600,
    token_type: "bearer",
    user: { id, email, user_metadata: { avatar_url: avatar ?? null } },
  };
  return JSON.stringify(session);
}

interface Opening extends Omit<DeviceOptions, "session"> {
  /** Whether a person is signed in on this device. */
  member?: boolean;
  avatar?: string;
}

/** Opens a page on an empty device, whatever was opened before, and waits until it is hydrated. */
export async function open(site: Site, path: string, { member = false, avatar, ...options }: Opening = {}): Promise<Page> {
  await site.devices.takeBack();
  const signedIn = member ? { session: sessionOf(avatar) } : {};
  const { page } = await openPage(site, { viewport: { width: 1440, height: 900 }, ...signedIn, ...options });
  await visit(page, `${site.address}${path}`);
  await page.locator("html[data-live]").waitFor({ state: "attached" });
  return page;
}
