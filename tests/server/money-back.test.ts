/** The money-back guarantee: once, within its days and its share, and only for the first payment. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { MoneyBack } from "#contract/billing/money-back.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { moneyBackAllowance, moneyBackRefusal, moneyBackUntil } from "#domain/refunds.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { clawBack, findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { chargeOf, decideDispute, mailsTo, openDispute, spend, subscribe, walletOf } from "../support/returns.ts";

const path = "/api/billing/money-back";
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

const ask = (person: Person) => world.post(path, person);
const codeOf = async (person: Person) => (await ask(person)).json<{ code: string }>().code;

async function shown({ headers }: Person): Promise<MoneyBack> {
  const { moneyBack } = (await world.app.inject({ url: path, headers })).json<{ moneyBack: MoneyBack }>();
  return moneyBack;
}

/** Does the jobs that pay back. */
async function runJobs(): Promise<void> {
  const { db } = world.database;
  const requests = await db.selectFrom("money_backs").select("id").where("done_at", "is", null).execute();
  for (const { id } of requests) await payBack(world.deps, id);
  await world.settle();
}

test("the last moment is 14 days after the payment, and a fifth of the credits may be spent", () => {
  const paidAt = new Date("2026-03-10T09:30:00Z");
  const until = moneyBackUntil(paidAt);
  expect(until).toEqual(new Date("2026-03-24T09:30:00Z"));
  const fresh = { granted: 300, spent: 0 };
  expect([moneyBackRefusal(paidAt, fresh, until), moneyBackRefusal(paidAt, fresh, addMilliseconds(until, 1))]).toEqual([null, "too_late"]);
  expect(moneyBackAllowance(300)).toBe(60);
  expect(moneyBackRefusal(paidAt, { granted: 300, spent: 60 }, paidAt)).toBeNull();
  expect(moneyBackRefusal(paidAt, { granted: 300, spent: 61 }, paidAt)).toBe("used");
});

test("says the rule and the sum before; five at once are one refund; the plan ends at once and what was spent stays owed", async () => {
  const person = await subscribe(world);
  await spend(world, person, 60);
  expect(await shown(person)).toMatchObject({ state: "open", amountCents: 1999, spentCredits: 60, allowedCredits: 60 });
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(person)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 202, 202]);
  expect(await shown(person)).toMatchObject({ state: "asked", amountCents: 1999 });
  await Promise.all([runJobs(), runJobs().catch(() => {})]);
  await runJobs();
  const charge = await chargeOf(world, person);
  expect((await world.deps.payments.refunds.list({ charge })).data).toMatchObject([{ amount: 1999, status: "succeeded" }]);
  expect(await shown(person)).toMatchObject({ state: "returned" });
  expect(await walletOf(world, person)).toMatchObject({ balance: -60, available: 0 });
  const check = (await world.post("/api/functions/reliable-subscription-check", person)).json();
  expect(check).toMatchObject({ subscribed: false, status: "canceled" });
  expect(await mailsTo(world, person, "payment-refunded")).toHaveLength(1);
  expect(await codeOf(person)).toBe("nothing_to_refund");
  const acts = await world.database.db.selectFrom("audit_events").select("details").where("action", "=", "money_back.asked").execute();
  expect(acts).toEqual([{ details: { amountCents: 1999 } }]);
});

test("the refund's mail counts what was taken for it before, by the reason and whatever the key is, and nothing else", async () => {
  const person = await subscribe(world);
  const charge = await chargeOf(world, person);
  const { db } = world.database;
  const { id: grantId } = await db.selectFrom("grants").select("id").where("charge_id", "=", charge).executeTakeFirstOrThrow();
  const take = (inAll: number, reason: "other" | "guarantee") =>
    inTransaction(db, (trx) => clawBack(trx, { grantId, inAll, reason, key: `taken by hand:${inAll}:${grantId}` }, world.clock.now()));
  await take(40, "other");
  await take(300, "guarantee");
  await world.deps.payments.refunds.create({ charge });
  await world.settle();
  expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([{ credits: 260, left: 0 }]);
});

