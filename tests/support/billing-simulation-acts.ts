/** What the people of the billing simulation do: by the product's API, or by Stripe's API where a person would be on Stripe's pages. */
import { randomUUID } from "node:crypto";
import StripeSdk from "stripe";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { spendableKinds } from "#domain/credits.ts";
import { packs } from "#domain/plans.ts";
import {
  adjust,
  deleteAccount,
  dispute,
  moneyBack,
  refund,
  refundAsTeam,
  restoreAccount,
  transfer,
  withdraw,
} from "./billing-simulation-returns.ts";
import type { Act, Actor, Stage } from "./billing-simulation-stage.ts";
import { call, customerOf, runningOf } from "./billing-simulation-stage.ts";
import type { Card } from "./billing-stripe.ts";
import { consentTo } from "./consent.ts";
import { endHold, holdCredits } from "./ledger-calls.ts";

const priceIds = ["starter", "basic", "professional", "enterprise"].flatMap((plan) => [`${plan}_month`, `${plan}_month`, `${plan}_year`]);

const nothing = () => {};

const countries = ["DE", "DE", "FR", "CH"] as const;
/** A business in France owes the tax itself. */
const business = { tax_id: "FR40303265045", business_name: "Exemple SARL" };

const cards: readonly Card[] = ["success", "success", "success", "success", "declined", "authentication", "always_authentication"];
/** Bank accounts: half of them pay after four business days, the others fail. */
const accounts: readonly Card[] = ["bank_debit", "bank_debit", "bank_debit_fails", "bank_debit_voids"];

/** Pays with `given`, or else with a random card or now and then from a bank account. */
async function payAt({ world, random, taxed }: Stage, address: unknown, given?: Card): Promise<void> {
  if (typeof address !== "string") return;
  const pays = random(5) === 0 ? accounts : cards;
  const country = taxed ? countries[random(countries.length)] : "";
  await world.pay(address, given ?? pays[random(pays.length)], country, country === "FR" && random(2) === 0 ? business : {});
}

/** If tax is on, the customer's address is removed, or changed in the portal. */
const move: Act = async (stage, actor) => {
  const customer = stage.taxed ? await customerOf(stage, actor) : undefined;
  if (customer === undefined) return;
  const country = countries[stage.random(countries.length)] ?? "DE";
  await stage.world.deps.payments.customers.update(customer, { address: stage.random(3) === 0 ? "" : { country } });
};

/** Looks at the order and agrees to it. */
async function order(stage: Stage, actor: Actor, path: string, what: { priceId?: string | undefined; pack?: string | undefined }) {
  const priceId = what.priceId ?? what.pack ?? "";
  const preview = await call(stage, actor, "/api/billing/order/preview", { priceId });
  return preview && call(stage, actor, path, { ...what, consent: { ...consentTo(priceId), amountCents: preview.amountCents } });
}

export const subscribeTo =
  (priceId: string | undefined, card?: Card): Act =>
  async (stage, actor) => {
    const opened = await order(stage, actor, "/api/functions/create-checkout", { priceId });
    await payAt(stage, opened?.url, card);
  };

async function subscribe(stage: Stage, actor: Actor): Promise<void> {
  await subscribeTo(priceIds[stage.random(priceIds.length)])(stage, actor);
}

export const buyPack: Act = async (stage, actor) => {
  const opened = await order(stage, actor, "/api/billing/packs/checkout", { pack: packs[stage.random(packs.length)]?.key });
  await payAt(stage, opened?.url, stage.random(6) === 0 ? "bank_debit" : "success");
};

