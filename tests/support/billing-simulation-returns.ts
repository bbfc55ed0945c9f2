/** Money that goes back, accounts that are deleted, and bank transfers, in the billing simulation. */
import { randomUUID } from "node:crypto";
import type { Withdrawals } from "#contract/billing/withdrawals.ts";
import { currency } from "#domain/plans.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { enqueue } from "#server/queue/outbox.ts";
import type { Act, Actor, Stage } from "./billing-simulation-stage.ts";
import { call, chargesOf, customerOf } from "./billing-simulation-stage.ts";
import { consentTo } from "./consent.ts";

/** Stripe's dashboard does this: it gives back all of a payment or a part of it. */
export const refund: Act = async (stage, actor) => {
  const charges = await chargesOf(stage, actor);
  const charge = charges[stage.random(Math.max(1, charges.length))];
  const left = charge ? charge.amount - charge.amount_refunded : 0;
  if (!charge || left <= 0) return;
  const amount = stage.random(2) === 0 ? left : 1 + stage.random(left);
  await stage.world.deps.payments.refunds.create({ charge: charge.id, amount });
};

/** All of the newest payment, as from Stripe's dashboard. We hear of it before the bank has answered. */
export const refundNewest: Act = async (stage, actor) => {
  const [charge] = await chargesOf(stage, actor);
  if (charge) await stage.world.deps.payments.refunds.create({ charge: charge.id });
  await stage.world.settle();
};

async function orderBank({ world }: Stage, path: string, fields: Record<string, string>): Promise<void> {
  const response = await fetch(`${world.sandboxUrl}/sandbox/disputes${path}`, { method: "POST", body: new URLSearchParams(fields) });
  if (response.status >= 500) throw new Error(`the bank answered ${response.status}`);
}

/** The bank decides about an open dispute, either way without an `outcome`; if there is none the person begins one. */
export const disputeUntil =
  (outcome?: "won" | "lost"): Act =>
  async (stage, actor) => {
    const charges = await chargesOf(stage, actor);
    const charge = charges.find(({ disputed }) => disputed) ?? charges[stage.random(Math.max(1, charges.length))];
    if (!charge) return;
    const { data } = await stage.world.deps.payments.disputes.list({ charge: charge.id });
    const open = data.find(({ status }) => status === "needs_response");
    if (open) await orderBank(stage, `/${open.id}/close`, { outcome: outcome ?? (stage.random(2) === 0 ? "won" : "lost") });
    else await orderBank(stage, "", { charge: charge.id });
  };

export const dispute = disputeUntil();

/** Shows a factor, as dangerous acts ask for one of the last ten minutes. */
async function proveOneself({ world }: Stage, { sessionId }: Actor): Promise<void> {
  await world.database.db.updateTable("auth_sessions").set({ proved_at: new Date() }).where("id", "=", sessionId).execute();
}

/** Now and then twice at once. */
async function twice(stage: Stage, act: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: stage.random(4) === 0 ? 2 : 1 }, act));
}

/** An admin gives a few credits. */
export const adjust: Act = async (stage, actor) => {
  await proveOneself(stage, stage.admin);
  const gift = { credits: 1 + stage.random(50), days: 90, reason: "An answer was cut off", key: randomUUID() };
  await twice(stage, () => call(stage, stage.admin, `/api/admin/people/${actor.userId}/credits`, gift));
};

/** An admin pays back a part of the newest payment by card. */
export const refundAsTeam: Act = async (stage, actor) => {
  await proveOneself(stage, stage.admin);
  const paid = stage.world.database.db.selectFrom("invoices").select(["id", "total_cents", "refunded_cents"]);
  const ofCards = paid.where("billing_account_id", "=", actor.payerId).where("status", "=", "paid").where("due_at", "is", null);
  const invoice = await ofCards.orderBy("issued_at", "desc").executeTakeFirst();
  if (!invoice || invoice.refunded_cents === invoice.total_cents) return;
  const amountCents = 1 + stage.random(invoice.total_cents - invoice.refunded_cents);
  const asked = { invoiceId: invoice.id, amountCents, refundedCents: invoice.refunded_cents, reason: "By goodwill", key: randomUUID() };
  await twice(stage, () => call(stage, stage.admin, `/api/admin/people/${actor.userId}/refunds`, asked));
};

/** Asks the first payment back by the guarantee. */
export const moneyBack: Act = async (stage, actor) => {
  await proveOneself(stage, actor);
  await twice(stage, () => call(stage, actor, "/api/billing/money-back"));
};

/** Withdraws from a plan or a pack. */
export const withdraw: Act = async (stage, actor) => {
  const { contracts = [] } = ((await call(stage, actor, "/api/billing/withdrawals", "GET")) ?? {}) as Partial<Withdrawals>;
  const contract = contracts[stage.random(Math.max(1, contracts.length))];
  if (contract) await twice(stage, () => call(stage, actor, "/api/billing/withdrawals", { contractId: contract.id }));
};

