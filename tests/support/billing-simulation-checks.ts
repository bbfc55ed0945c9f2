/** What must be true of every person when no event or job is pending, calculated from Stripe's own books and not from ours. */
import type Stripe from "stripe";
import { addMonths } from "#domain/clock.ts";
import { packs, parsePriceId } from "#domain/plans.ts";
import type { SubscriptionStatus } from "#domain/subscription.ts";
import { fromStripeStatus, grantsAccess } from "#domain/subscription.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { addUp } from "#server/features/figures/add-up.ts";
import { rebuildFigures } from "#server/features/figures/rebuild.ts";
import type { Actor } from "./billing-simulation-stage.ts";
import { call } from "./billing-simulation-stage.ts";
import type { BillingWorld } from "./billing-stripe.ts";

/** Throws with the difference; a run adds its seed and its day. */
function expectEqual(what: string, ours: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(ours), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what}: we have ${left}, Stripe's books say ${right}`);
}

/** The ledger agrees with itself, and with what the people counted themselves. May be called at any moment. */
export async function checkLedger(world: BillingWorld, actors: readonly Actor[]): Promise<void> {
  const disagreements = await findDisagreements(world.database.db);
  if (disagreements.length > 0) throw new Error(`the books disagree: ${JSON.stringify(disagreements)}`);
  const { rows } = await world.database.pool.query<{ wallet_id: string; spent: number }>(
    "select wallet_id, sum(amount)::int as spent from ledger_entries where account = 'spent' group by wallet_id",
  );
  const spent = new Map(rows.map((row) => [row.wallet_id, row.spent]));
  for (const actor of actors) expectEqual(`what ${actor.userId} spent`, spent.get(actor.walletId) ?? 0, actor.spent);
}

/** The same of one wallet, which costs the same however many there are. */
export async function checkWallet({ database: { pool } }: BillingWorld, { walletId, userId, spent }: Actor): Promise<void> {
  const disagreements = await pool.query("select * from ledger_disagreements_in(array[$1]::uuid[])", [walletId]);
  if (disagreements.rows.length > 0) throw new Error(`the books of ${userId} disagree: ${JSON.stringify(disagreements.rows)}`);
  const { rows } = await pool.query<{ spent: number }>(
    "select coalesce(sum(amount), 0)::int as spent from ledger_entries where account = 'spent' and wallet_id = $1",
    [walletId],
  );
  expectEqual(`what ${userId} spent`, rows[0]?.spent, spent);
}

interface Sold {
  invoice: string;
  grants: number;
  credits: number;
}

/** Stripe's prices by id, under the names of our catalogue. */
async function priceNames(world: BillingWorld): Promise<Map<string, string>> {
  const prices = await world.deps.payments.prices.list({ limit: 100 }).autoPagingToArray({ limit: 1_000 });
  return new Map(prices.map((price) => [price.id, price.lookup_key ?? ""]));
}

/** When the subscription ended: the months of an annual plan that would begin later are not granted. */
function endOf(subscriptions: readonly Stripe.Subscription[], id: string | undefined): Date {
  const seconds = subscriptions.find((subscription) => subscription.id === id)?.ended_at;
  return seconds ? new Date(seconds * 1_000) : new Date(8.64e15);
}

function subscriptionOf(invoice: Stripe.Invoice): string | undefined {
  const parent = invoice.parent?.subscription_details?.subscription;
  return typeof parent === "string" ? parent : parent?.id;
}

interface Books {
  subscriptions: readonly Stripe.Subscription[];
  /** By invoice, when its transfer was taken back, or its plan withdrawn from. */
  reversedAt: ReadonlyMap<string, Date>;
  names: ReadonlyMap<string, string>;
  now: Date;
}

/**
 * The grants that a paid invoice may have given by now; each of the results is right. A month due at the very moment at which its plan ends
 * may be posted or not, because the worker may be a moment early or late. If the plan's transfer went back, the worker may have been away
 * for longer: what was posted is taken back (`checkTransfers`).
 */
