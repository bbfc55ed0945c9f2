/** What the people of the billing simulation do. Each act goes through the product's API, or through Stripe's where the person is at Stripe's pages. */
import { randomUUID } from "node:crypto";
import type Stripe from "stripe";
import StripeSdk from "stripe";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { spendableKinds } from "#domain/credits.ts";
import { packs } from "#domain/plans.ts";
import { signAccessToken } from "#server/features/auth/tokens.ts";
import type { BillingWorld, Card } from "./billing-stripe.ts";
import type { Person } from "./billing-world.ts";
import { consentTo } from "./consent.ts";
import { endHold, holdCredits } from "./ledger-calls.ts";
import { payerIdOf } from "./payers.ts";

export interface Actor extends Person {
  payerId: string;
  walletId: string;
  /** Everybody has a network of their own, with its own limits. */
  address: string;
  /** An access token lasts ten minutes, less than a long run, so each call has one of its own. */
  sessionId: string;
  /** What the person has spent so far, as the person counts it. */
  spent: number;
}

export interface Stage {
  world: BillingWorld;
  random: (below: number) => number;
}

/** Does what it can at this moment, or nothing if the person can't do it now. */
type Act = (stage: Stage, actor: Actor) => Promise<void>;

const priceIds = ["starter", "basic", "professional", "enterprise"].flatMap((plan) => [`${plan}_month`, `${plan}_month`, `${plan}_year`]);

/** Refusals that people meet, and outages of Stripe. Anything else is a fault of the product. */
const allowed = new Set([200, 202, 204, 402, 403, 409, 429, 502, 503]);

const nothing = () => {};

/** Posts `payload`, or sends `DELETE`. Undefined if the call was refused. */
export async function call(
  { world }: Pick<Stage, "world">,
  actor: Actor,
  path: string,
  payload: Record<string, unknown> | "DELETE" = {},
): Promise<Record<string, unknown> | undefined> {
  const authorization = `Bearer ${signAccessToken(world.app, { sub: actor.userId, sid: actor.sessionId })}`;
  const request = { url: path, headers: { authorization }, remoteAddress: actor.address } as const;
  const response = await world.app.inject(
    payload === "DELETE" ? { ...request, method: "DELETE" } : { ...request, method: "POST", payload },
  );
  if (!allowed.has(response.statusCode)) throw new Error(`${path} answered ${response.statusCode}: ${response.body}`);
  return response.statusCode < 300 && response.body !== "" ? response.json<Record<string, unknown>>() : undefined;
}

async function payAt({ world, random }: Stage, address: unknown): Promise<void> {
  if (typeof address !== "string") return;
  const cards: Card[] = ["success", "success", "success", "success", "declined"];
  await world.pay(address, cards[random(cards.length)]);
}

async function customerOf({ world }: Stage, { payerId }: Actor): Promise<string | undefined> {
  const accounts = world.database.db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", payerId);
  return (await accounts.executeTakeFirst())?.stripe_customer_id ?? undefined;
}

/** The newest subscription that has not ended, as Stripe knows it. */
async function runningOf(stage: Stage, actor: Actor): Promise<Stripe.Subscription | undefined> {
  const customer = await customerOf(stage, actor);
  if (customer === undefined) return undefined;
  const { data } = await stage.world.deps.payments.subscriptions.list({ customer, limit: 10 });
  return data.find(({ status }) => status === "active" || status === "past_due");
}

/** Looks at the order and agrees to it. */
async function order(stage: Stage, actor: Actor, path: string, what: { priceId?: string | undefined; pack?: string | undefined }) {
  const priceId = what.priceId ?? what.pack ?? "";
  const preview = await call(stage, actor, "/api/billing/order/preview", { priceId });
  return preview && call(stage, actor, path, { ...what, consent: { ...consentTo(priceId), amountCents: preview.amountCents } });
}

const subscribe: Act = async (stage, actor) => {
  const priceId = priceIds[stage.random(priceIds.length)];
  const opened = await order(stage, actor, "/api/functions/create-checkout", { priceId });
  await payAt(stage, opened?.url);
};

const buyPack: Act = async (stage, actor) => {
  const opened = await order(stage, actor, "/api/billing/packs/checkout", { pack: packs[stage.random(packs.length)]?.key });
  await payAt(stage, opened?.url);
};

const startTrial: Act = async (stage, actor) => {
  await call(stage, actor, "/api/billing/trial");
};

/** Reserves credits and is charged for all of them, for a part or for nothing. */
const spend: Act = async ({ world, random }, actor) => {
  const { db } = world.database;
  const row = await db.selectFrom("wallets").selectAll().where("id", "=", actor.walletId).executeTakeFirstOrThrow();
  const credits = 1 + random(180);
  if (row.frozen_at !== null || row.balance - row.held < credits) return;
  const check = (await call({ world }, actor, "/api/functions/reliable-subscription-check")) ?? {};
  if (Number(check.credits) < credits) return;
  const [holdId, now] = [randomUUID(), world.clock.now()];
  const kinds = spendableKinds(check.subscription_tier !== "none", true);
  const deadline = addMilliseconds(new Date(), hourMs);
  await holdCredits(db, { holdId, walletId: actor.walletId, credits, kinds, now, deadline, wallNow: new Date() });
  const captured = [credits, credits, credits, random(credits + 1), 0][random(5)] ?? 0;
  await endHold(db, holdId, captured, now, new Date());
  actor.spent += captured;
};

