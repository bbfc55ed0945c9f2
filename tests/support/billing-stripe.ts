/**
 * The API with a Stripe sandbox. The sandbox delivers no event by itself: the test takes the events and delivers them as often
 * and in whatever order it wants. Both share one business clock, which stands still until the test moves it.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import Fastify from "fastify";
import type Stripe from "stripe";
import { expect } from "vitest";
import type { OrderPreview } from "#contract/billing/orders.ts";
import type { ApiFault } from "#sandbox/stripe/api-faults.ts";
import type { CardBehaviour } from "#sandbox/stripe/kinds.ts";
import { createStripeSandbox } from "#sandbox/stripe/plugin.ts";
import { findPayer } from "#server/db/payer.ts";
import { freePort } from "#server/embedded/processes.ts";
import { handledTypes } from "#server/features/billing/event-handlers.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { expireDueGrants } from "#server/features/credits/service.ts";
import { Recording, typeErrors } from "../sandbox/stripe/recorded-types.ts";
import type { ApiWorld, Person } from "./billing-world.ts";
import { deliver, startApiWorld } from "./billing-world.ts";
import { consentTo } from "./consent.ts";
import { full } from "./full.ts";

/** A subscription's status that Stripe might add one day. */
export const unknownStatus = "of_a_later_day";

export type Card = CardBehaviour;

export interface BillingWorld extends ApiWorld {
  sandboxUrl: string;
  /** Lets the next calls of Stripe's API fail. */
  setApiFaults(faults: ApiFault[]): void;
  /** Opens a checkout: `url` is its address; if it was refused, `code` says why. */
  checkout(person: Person, priceId: string): Promise<{ status: number; url: string; code: string }>;
  /** `country`: of the billing address that they give on the page. */
  /** `more`: what else is filled in on the page. */
  pay(checkoutUrl: string, card?: Card, country?: string, more?: Record<string, string>): Promise<void>;
  /** Gives a subscription a status that follows from no payment, as an operator does or a setting at Stripe. */
  setStatus(subscription: string, status: string): Promise<void>;
  /** Opens a checkout and pays for it; delivers none of the resulting events. */
  buy(person: Person, priceId?: string): Promise<void>;
  /** The events Stripe has created since the last call, oldest first. */
  takeEvents(): Promise<Stripe.Event[]>;
  /** Delivers the events to the webhook and processes them, one after the other, in this order. */
  bring(events: readonly Stripe.Event[]): Promise<void>;
  /** Delivers and processes every event Stripe has created since the last call. */
  settle(): Promise<void>;
  /**
   * Moves business time to `target` and stops wherever Stripe or the product has work due, to do it. With `bringing: false`
   * only Stripe does its work: no event is delivered and no sweep runs on the way.
   */
  moveTo(target: Date, options?: { bringing?: boolean }): Promise<void>;
  /** Ends all plans at Stripe, so that nobody of the tests before is renewed whenever a later test moves the clock. */
  endPlans(): Promise<void>;
}