export const startTrial: Act = async (stage, actor) => {
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

export const cancel: Act = (stage, actor) => call(stage, actor, "/api/billing/cancellation").then(nothing);
export const resume: Act = (stage, actor) => call(stage, actor, "/api/billing/cancellation", "DELETE").then(nothing);
const undoChange: Act = (stage, actor) => call(stage, actor, "/api/billing/plan-change", "DELETE").then(nothing);

/** Looks at what the change means and confirms it, now and then twice at once. */
export const changePlanTo =
  (priceId: string | undefined): Act =>
  async (stage, actor) => {
    const preview = await call(stage, actor, "/api/billing/plan-change/preview", { priceId });
    if (!preview) return;
    const confirmed = { priceId, effectiveAt: preview.effectiveAt, amountCents: preview.amountCents };
    const clicks = stage.random(4) === 0 ? 2 : 1;
    await Promise.all(Array.from({ length: clicks }, () => call(stage, actor, "/api/billing/plan-change", confirmed)));
  };

async function changePlan(stage: Stage, actor: Actor): Promise<void> {
  await changePlanTo(priceIds[stage.random(priceIds.length)])(stage, actor);
}

/** Another card for the plan, with which the person pays what is open if it works without them. */
export const giveCard =
  (kind: "pm_card_visa" | "pm_card_chargeCustomerFail" | "pm_card_authenticationRequired"): Act =>
  async (stage, actor) => {
    const running = await runningOf(stage, actor);
    const { payments } = stage.world.deps;
    if (!running) return;
    const customer = typeof running.customer === "string" ? running.customer : running.customer.id;
    const card = await payments.paymentMethods.attach(kind, { customer });
    await payments.subscriptions.update(running.id, { default_payment_method: card.id });
    if (kind !== "pm_card_visa") return;
    for (const invoice of (await payments.invoices.list({ customer, status: "open", limit: 10 })).data) {
      await payments.invoices.pay(invoice.id, { payment_method: card.id });
    }
  };

/** The card stops working or asks at each payment, or the person gives another one. */
async function changeCard(stage: Stage, actor: Actor): Promise<void> {
  const isUnpaid = (await runningOf(stage, actor))?.status === "past_due";
  const works = stage.random(3) > (isUnpaid ? 0 : 1);
  const others = ["pm_card_chargeCustomerFail", "pm_card_chargeCustomerFail", "pm_card_authenticationRequired"] as const;
  await giveCard(works ? "pm_card_visa" : (others[stage.random(others.length)] ?? "pm_card_chargeCustomerFail"))(stage, actor);
}

/** On Stripe's page of the invoice that is open. */
export const payOpenWith =
  (card: Card): Act =>
  async (stage, actor) => {
    const customer = await customerOf(stage, actor);
    if (customer === undefined) return;
    const { data } = await stage.world.deps.payments.invoices.list({ customer, status: "open", limit: 1 });
    const address = data[0]?.hosted_invoice_url;
    if (address) await fetch(`${address}/pay`, { method: "POST", body: new URLSearchParams({ card }) });
  };

const payOpenByDebit: Act = (stage, actor) => payOpenWith(accounts[stage.random(accounts.length)] ?? "bank_debit")(stage, actor);

/** Presses "Check now". */
export const checkPayments: Act = (stage, actor) => call(stage, actor, "/api/billing/doctor").then(nothing);

/** The acts, each with the weight by which it is chosen. */
const acts: readonly [weight: number, act: Act][] = [
  [16, spend],
  [12, subscribe],
  [6, buyPack],
  [4, startTrial],
  [2, cancel],
  [2, resume],
  [6, changePlan],
  [2, undoChange],
  [2, refund],
  [2, dispute],
  [6, changeCard],
  [2, moneyBack],
  [2, withdraw],
  [1, deleteAccount],
  [6, transfer],
  [1, move],
  [2, payOpenByDebit],
  [2, checkPayments],
  [1, adjust],
  [1, refundAsTeam],
];

/** What can still happen to an account that was deleted, before it is erased. */
const leavingActs: typeof acts = [
  [8, async function stayAway() {}],
  [1, restoreAccount],
  [1, refund],
  [1, dispute],
];

function choose(random: Stage["random"], from: typeof acts): Act {
  let left = random(from.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, act] of from) {
    left -= weight;
    if (left < 0) return act;
  }
  return spend;
}

/** The name of what was done, for the message of a run that fails. */
export async function actSomehow(stage: Stage, actor: Actor): Promise<string> {
  if (actor.state === "gone") return "nothing, being gone";
  const act = choose(stage.random, actor.state === "here" ? acts : leavingActs);
  try {
    await act(stage, actor);
  } catch (error) {
    // At Stripe's own pages the person sees Stripe's errors: a declined card, or an outage.
    if (!(error instanceof StripeSdk.errors.StripeError)) throw new Error(`${act.name}: ${String(error)}`, { cause: error });
  }
  return act.name;
}