function soldBy(invoice: Stripe.Invoice, { subscriptions, reversedAt, names, now }: Books): Sold[] {
  const reversed = reversedAt.get(invoice.id);
  const ended = reversed ?? endOf(subscriptions, subscriptionOf(invoice));
  let choices: Sold[] = [{ invoice: invoice.id, grants: 0, credits: 0 }];
  const add = (counts: readonly number[], credits: number) => {
    choices = choices.flatMap((sold) =>
      counts.map((count) => ({ ...sold, grants: sold.grants + count, credits: sold.credits + count * credits })),
    );
  };
  for (const line of invoice.lines.data) {
    const price = line.pricing?.price_details?.price;
    const name = names.get(typeof price === "string" ? price : (price?.id ?? "")) ?? "";
    const plan = parsePriceId(name);
    const pack = packs.find(({ key }) => key === name);
    if (line.amount <= 0) continue;
    if (pack) add([1], pack.credits);
    if (!plan) continue;
    const start = new Date(line.period.start * 1_000);
    const later = Array.from({ length: plan.interval === "year" ? 11 : 0 }, (_, month) => addMonths(start, month + 1));
    const [before, until] = [
      later.filter((month) => month <= now && month < ended),
      later.filter((month) => month <= now && month <= ended),
    ];
    // The first month is granted with the payment, whenever that comes.
    const [least, most] = [reversed ? 1 : 1 + before.length, 1 + until.length];
    add(
      Array.from({ length: most - least + 1 }, (_, more) => least + more),
      plan.plan.monthlyCredits,
    );
  }
  return choices;
}

async function checkGrants(world: BillingWorld, actor: Actor, paid: readonly Stripe.Invoice[], books: Books): Promise<void> {
  const { rows } = await world.database.pool.query<Sold>(
    `select invoice_id as invoice, count(*)::int as grants, sum(credits)::int as credits from grants
       where wallet_id = $1 and kind in ('plan', 'pack') group by invoice_id`,
    [actor.walletId],
  );
  const byInvoice = (left: Sold, right: Sold) => left.invoice.localeCompare(right.invoice);
  const isGranted = ({ invoice, grants, credits }: Sold) =>
    rows.some((row) => row.invoice === invoice && row.grants === grants && row.credits === credits);
  const expected = paid
    .map((invoice) => soldBy(invoice, books))
    .flatMap((choices) => choices.find(isGranted) ?? choices.slice(-1))
    .filter(({ grants }) => grants > 0);
  expectEqual(`the credits of ${actor.userId}`, rows.sort(byInvoice), expected.sort(byInvoice));
}

/** A subscription that is paid by transfer or bank debit begins with its first payment. */
function statusOf({ id, status, collection_method }: Stripe.Subscription, paid: readonly Stripe.Invoice[]): SubscriptionStatus {
  const waits = status === "active" || (collection_method === "send_invoice" && status !== "canceled");
  return waits && !paid.some((invoice) => subscriptionOf(invoice) === id) ? "incomplete" : fromStripeStatus(status);
}

async function checkMirror(
  world: BillingWorld,
  actor: Actor,
  paid: readonly Stripe.Invoice[],
  { subscriptions, names, now }: Books,
): Promise<void> {
  const { db } = world.database;
  const row = await db.selectFrom("user_subscriptions").selectAll().where("user_id", "=", actor.userId).executeTakeFirst();
  const begun = subscriptions.filter(({ status }) => status !== "incomplete_expired");
  const running = begun.filter(({ status }) => status === "active" || status === "past_due");
  if (running.length > 1) throw new Error(`${actor.userId} pays for ${running.length} subscriptions`);
  const [newest] = running.length > 0 ? running : begun.sort((left, right) => right.created - left.created);
  if (!newest) {
    if (row && row.status !== "canceled" && row.status !== "incomplete")
      throw new Error(`${actor.userId} has a plan that Stripe does not know`);
    return;
  }
  const item = newest.items.data[0];
  const price = parsePriceId(names.get(item?.price.id ?? "") ?? "");
  const status = statusOf(newest, paid);
  const mirrored = row && {
    id: row.stripe_subscription_id,
    status: row.status,
    plan: row.plan_key,
    interval: row.billing_interval,
    end: row.status === "canceled" ? null : row.current_period_end.getTime() / 1_000,
  };
  expectEqual(`the subscription of ${actor.userId}`, mirrored, {
    id: newest.id,
    status,
    plan: price?.plan.key,
    interval: price?.interval,
    end: status === "canceled" ? null : item?.current_period_end,
  });
  if (actor.state === "leaving") {
    const goesOn = status !== "canceled" && !newest.cancel_at_period_end && newest.cancel_at === null;
    expectEqual(`whether the deleted ${actor.userId} goes on paying`, goesOn, false);
    return;
  }
  const check = await call({ world }, actor, "/api/functions/reliable-subscription-check");
  if (!check) throw new Error(`${actor.userId} was refused a check`);
  const entitled = row !== undefined && grantsAccess(status, row.grace_until, now);
  expectEqual(`the access of ${actor.userId}`, check.subscription_tier !== "none", entitled);
}