export const deleteAccount: Act = async (stage, actor) => {
  const customer = await customerOf(stage, actor);
  await proveOneself(stage, actor);
  if (!(await call(stage, actor, "/api/account/deletion", { email: actor.email }))) return;
  actor.state = "leaving";
  if (customer !== undefined) actor.customer = customer;
};

/** What signing in again within the fortnight does to the account. */
export const restoreAccount: Act = async ({ world }, actor) => {
  await inTransaction(world.database.db, async (trx) => {
    await trx.updateTable("users").set({ delete_at: null }).where("id", "=", actor.userId).execute();
    await trx.updateTable("auth_sessions").set({ revoked_at: null }).where("id", "=", actor.sessionId).execute();
    await enqueue(trx, "align-subscription", { userId: actor.userId });
  });
  actor.state = "here";
};

const billTo = { name: "Example GmbH", line1: "Example Street 2", postalCode: "10115", city: "Berlin", country: "DE" };

const asTeam = (stage: Stage, path: string, payload: Record<string, unknown>) =>
  call(stage, stage.admin, `/api/admin/transfers${path}`, { ...payload, reason: "Statement of the bank" });

async function offerTransfer(stage: Stage, actor: Actor, terms: { interval: "month" | "year"; daysUntilDue: number }, isOrdered: boolean) {
  const offer = await asTeam(stage, "/offer", { email: actor.email, ...terms, ...(stage.taxed ? { billTo } : {}) });
  const consent = consentTo(`enterprise_${terms.interval}`);
  if (offer && isOrdered) await twice(stage, () => call(stage, actor, "/api/billing/transfer-offer/order", { consent }));
}

async function openTransfer({ world }: Stage, { payerId }: Actor) {
  const invoices = world.database.db.selectFrom("invoices").select(["id", "unpaid_cents"]).where("billing_account_id", "=", payerId);
  return invoices.where("due_at", "is not", null).where("status", "=", "open").executeTakeFirst();
}

async function recordTransfer(stage: Stage, { id, unpaid_cents: cents }: { id: string; unpaid_cents: number }, shortBy = 0) {
  const received = { reference: `for ${id}`, invoiceId: id, amountCents: cents - shortBy, currency };
  await twice(stage, () => asTeam(stage, "", received));
}

export const orderTransfer: Act = async (stage, actor) => {
  await proveOneself(stage, stage.admin);
  await offerTransfer(stage, actor, { interval: "month", daysUntilDue: 14 }, true);
};

export const payTransfer: Act = async (stage, actor) => {
  await proveOneself(stage, stage.admin);
  const open = await openTransfer(stage, actor);
  if (open) await recordTransfer(stage, open);
};

/**
 * The team offers an Enterprise plan by transfer and the person orders it; or the team records a transfer (now and then of a wrong sum, or
 * twice at once), takes one back, transfers money back to a person who asked for it, or records that money which went out twice came back.
 */
export const transfer: Act = async (stage, actor) => {
  const { payerId } = actor;
  const { db } = stage.world.database;
  await proveOneself(stage, stage.admin);
  const team = (path: string, payload: Record<string, unknown>) => asTeam(stage, path, payload);
  const open = await openTransfer(stage, actor);
  const recorded = db.selectFrom("bank_transfers").select("reference").where("billing_account_id", "=", payerId);
  const known = await recorded.where("reversed_at", "is", null).executeTakeFirst();
  const asked = db.selectFrom("money_backs").select(["invoice_id", "amount_cents"]).where("billing_account_id", "=", payerId);
  const owed = await asked.where("charge_id", "is", null).where("done_at", "is", null).executeTakeFirst();
  const claims = db.selectFrom("money_backs").select(["invoice_id", "amount_cents"]).where("billing_account_id", "=", payerId);
  const claim = await claims.where("claimed_at", "is not", null).where("reclaimed_at", "is", null).executeTakeFirst();
  if (claim) {
    const reclaimed = { reference: `again for ${claim.invoice_id}`, invoiceId: claim.invoice_id, amountCents: claim.amount_cents };
    await twice(stage, () => team("/reclaimed", { ...reclaimed, currency }));
    return;
  }
  if (owed) {
    const amountCents = owed.amount_cents - (stage.random(5) === 0 ? 1 : 0);
    const returned = { reference: `back for ${owed.invoice_id}`, invoiceId: owed.invoice_id, amountCents, currency };
    await twice(stage, () => team("/returned", returned));
    return;
  }
  if (open) {
    await recordTransfer(stage, open, stage.random(5) === 0 ? 1 : 0);
  } else if (known) {
    const next = stage.random(6);
    if (next < 2) await twice(stage, () => team("/reverse", { reference: known.reference }));
    else if (next < 4) await (next === 2 ? moneyBack : withdraw)(stage, actor);
  } else {
    const interval = stage.random(3) === 0 ? "year" : "month";
    // Now and then the person does not order.
    await offerTransfer(stage, actor, { interval, daysUntilDue: 1 + stage.random(14) }, stage.random(5) > 0);
  }
};