const cancel: Act = (stage, actor) => call(stage, actor, "/api/billing/cancellation").then(nothing);
const resume: Act = (stage, actor) => call(stage, actor, "/api/billing/cancellation", "DELETE").then(nothing);
const undoChange: Act = (stage, actor) => call(stage, actor, "/api/billing/plan-change", "DELETE").then(nothing);

/** Looks at what the change means and confirms it, now and then twice at once. */
const changePlan: Act = async (stage, actor) => {
  const priceId = priceIds[stage.random(priceIds.length)];
  const preview = await call(stage, actor, "/api/billing/plan-change/preview", { priceId });
  if (!preview) return;
  const confirmed = { priceId, effectiveAt: preview.effectiveAt, amountCents: preview.amountCents };
  const clicks = stage.random(4) === 0 ? 2 : 1;
  await Promise.all(Array.from({ length: clicks }, () => call(stage, actor, "/api/billing/plan-change", confirmed)));
};

/** The customer's payments, newest first. */
async function chargesOf(stage: Stage, actor: Actor): Promise<Stripe.Charge[]> {
  const customer = await customerOf(stage, actor);
  if (customer === undefined) return [];
  return (await stage.world.deps.payments.charges.list({ customer, limit: 20 })).data.filter(({ paid }) => paid);
}

/** As from Stripe's dashboard: all of a payment or a part of it. */
const refund: Act = async (stage, actor) => {
  const charges = await chargesOf(stage, actor);
  const charge = charges[stage.random(Math.max(1, charges.length))];
  const left = charge ? charge.amount - charge.amount_refunded : 0;
  if (!charge || left <= 0) return;
  const amount = stage.random(2) === 0 ? left : 1 + stage.random(left);
  await stage.world.deps.payments.refunds.create({ charge: charge.id, amount });
};

async function orderBank({ world }: Stage, path: string, fields: Record<string, string>): Promise<void> {
  const response = await fetch(`${world.sandboxUrl}/sandbox/disputes${path}`, { method: "POST", body: new URLSearchParams(fields) });
  if (response.status >= 500) throw new Error(`the bank answered ${response.status}`);
}

/** The bank decides about an open dispute; if there is none the person begins one. */
const dispute: Act = async (stage, actor) => {
  const charges = await chargesOf(stage, actor);
  const charge = charges.find(({ disputed }) => disputed) ?? charges[stage.random(Math.max(1, charges.length))];
  if (!charge) return;
  const { data } = await stage.world.deps.payments.disputes.list({ charge: charge.id });
  const open = data.find(({ status }) => status === "needs_response");
  if (open) await orderBank(stage, `/${open.id}/close`, { outcome: stage.random(2) === 0 ? "won" : "lost" });
  else await orderBank(stage, "", { charge: charge.id });
};

/** The card stops working, or the person gives another one and pays what is open. */
const changeCard: Act = async (stage, actor) => {
  const running = await runningOf(stage, actor);
  const { payments } = stage.world.deps;
  if (!running) return;
  const customer = typeof running.customer === "string" ? running.customer : running.customer.id;
  const works = stage.random(3) > (running.status === "past_due" ? 0 : 1);
  const card = await payments.paymentMethods.attach(works ? "pm_card_visa" : "pm_card_chargeCustomerFail", { customer });
  await payments.subscriptions.update(running.id, { default_payment_method: card.id });
  if (!works) return;
  for (const invoice of (await payments.invoices.list({ customer, status: "open", limit: 10 })).data) {
    await payments.invoices.pay(invoice.id, { payment_method: card.id });
  }
};

/** With how often each is chosen. */
const acts: readonly [weight: number, act: Act][] = [
  [8, spend],
  [6, subscribe],
  [3, buyPack],
  [2, startTrial],
  [1, cancel],
  [1, resume],
  [3, changePlan],
  [1, undoChange],
  [1, refund],
  [1, dispute],
  [3, changeCard],
];
const weights = acts.reduce((sum, [weight]) => sum + weight, 0);

function choose(random: Stage["random"]): Act {
  let left = random(weights);
  for (const [weight, act] of acts) {
    left -= weight;
    if (left < 0) return act;
  }
  return spend;
}

/** The name of what was done, for the message of a run that fails. */
export async function actSomehow(stage: Stage, actor: Actor): Promise<string> {
  const act = choose(stage.random);
  try {
    await act(stage, actor);
  } catch (error) {
    // At Stripe's own pages the person sees Stripe's errors: a declined card, or an outage.
    if (!(error instanceof StripeSdk.errors.StripeError)) throw new Error(`${act.name}: ${String(error)}`, { cause: error });
  }
  return act.name;
}

function addressOf(userId: string): string {
  return `10.${[...Buffer.from(userId.slice(-6), "hex")].join(".")}`;
}

export async function createActor(world: BillingWorld): Promise<Actor> {
  const person = await world.person();
  const { db } = world.database;
  const payerId = await payerIdOf(db, person.userId);
  const wallet = await db.selectFrom("wallets").select("id").where("billing_account_id", "=", payerId).executeTakeFirstOrThrow();
  const session = await db.selectFrom("auth_sessions").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
  return { ...person, payerId, walletId: wallet.id, sessionId: session.id, address: addressOf(person.userId), spent: 0 };
}