/** `onAnswer` is given every answer of the API. */
async function startStripe(world: ApiWorld, port: number, onAnswer: ((json: string) => void) | undefined) {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-stripe-"));
  const server = Fastify({ forceCloseConnections: true });
  const stripe = createStripeSandbox({
    databasePath: path.join(folder, "stripe.sqlite"),
    origin: new URL(`http://127.0.0.1:${port}`),
    // Never used: no server listens on this port.
    webhook: { url: new URL("http://127.0.0.1:1/"), secret: "whsec_unused" },
    now: () => world.clock.now(),
    log: { info: () => {}, warn: () => {} },
  });
  if (onAnswer)
    server.addHook("onSend", async (request, _reply, payload) => {
      if (request.url.startsWith("/v1/") && typeof payload === "string") onAnswer(payload);
    });
  await server.register(stripe.plugin);
  await server.listen({ host: "127.0.0.1", port });
  return {
    stripe,
    async close() {
      await server.close();
      await stripe.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The events that were not listed before, the oldest first. `created`: of the latest one that was, in Unix seconds. */
async function listEvents(world: ApiWorld, seen: { ids: Set<string>; created: number }): Promise<Stripe.Event[]> {
  const fresh: Stripe.Event[] = [];
  for await (const event of world.deps.payments.events.list({ limit: 100, created: { gte: seen.created } }))
    if (!seen.ids.has(event.id)) fresh.push(event);
  for (const event of fresh) seen.ids.add(event.id);
  seen.created = fresh[0]?.created ?? seen.created;
  return fresh.reverse();
}

async function runSweeps(world: ApiWorld): Promise<void> {
  const now = world.clock.now();
  await postDueScheduledGrants(world.deps, now);
  await endGracePeriods(world.deps, now);
  await expireDueGrants(world.deps, now);
}

async function nextSweep(world: ApiWorld): Promise<Date | null> {
  const { db } = world.database;
  const instants = await Promise.all([
    db
      .selectFrom("scheduled_grants")
      .select((e) => e.fn.min("due_at").as("at"))
      .where("posted_at", "is", null)
      .where("cancelled_at", "is", null)
      .executeTakeFirst(),
    db
      .selectFrom("user_subscriptions")
      .select((e) => e.fn.min("grace_until").as("at"))
      .where("grace_until", "is not", null)
      .executeTakeFirst(),
    db
      .selectFrom("grants")
      .select((e) => e.fn.min("expires_at").as("at"))
      .where("expired_at", "is", null)
      .executeTakeFirst(),
  ]);
  const known = instants.flatMap((row) => (row?.at ? [row.at.getTime()] : []));
  return known.length > 0 ? new Date(Math.min(...known)) : null;
}

export async function startBillingWorld(variables: NodeJS.ProcessEnv = {}, start?: Date): Promise<BillingWorld> {
  const port = await freePort();
  const sandboxUrl = `http://127.0.0.1:${port}`;
  const world = await startApiWorld({ STRIPE_API_URL: sandboxUrl, ...variables }, start);
  // Its events are answers, too: they are listed. In the daily run only tests/sandbox/stripe-types.test.ts compares with the types.
  const recording = full ? new Recording(true) : undefined;
  // Stripe's types don't contain the invented status.
  const isKnown = (json: string) => !json.includes(`"${unknownStatus}"`);
  const { stripe, close } = await startStripe(world, port, recording && ((json) => isKnown(json) && recording.add(json)));
  const seen = { ids: new Set<string>(), created: 0 };

  async function checkout(person: Person, priceId: string) {
    const preview = await world.post("/api/billing/order/preview", person, { priceId });
    // If the preview is refused, the checkout will refuse the order too.
    const { amountCents } = preview.statusCode === 200 ? preview.json<OrderPreview>() : consentTo(priceId);
    const consent = { ...consentTo(priceId), amountCents };
    const response = await world.post("/api/functions/create-checkout", person, { priceId, consent });
    const { url = "", code = "" } = response.json();
    return { status: response.statusCode, url, code };
  }
  async function pay(checkoutUrl: string, card: Card = "success", country = "", more: Record<string, string> = {}) {
    const session = new URL(checkoutUrl).pathname.split("/").at(-1);
    const response = await fetch(`${sandboxUrl}/checkout/${session}/pay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ card, country, ...more }),
      redirect: "manual",
    });
    if (card !== "declined" && response.status !== 303) throw new Error(`payment answered ${response.status}: ${await response.text()}`);
  }
  async function arrive(event: Stripe.Event) {
    const response = await deliver(world, JSON.stringify(event));
    if (response.statusCode !== 200) throw new Error(`webhook answered ${response.statusCode}: ${response.body}`);
  }
  async function bring(events: readonly Stripe.Event[]) {
    for (const event of events) {
      await arrive(event);
      await processStripeEvent(world.deps, event.id);
    }
  }
  const takeEvents = () => listEvents(world, seen);
  /** Delivers all events before processing any, so that several about one object cause one reading. Only types with a handler arrive. */
  async function settle() {
    const events = (await takeEvents()).filter(({ type }) => handledTypes.includes(type));
    for (const event of events) await arrive(event);
    for (const { id } of events) await processStripeEvent(world.deps, id);
  }

  return {
    ...world,
    sandboxUrl,
    setApiFaults: (faults) => stripe.setApiFaults(faults),
    checkout,
    pay,
    bring,
    takeEvents,
    settle,
    async setStatus(subscription, status) {
      const body = JSON.stringify({ status });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${sandboxUrl}/sandbox/subscriptions/${subscription}/status`, { method: "POST", headers, body });
      if (!response.ok) throw new Error(await response.text());
    },
    async buy(person, priceId = "starter_month") {
      const opened = await checkout(person, priceId);
      if (opened.status !== 200) throw new Error(`checkout answered ${opened.status} ${opened.code}`);
      await pay(opened.url);
    },
    async moveTo(target, { bringing = true } = {}) {
      for (;;) {
        const dueAt = [stripe.nextDueAt(), bringing ? await nextSweep(world) : null].flatMap((at) =>
          at && at <= target ? [at.getTime()] : [],
        );
        if (dueAt.length === 0) break;
        world.clock.moveTo(new Date(Math.min(...dueAt)));
        await stripe.runDue(world.clock.now());
        if (!bringing) continue;
        await settle();
        const due = await nextSweep(world);
        if (due && due <= world.clock.now()) await runSweeps(world);
      }
      world.clock.moveTo(target);
    },
    async endPlans() {
      for await (const { id } of world.deps.payments.subscriptions.list({ limit: 100 })) await world.deps.payments.subscriptions.cancel(id);
      await settle();
    },
    async close() {
      await world.close();
      await close();
      if (recording) expect(await typeErrors(recording.source()), "what the sandbox answered").toEqual([]);
    },
  };
}

/** A person's subscription, grants, wallet and invoices, without the ids, so that two people can be compared. */
export async function stateOf(world: ApiWorld, userId: string) {
  const { db } = world.database;
  // A person who is gone has none.
  const payerId = (await findPayer(db, userId)) ?? randomUUID();
  const subscription = await db.selectFrom("user_subscriptions").selectAll().where("user_id", "=", userId).executeTakeFirst();
  const grants = await db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["grants.kind", "grants.credits", "grants.remaining", "grants.expires_at", "grants.expired_at"])
    .where("wallets.billing_account_id", "=", payerId)
    .orderBy("grants.expires_at")
    .execute();
  const wallet = await db.selectFrom("wallets").select(["balance", "held"]).where("billing_account_id", "=", payerId).executeTakeFirst();
  const invoices = await db
    .selectFrom("paid_invoices")
    .select(["amount_paid_cents", "billing_reason", "paid_at"])
    .where("billing_account_id", "=", payerId)
    .orderBy("paid_at")
    .execute();
  const { plan_key, billing_interval, status, current_period_start, current_period_end, cancel_at_period_end, grace_until, ended_at } =
    subscription ?? {};
  return {
    subscription: {
      plan_key,
      billing_interval,
      status,
      current_period_start,
      current_period_end,
      cancel_at_period_end,
      grace_until,
      ended_at,
    },
    grants: grants.map((grant) => ({ ...grant, expired_at: grant.expired_at !== null })),
    wallet,
    invoices,
  };
}
