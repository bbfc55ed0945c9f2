/** What people, schedules and checks do, as the product does it, for the comparison of a large database with a small one (scale.ts). */
import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { findModel, startOf } from "#domain/models.ts";
import { priceVersion } from "#domain/pricing.ts";
import type { Deps } from "#server/deps.ts";
import { examineAccount } from "#server/features/billing/examine-account.ts";
import { checkDoubledGrants } from "#server/features/billing/grant-checks.ts";
import { createInbox } from "#server/features/billing/inbox.ts";
import { readInvoices } from "#server/features/billing/invoices.ts";
import { readMoneyBack } from "#server/features/billing/money-back.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { tellOfRenewals } from "#server/features/billing/renewal-notices.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { checkSubscription } from "#server/features/billing/service.ts";
import { listReturns } from "#server/features/billing/transfer-returns.ts";
import { receiveTransfer } from "#server/features/billing/transfers.ts";
import { advanceTrials, checkTrials } from "#server/features/billing/trials.ts";
import { readWithdrawals } from "#server/features/billing/withdrawals.ts";
import { tellOfEndings } from "#server/features/catalogue/tell-endings.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import { listConversations } from "#server/features/conversations/service.ts";
import { checkWallets } from "#server/features/credits/check-books.ts";
import { explainBalance } from "#server/features/credits/explanation.ts";
import { readLedger } from "#server/features/credits/history.ts";
import { readLimits, setLimits } from "#server/features/credits/limits.ts";
import { expireDueGrants, readWallet, releaseOverdueHolds } from "#server/features/credits/service.ts";
import { readUsage } from "#server/features/credits/usage.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { addUp } from "#server/features/figures/add-up.ts";
import { readFigures, readWork } from "#server/features/figures/service.ts";
import { listOpenFindings } from "#server/features/findings/service.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import { panelActs } from "./scale-panel.ts";

export interface ScalePerson {
  userId: string;
  payerId: string;
  walletId: string;
  email: string;
  customerId: string;
  subscriptionId: string;
}

const walletsAtOnce = 100;
/** The samples check this many places of the round again and again, so that the first ones warm the pages for the later ones. */
const placesOfRound = 50;
/** The end of the model that everybody used is announced by then. */
const announced = addMilliseconds(startOf(findModel("gpt-5-mini")?.until ?? ""), -10 * dayMs);
const paidAtOnce = 100;

/** Stripe for an hourly run: since the last one `paidAtOnce` invoices were paid, which both databases have. */
export async function startStripe() {
  const server = Fastify();
  const data = Array.from({ length: paidAtOnce }, (_, index) => ({
    id: `evt_${index + 1}_1`,
    object: "event",
    type: "invoice.paid",
    livemode: false,
    created: Math.floor(Date.now() / 1_000) - 3_600,
    data: { object: { id: `in_${index + 1}`, object: "invoice" } },
  }));
  server.get("/v1/events", async () => ({ object: "list", url: "/v1/events", has_more: false, data }));
  return { url: await server.listen({ host: "127.0.0.1", port: 0 }), close: () => server.close() };
}

/** A send, from the hold to the capture, as the product writes it. */
async function send(answers: ReturnType<typeof createAnswerBatches>, userId: string): Promise<void> {
  const id = uuidv7();
  const owner = randomUUID();
  const now = new Date();
  const turn = {
    conversationId: randomUUID(),
    isNew: true,
    title: "What is a tessera?",
    parentId: null,
    questionId: uuidv7(),
    answerId: uuidv7(),
    prompt: "What is a tessera?",
  };
  const start = {
    id,
    userId,
    modelId: "gpt-5-mini",
    idempotencyKey: id,
    requestHash: Buffer.from(id),
    credits: 1,
    priceVersion,
    now,
    owner,
  };
  const limits = { requestsPerMinute: 1_000, concurrentAnswers: 1_000, leaseMs: 60_000, holdMs: 60_000 };
  const { outcome } = await answers.start({
    ...start,
    ...limits,
    kinds: grantKinds,
    refused: false,
    holdId: null,
    turn,
    trimmedMessages: 0,
  });
  if (outcome !== "created") throw new Error(`a send was ${outcome}`);
  const end = {
    id,
    userId,
    owner,
    status: "completed",
    failureCode: null,
    cutShort: false,
    chargedCredits: 1,
    now,
    kinds: grantKinds,
  } as const;
  const counts = { promptTokens: 9, completionTokens: 9, costMicroDollars: 9, lastFrames: undefined };
  const row = await answers.end({ ...end, ...counts, parts: [{ kind: "text", text: "A small piece of a mosaic." }] });
  if (row?.charged_credits !== 1) throw new Error("an answer was not charged");
}

/** Throws if the checks find anything: the books of both databases are in order. */
function expectNothing(found: readonly unknown[]): void {
  if (found.length > 0) throw new Error(`a check found ${JSON.stringify(found.slice(0, 3))}`);
}

async function sweepWhatIsDue(deps: Deps): Promise<void> {
  const now = new Date();
  await dueInstants(deps.db);
  await postDueScheduledGrants(deps, now);
  await expireDueGrants(deps, now);
  await endGracePeriods(deps, now);
  await advanceTrials(deps, now);
  await tellOfRenewals(deps, now);
  await eraseDueAccounts(deps, now);
  await endOrphanedAnswers(deps);
  await releaseOverdueHolds(deps, now);
}

/** The day, as the filters name it. */
function dayAgo(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
}