interface Taken {
  /** The credits of the charge's grants, including those still to come. */
  sold: number;
  taken: number;
  expired: number;
  /** The credits of the months that are still to come. */
  waiting: number;
}

/** What was asked back of a charge and waits for the bank, which decides about it. Its credits are taken already. */
async function askedOf({ database: { db } }: BillingWorld, chargeId: string): Promise<number> {
  const requests = db.selectFrom("money_backs").select("amount_cents").where("charge_id", "=", chargeId).where("done_at", "is", null);
  return (await requests.executeTakeFirst())?.amount_cents ?? 0;
}

/** Credits follow the money back: floor(sold × returned ÷ paid), less what had expired by then. An open dispute freezes the wallet. */
async function checkReturns(world: BillingWorld, actor: Actor, customer: string): Promise<void> {
  const { payments } = world.deps;
  let disputed = false;
  for (const charge of await payments.charges.list({ customer, limit: 100 }).autoPagingToArray({ limit: 1_000 })) {
    const disputes = charge.disputed ? (await payments.disputes.list({ charge: charge.id })).data : [];
    disputed ||= disputes.some(({ status }) => status === "needs_response");
    const lost = disputes.filter(({ status }) => status === "lost").reduce((sum, { amount }) => sum + amount, 0);
    const { rows } = await world.database.pool.query<Taken>(
      `select (coalesce(sum(g.credits), 0) + w.waiting)::int as sold, coalesce(sum(g.clawed_back), 0)::int as taken, w.waiting::int as waiting,
          coalesce(sum((select sum(e.amount) from ledger_entries e where e.grant_id = g.id and e.account = 'expired')), 0)::int as expired
        from (select coalesce(sum(credits), 0) as waiting from scheduled_grants where charge_id = $1 and posted_at is null) w
        left join grants g on g.charge_id = $1 group by w.waiting`,
      [charge.id],
    );
    const { sold, taken, expired, waiting } = rows[0] ?? { sold: 0, taken: 0, expired: 0, waiting: 0 };
    const asked = await askedOf(world, charge.id);
    const owedFor = (cents: number) => Math.floor((sold * Math.min(charge.amount, cents)) / charge.amount);
    const refunds = charge.amount_refunded === 0 ? [] : (await payments.refunds.list({ charge: charge.id, limit: 100 })).data;
    const owed = owedFor(sumOf(refunds.filter(({ status }) => status === "succeeded")) + lost);
    if (taken > owedFor(charge.amount_refunded + lost + asked) || taken + expired + waiting < owed)
      throw new Error(`of ${charge.id} ${owed} credits are owed; ${taken} were taken, ${expired} had expired, ${waiting} are to come`);
  }
  const wallet = world.database.db.selectFrom("wallets").select("frozen_at").where("id", "=", actor.walletId);
  expectEqual(`whether ${actor.userId} is frozen`, (await wallet.executeTakeFirst())?.frozen_at !== null, disputed);
}

/** What became of an invoice at Stripe. */
async function outcomeOf({ deps: { payments } }: BillingWorld, invoiceId: string): Promise<string> {
  const { status } = await payments.invoices.retrieve(invoiceId);
  if (status !== "paid") return String(status);
  const { data } = await payments.invoicePayments.list({ invoice: invoiceId, status: "paid" });
  return data.length > 0 ? "paid by card" : "paid by transfer";
}