test("what was asked back can't be spent until it has gone back; the refund's mail says what was taken", async () => {
  const person = await subscribe(world);
  await spend(world, person, 20);
  expect((await ask(person)).statusCode).toBe(202);
  expect(await walletOf(world, person)).toMatchObject({ balance: -20, available: 0 });
  await expect(spend(world, person, 1)).rejects.toThrow();
  await runJobs();
  expect(await walletOf(world, person)).toMatchObject({ balance: -20, available: 0 });
  expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([{ credits: 300, left: -20 }]);
});

test("a part that the team refunded meanwhile is not paid twice: the rest goes back", async () => {
  const person = await subscribe(world);
  expect((await ask(person)).statusCode).toBe(202);
  const charge = await chargeOf(world, person);
  await world.deps.payments.refunds.create({ charge, amount: 500 });
  await runJobs();
  await runJobs();
  const { data } = await world.deps.payments.refunds.list({ charge });
  expect(data.map(({ amount }) => amount).sort()).toEqual([1499, 500]);
  expect(await shown(person)).toMatchObject({ state: "returned" });
  expect((await walletOf(world, person)).balance).toBe(0);
});

test("a payment whose dispute was opened meanwhile waits for the bank; if the cardholder wins, nothing is left to pay back", async () => {
  const person = await subscribe(world);
  expect((await ask(person)).statusCode).toBe(202);
  const charge = await chargeOf(world, person);
  const dispute = await openDispute(world, charge);
  await expect(runJobs()).rejects.toThrow(/charged back/);
  await decideDispute(world, dispute, "lost");
  await runJobs();
  expect((await world.deps.payments.refunds.list({ charge })).data).toEqual([]);
  expect(await shown(person)).toMatchObject({ state: "returned" });
  const open = await world.database.db.selectFrom("money_backs").select("id").where("done_at", "is", null).execute();
  expect(open).toEqual([]);
});

test("over the share it is refused with the reason, and nothing is written", async () => {
  const person = await subscribe(world);
  await spend(world, person, 61);
  expect(await shown(person)).toMatchObject({ state: "used" });
  expect(await codeOf(person)).toBe("money_back_used");
  expect(await walletOf(world, person)).toMatchObject({ balance: 239 });
});

test("who never paid has nothing to take back; a disputed payment is the bank's", async () => {
  const stranger = await world.person();
  expect(await shown(stranger)).toBeNull();
  expect(await codeOf(stranger)).toBe("nothing_to_refund");
  expect((await ask({ ...stranger, headers: { authorization: "" } })).statusCode).toBe(401);
  const person = await subscribe(world);
  const dispute = await openDispute(world, await chargeOf(world, person));
  await world.settle();
  expect(await shown(person)).toMatchObject({ state: "disputed" });
  expect(await codeOf(person)).toBe("nothing_to_refund");
  await decideDispute(world, dispute, "won");
  await world.settle();
  expect(await shown(person)).toMatchObject({ state: "open" });
});

test("asks for a factor that was shown a short while ago", async () => {
  const person = await subscribe(world);
  await world.database.asOwner(`update auth_sessions set proved_at = proved_at - interval '11 minutes' where user_id = '${person.userId}'`);
  expect(await codeOf(person)).toBe("step_up_required");
  expect(await shown(person)).toMatchObject({ state: "open" });
});

test("of an annual plan all of the year goes back, and no month comes after it", async () => {
  const person = await subscribe(world, "starter_year");
  expect((await ask(person)).json()).toMatchObject({ amountCents: 19_190, state: "asked" });
  await runJobs();
  const open = await world.database.db
    .selectFrom("scheduled_grants")
    .select("key")
    .where("charge_id", "=", await chargeOf(world, person))
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .execute();
  expect(open).toEqual([]);
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
});

test("on the last moment it is accepted, a second later refused; a renewal never counts", async () => {
  const early = await subscribe(world);
  const late = await subscribe(world);
  const until = new Date((await shown(late)).until);
  await world.moveTo(until);
  expect((await ask(early)).statusCode).toBe(202);
  world.clock.moveTo(addMilliseconds(until, 1_000));
  expect(await shown(late)).toMatchObject({ state: "too_late" });
  expect(await codeOf(late)).toBe("money_back_too_late");
  await world.moveTo(addMilliseconds(until, 25 * dayMs));
  await world.settle();
  expect(await codeOf(late)).toBe("money_back_too_late");
});