export type Acts = Record<string, () => Promise<unknown>>;

/** By name. What an hour's or a sweep's work costs begins with "hourly" or "sweeps". Half of the persons have a daily cap; all have an alert. */
export async function actsOf(deps: Deps, persons: readonly ScalePerson[]): Promise<Acts> {
  const { db } = deps;
  const answers = createAnswerBatches(db);
  const inbox = createInbox(deps.pool, false);
  const [capped, free] = [persons.filter((_, index) => index % 2 === 0), persons.filter((_, index) => index % 2 === 1)];
  for (const { userId } of capped)
    await setLimits(db, userId, { dailyCapCredits: 1_000_000, askAboveCredits: 10, alertPercent: 80 }, new Date());
  // Adds up everything that the filling and earlier runs wrote.
  while (!(await addUp(db, { marginMs: 0 })));
  let turn = 0;
  const somebody = (of = persons) => {
    turn += 1;
    const person = of[turn % of.length];
    if (!person) throw new Error("nobody is there");
    return person;
  };
  const moved = () => Array.from({ length: walletsAtOnce }, () => somebody().walletId);
  let place = 0;
  const nextOfRound = async () => {
    place += 1;
    const from = persons[(place % placesOfRound) * Math.floor(persons.length / placesOfRound)]?.walletId ?? "";
    const rows = await db.selectFrom("wallets").select("id").where("id", ">=", from).orderBy("id").limit(walletsAtOnce).execute();
    return rows.map(({ id }) => id);
  };
  const checkBooksOf = async (wallets: readonly string[]) => {
    expectNothing(await checkWallets(deps, wallets));
    expectNothing(await checkDoubledGrants({ deps, by: "hourly" }, wallets));
  };
  const clerk = { userId: somebody().userId, network: "192.0.2.0/24" };
  return {
    wallet: () => readWallet(db, somebody().userId, grantKinds, new Date()),
    history: () => readLedger(db, somebody().userId, undefined, 20),
    "filtered history": () => readLedger(db, somebody().userId, undefined, 20, { model: "gpt-5-mini", direction: "out" }),
    "history of a month": () => readLedger(db, somebody().userId, undefined, 20, { from: dayAgo(30) }),
    "older history": async () => {
      const { userId } = somebody();
      const { nextCursor } = await readLedger(db, userId, undefined, 5);
      if (nextCursor === null) throw new Error("there is no older history");
      await readLedger(db, userId, nextCursor, 5);
    },
    explanation: () => explainBalance(db, somebody().userId),
    "usage of 90 days": () => readUsage(db, somebody().userId, "90d", new Date()),
    "usage of 12 months": () => readUsage(db, somebody().userId, "12m", new Date()),
    conversations: () => listConversations(db, somebody().userId, undefined, 20),
    subscription: () => checkSubscription(deps, somebody().userId),
    invoices: () => readInvoices(db, somebody().userId, {}),
    "contracts and withdrawals": () => readWithdrawals(deps, somebody().userId),
    "transfers to pay back": () => listReturns(db),
    "money back": () => readMoneyBack(deps, somebody().userId),
    "panel: figures of a month": () => readFigures(deps, { range: "30d" }),
    "panel: figures of ten years": () => readFigures(deps, { from: dayAgo(3_600), to: dayAgo(0) }),
    "panel: what waits": () => readWork(deps),
    ...panelActs(deps, somebody),
    "sweeps of the figures": () => addUp(db, { marginMs: 0 }),
    "spending limits": () => readLimits(db, somebody().userId, new Date()),
    send: () => send(answers, somebody(free).userId),
    "send with a daily cap": () => send(answers, somebody(capped).userId),
    // Stripe's ids begin with the time of their object too. Random ids would each touch another page of a large index.
    webhook: () =>
      inbox({ id: `evt_1${uuidv7()}`, type: "invoice.paid", livemode: false, objectId: "in_1", created: 1, payload: '{"object":{}}' }),
    // No transfer can pay this invoice: the server looks for it and refuses.
    "bank transfer": async () => {
      const transfer = { reference: randomUUID(), invoiceId: "in_1", amountCents: 9_999, currency: "usd", reason: "The bank says so." };
      const refused = await receiveTransfer(deps, clerk, transfer).then(
        () => false,
        () => true,
      );
      if (!refused) throw new Error("a transfer was recorded");
    },
    "check of one's payments, without Stripe": () =>
      examineAccount({ deps, by: "doctor" }, { id: somebody().payerId, stripe_customer_id: null, former_customers: [] }).then(
        expectNothing,
      ),
    // The two parts of a run: wallets from everywhere, whose rows are on other pages each, and neighbours.
    [`hourly check of ${walletsAtOnce} wallets that moved`]: () => checkBooksOf(moved()),
    [`hourly check of the next ${walletsAtOnce} wallets of the round`]: async () => checkBooksOf(await nextOfRound()),
    [`hourly reconciliation of ${paidAtOnce} payments`]: async () => {
      await reconcileBilling(deps);
      expectNothing(await listOpenFindings(db, 1));
    },
    "hourly mails about models that end": () =>
      tellOfEndings({ ...deps, clock: { ...deps.clock, now: () => announced } }, new AbortController().signal),
    "hourly check of trials": () => checkTrials(deps).then(expectNothing),
    "hourly deletion of old data": () => sweepRetention(deps, new AbortController().signal),
    "sweeps of what is due": () => sweepWhatIsDue(deps),
  };
}