/**
 * A recorded transfer has paid its invoice, or all of it goes back because the invoice was void or paid by card, and the team is told. One
 * taken back gives no credits, and its plan has ended. Returns, by invoice, when transfers were taken back or their plans withdrawn from.
 */
async function checkTransfers(world: BillingWorld, { payerId, userId }: Actor): Promise<Map<string, Date>> {
  const { database, deps } = world;
  const recorded = await database.db.selectFrom("bank_transfers").selectAll().where("billing_account_id", "=", payerId).execute();
  const returns = await database.db.selectFrom("money_backs").selectAll().where("billing_account_id", "=", payerId).execute();
  const [surplus, asked] = [returns.filter(({ kind }) => kind === "surplus"), returns.filter(({ kind }) => kind !== "surplus")];
  for (const { id, invoice_id: invoiceId, transfer_reference: reference, amount_cents: cents, done_at: doneAt } of surplus) {
    const outcome = await outcomeOf(world, invoiceId);
    if (outcome !== "void" && outcome !== "paid by card") throw new Error(`a transfer is returned, but ${invoiceId} is ${outcome}`);
    const transfer = recorded.find((known) => known.reference === reference);
    expectEqual(`what is returned of the transfer for ${invoiceId}`, cents, transfer?.amount_cents);
    const findings = database.db.selectFrom("findings").select("resolved_at").where("subject", "=", id);
    expectEqual(`whether the team is told of ${invoiceId}`, (await findings.executeTakeFirst())?.resolved_at === null, doneAt === null);
  }
  for (const { transfer_reference: reference, returned_reference: returned, claimed_at: claimedAt } of returns) {
    const isGoneTwice = returned !== null && recorded.some((transfer) => transfer.reference === reference && transfer.reversed_at !== null);
    expectEqual(`whether the money of ${reference} that ${userId} has twice is asked back`, claimedAt !== null, isGoneTwice);
  }
  const transfers = recorded.filter(({ reference }) => !surplus.some((known) => known.transfer_reference === reference));
  for (const { invoice_id: invoiceId, stripe_subscription_id: subscriptionId, reversed_at: reversedAt } of transfers) {
    if (reversedAt === null) {
      if (await isDebited(world, invoiceId)) continue;
      expectEqual(`the transfer for ${invoiceId}`, await outcomeOf(world, invoiceId), "paid by transfer");
      continue;
    }
    const { status } = await deps.payments.subscriptions.retrieve(subscriptionId);
    expectEqual(`the plan of ${userId}, whose transfer was taken back`, status, "canceled");
    const { rows } = await database.pool.query(
      `select g.id from grants g where invoice_id = $1 and g.remaining > 0
        or invoice_id = $1 and g.credits > g.clawed_back + (select coalesce(sum(e.amount), 0) from ledger_entries e
          where e.grant_id = g.id and e.account = 'expired')`,
      [invoiceId],
    );
    expectEqual(`the credits of ${userId} that a transfer taken back has left`, rows, []);
  }
  const withdrawn = asked.flatMap(({ charge_id, invoice_id, asked_at }): [string, Date][] =>
    charge_id === null ? [[invoice_id, asked_at]] : [],
  );
  for (const [invoiceId] of withdrawn) {
    const { rows } = await database.pool.query("select id from grants where invoice_id = $1 and remaining > 0", [invoiceId]);
    expectEqual(`the credits that ${userId} has of a plan withdrawn from`, rows, []);
  }
  const reversed = transfers.flatMap(({ invoice_id, reversed_at: at }): [string, Date][] => (at ? [[invoice_id, at]] : []));
  return new Map([...reversed, ...withdrawn]);
}

const sumOf = (amounts: readonly { amount: number }[]) => amounts.reduce((sum, { amount }) => sum + amount, 0);

/** A credit note stays when the bank sends its refund back: the money is owed, and goes back in another way. */
async function cameBack({ deps }: BillingWorld, { refunds }: Stripe.CreditNote): Promise<boolean> {
  const ids = refunds.map(({ refund }) => String(typeof refund === "string" ? refund : refund.id));
  const read = await Promise.all(ids.map((id) => deps.payments.refunds.retrieve(id)));
  return read.some(({ status }) => status === "failed");
}

/** What is still on its way back: a bank account gets its money after some days, and the credit note is made then. */
async function pendingCents({ deps: { payments } }: BillingWorld, invoice: string): Promise<number> {
  const { data } = await payments.invoicePayments.list({ invoice, status: "paid" });
  const intents = data.map(({ payment: { payment_intent: intent } }) => (typeof intent === "object" ? intent?.id : intent));
  const lists = await Promise.all(
    intents.map(async (intent) => (intent ? (await payments.refunds.list({ payment_intent: intent })).data : [])),
  );
  return sumOf(lists.flat().filter(({ status }) => status === "pending"));
}

/** The list says of each paid invoice what went back, by which credit notes, and how much of it is tax, as Stripe does. */
async function checkInvoices(world: BillingWorld, { payerId }: Actor, paid: readonly Stripe.Invoice[]): Promise<void> {
  const { database, deps } = world;
  const rows = await database.db.selectFrom("invoices").selectAll().where("billing_account_id", "=", payerId).execute();
  const { rows: reversed } = await database.pool.query<{ invoice_id: string }>(
    `select invoice_id from bank_transfers where billing_account_id = $1 and reversed_at is not null
       and reference not in (select transfer_reference from money_backs where kind = 'surplus')`,
    [payerId],
  );
  for (const { id, post_payment_credit_notes_amount: credited, automatic_tax: automatic, total_taxes: taxes } of paid) {
    const row = rows.find((known) => known.id === id);
    if (!row) throw new Error(`the list lacks ${id}`);
    const notes = credited === 0 ? [] : (await deps.payments.creditNotes.list({ invoice: id, limit: 100 })).data;
    const shown = row.credit_notes.map((note) => note.id).sort();
    expectEqual(`the credit notes of ${id}`, shown, notes.map((note) => note.id).sort());
    // A transfer that the bank took back is gone whole, whatever the team had transferred back before.
    const isReversed = reversed.some((transfer) => transfer.invoice_id === id);
    const gone = await Promise.all(notes.map(async (note) => ((await cameBack(world, note)) ? [] : [note])));
    if (!isReversed) expectEqual(`what was credited of ${id}`, row.refunded_cents, sumOf(gone.flat()) + (await pendingCents(world, id)));
    const tax = automatic.enabled && automatic.status === "complete" ? sumOf(taxes ?? []) : null;
    expectEqual(`the tax of ${id}`, row.tax_cents, tax);
  }
}

/** A bank has not answered yet. */
export async function isDebited({ deps: { payments } }: BillingWorld, invoice: string): Promise<boolean> {
  const expand = ["data.payment.payment_intent"];
  const { data } = await payments.invoicePayments.list({ invoice, status: "open", expand });
  return data.some(({ payment: { payment_intent: intent } }) => typeof intent === "object" && intent?.status === "processing");
}

/** Nobody can pay for a plan that has ended; what a bank still brings goes back. */
async function checkUnpaid(world: BillingWorld, customer: string, subscriptions: readonly Stripe.Subscription[]) {
  const { data: open } = await world.deps.payments.invoices.list({ customer, status: "open", limit: 100 });
  const ended = subscriptions.filter(({ status }) => status === "canceled" || status === "incomplete_expired");
  const left = open.filter((invoice) => ended.some(({ id }) => id === subscriptionOf(invoice)));
  const debited = await Promise.all(left.map(({ id }) => isDebited(world, id)));
  const unpaid = left.filter((_invoice, index) => !debited[index]);
  expectEqual(
    "open invoices of plans that have ended",
    unpaid.map(({ id }) => id),
    [],
  );
}

function expectNoneRuns({ userId }: Actor, subscriptions: readonly Stripe.Subscription[]): void {
  const running = subscriptions.filter(({ status }) => status !== "canceled" && status !== "incomplete_expired");
  expectEqual(
    `what the deleted ${userId} pays for`,
    running.map(({ id }) => id),
    [],
  );
}

/** Nobody has had more than one trial, with one grant. */
async function checkTrials(world: BillingWorld): Promise<void> {
  const { rows } = await world.database.pool.query(
    "select wallet_id, count(*), sum(credits) from grants where kind = 'trial' group by wallet_id having count(*) > 1 or sum(credits) <> 50",
  );
  expectEqual("trials", rows, []);
}

/** What the subscriptions that run bring in a month, in twelfths of a cent, by Stripe's books. */
function recurring(subscriptions: readonly Stripe.Subscription[], paid: readonly Stripe.Invoice[]): number {
  const running = subscriptions.filter((subscription) => ["active", "past_due"].includes(statusOf(subscription, paid)));
  return running.reduce((sum, { items }) => {
    const price = items.data[0]?.price;
    return sum + (price?.unit_amount ?? 0) * (price?.recurring?.interval === "year" ? 1 : 12);
  }, 0);
}

/** The overview's figures are those of Stripe's books and of the wallets, and of the raw rows. */
async function checkFigures({ database: { db, pool } }: BillingWorld, twelfths: number): Promise<void> {
  if (!(await addUp(db, { marginMs: 0 }))) throw new Error("the figures are not added up");
  const { rows } = await pool.query<{
    mrr: number;
    moved: number;
    sold: number;
    issued: number;
    left: number;
    balance: number;
    expiring: number;
  }>(
    `select (select coalesce(sum(mrr), 0)::int from daily_subscriptions) as mrr,
       (select coalesce(sum(new + expansion - contraction - churn), 0)::int from daily_subscriptions) as moved,
       (select coalesce(sum(issued), 0)::int from daily_credits where grant_kind in ('plan', 'pack')) as sold,
       (select coalesce(sum(credits), 0)::int from grants where kind in ('plan', 'pack')) as issued,
       (select coalesce(sum(outstanding), 0)::int from daily_credits) as left, (select coalesce(sum(outstanding), 0)::int from credit_expiries) as expiring,
       (select coalesce(sum(balance), 0)::int from wallets) as balance`,
  );
  const [{ mrr, moved, sold, issued, left, expiring, balance } = {}] = rows;
  expectEqual("the recurring revenue", [mrr, moved], [twelfths, twelfths]);
  expectEqual("the credits that were sold", sold, issued);
  expectEqual("the credits that are outstanding", [left, expiring], [balance, balance]);
  expectEqual("what the figures lack", await rebuildFigures(db, { keep: false }), []);
}

/** Our subscriptions, grants and recorded payments against Stripe's. Everything that happened must have been delivered or found. */
export async function checkAgainstStripe(world: BillingWorld, actors: readonly Actor[]): Promise<void> {
  const { payments } = world.deps;
  const names = await priceNames(world);
  let paidCents = 0;
  let twelfths = 0;
  for (const actor of actors) {
    const accounts = world.database.db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", actor.payerId);
    const customer = actor.customer ?? (await accounts.executeTakeFirst())?.stripe_customer_id;
    if (!customer) continue;
    const subscriptions = await payments.subscriptions.list({ customer, status: "all", limit: 100 }).autoPagingToArray({ limit: 1_000 });
    const paid = await payments.invoices.list({ customer, status: "paid", limit: 100 }).autoPagingToArray({ limit: 1_000 });
    const books = { subscriptions, reversedAt: await checkTransfers(world, actor), names, now: world.clock.now() };
    twelfths += recurring(subscriptions, paid);
    paidCents += paid.reduce((sum, invoice) => sum + invoice.amount_paid, 0);
    await checkGrants(world, actor, paid, books);
    await checkUnpaid(world, customer, subscriptions);
    if (actor.state === "gone") expectNoneRuns(actor, subscriptions);
    else {
      await checkMirror(world, actor, paid, books);
      await checkReturns(world, actor, customer);
      await checkInvoices(world, actor, paid);
    }
  }
  const { rows } = await world.database.pool.query<{ cents: number }>(
    "select coalesce(sum(amount_paid_cents), 0)::int as cents from paid_invoices",
  );
  expectEqual("the payments", rows[0]?.cents, paidCents);
  await checkFigures(world, twelfths);
  await checkTrials(world);
}
