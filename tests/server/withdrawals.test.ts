/** The right of withdrawal: for each contract, within its period, once, for the unspent share, and never with a debt (decision 53). */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Contract, Withdrawals } from "#contract/billing/withdrawals.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { creditsToTake, withdrawalCents, withdrawalUntil } from "#domain/refunds.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { seededRandom } from "../support/ledger-model.ts";
import { chargeOf, decideDispute, mailsTo, openDispute, spend, subscribe, walletOf } from "../support/returns.ts";

const path = "/api/billing/withdrawals";
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

async function contractsOf({ headers }: Person): Promise<Contract[]> {
  return (await world.app.inject({ url: path, headers })).json<Withdrawals>().contracts;
}

/** The newest of this kind. */
async function contractOf(person: Person, kind: "plan" | "pack" = "plan"): Promise<Contract> {
  const contract = (await contractsOf(person)).find(({ subject }) => subject.kind === kind);
  if (!contract) throw new Error(`no contract about a ${kind}`);
  return contract;
}

const withdraw = (person: Person, contractId: string) => world.post(path, person, { contractId });
const codeOf = async (person: Person, contractId: string) => (await withdraw(person, contractId)).json<{ code: string }>().code;

/** Does the jobs that pay back. */
async function runJobs(): Promise<void> {
  const requests = await world.database.db.selectFrom("money_backs").select("id").where("done_at", "is", null).execute();
  for (const { id } of requests) await payBack(world.deps, id);
  await world.settle();
}

async function buyPack(person: Person, pack: string): Promise<void> {
  const { url } = (await world.post("/api/billing/packs/checkout", person, { pack, consent: consentTo(pack) })).json<{ url: string }>();
  await world.pay(url);
  await world.settle();
}

const refundsOf = async (charge: string) => (await world.deps.payments.refunds.list({ charge })).data.map(({ amount }) => amount);

async function isSubscribed(person: Person): Promise<boolean> {
  return (await world.post("/api/functions/reliable-subscription-check", person)).json<{ subscribed: boolean }>().subscribed;
}

test("the period ends with the fourteenth day after the conclusion", () => {
  expect(withdrawalUntil(new Date("2026-03-10T00:00:00Z"))).toEqual(new Date("2026-03-24T23:59:59.999Z"));
  expect(withdrawalUntil(new Date("2026-12-20T23:59:59Z"))).toEqual(new Date("2027-01-03T23:59:59.999Z"));
});

test("whatever the price and what went back before, the refund takes no credit that was used, and is rounded up where a credit costs a cent", () => {
  const random = seededRandom(20_260_619);
  for (let run = 0; run < 20_000; run++) {
    const granted = 1 + random(run % 2 === 0 ? 40 : 15_000);
    const paidCents = 1 + random(run % 3 === 0 ? 60 : 99_991);
    const returnedCents = random(4) === 0 ? random(paidCents) : 0;
    const [takenBefore = 0] = creditsToTake([granted], returnedCents, paidCents);
    const used = random(granted - takenBefore + 1);
    const cents = withdrawalCents({ paidCents, returnedCents, granted, used });
    const [taken = 0] = creditsToTake([granted], returnedCents + cents, paidCents);
    const unspent = granted - used;
    expect(cents).toBeGreaterThanOrEqual(0);
    expect(returnedCents + cents).toBeLessThanOrEqual(paidCents);
    expect(taken, JSON.stringify({ granted, paidCents, returnedCents, used })).toBeLessThanOrEqual(unspent);
    if (paidCents < granted || cents === 0) continue;
    expect(taken).toBe(unspent);
    expect(returnedCents + cents).toBe(Math.ceil((paidCents * unspent) / granted));
  }
});

test("pays back the unspent share of a plan once, ends it at once, leaves no debt, and acknowledges it with content and time", async () => {
  const person = await subscribe(world);
  await world.database.db.updateTable("users").set({ name: "Ada Lovelace" }).where("id", "=", person.userId).execute();
  // Over the fifth that the guarantee allows.
  await spend(world, person, 101);
  const amountCents = Math.ceil((1999 * 199) / 300);
  const open = await contractOf(person);
  expect(open).toMatchObject({ subject: { kind: "plan", plan: "starter", interval: "month" }, state: "open", amountCents });
  expect(open).toMatchObject({ unspentCredits: 199, grantedCredits: 300, withdrawnAt: null });
  const answers = await Promise.all(Array.from({ length: 5 }, () => withdraw(person, open.id)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 202, 202]);
  const receivedAt = world.clock.now().toISOString();
  expect(answers.map((answer) => answer.json<Contract>().withdrawnAt)).toEqual(Array.from({ length: 5 }, () => receivedAt));
  await Promise.all([runJobs(), runJobs().catch(() => {})]);
  await runJobs();
  expect(await refundsOf(await chargeOf(world, person))).toEqual([amountCents]);
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
  expect(await isSubscribed(person)).toBe(false);
  const { email } = person;
  expect(await mailsTo(world, person, "withdrawal-received")).toEqual([
    {
      template: "withdrawal-received",
      plan: "starter",
      interval: "month",
      name: "Ada Lovelace",
      email,
      concludedAt: open.concludedAt,
      receivedAt,
      amountCents,
    },
  ]);
  const acts = await world.database.db.selectFrom("audit_events").select("details").where("action", "=", "contract.withdrawn").execute();
  expect(acts).toEqual([{ details: { amountCents } }]);
  expect(await contractOf(person)).toMatchObject({ state: "withdrawn", amountCents, withdrawnAt: receivedAt });
  const guarantee = await world.post("/api/billing/money-back", person);
  expect(guarantee.json()).toMatchObject({ code: "nothing_to_refund" });
});

test("from a pack alone: its unspent credits go, and plan and other credits stay; each pack once", async () => {
  const person = await subscribe(world);
  await buyPack(person, "pack_100");
  await spend(world, person, 337);
  const pack = await contractOf(person, "pack");
  const amountCents = Math.ceil((799 * 63) / 100);
  expect(pack).toMatchObject({ subject: { kind: "pack", credits: 100 }, amountCents, unspentCredits: 63 });
  await buyPack(person, "pack_250");
  expect((await withdraw(person, pack.id)).json()).toMatchObject({ state: "withdrawn" });
  await runJobs();
  expect(await walletOf(world, person)).toMatchObject({ balance: 250 });
  expect(await isSubscribed(person)).toBe(true);
  const plan = await contractOf(person);
  expect(plan).toMatchObject({ state: "used", amountCents: 0 });
  expect(await codeOf(person, plan.id)).toBe("withdrawal_used");
  // Both packs were bought in the same moment.
  const other = (await contractsOf(person)).find(({ id, subject }) => subject.kind === "pack" && id !== pack.id) ?? plan;
  expect(other).toMatchObject({ state: "open", amountCents: 1799 });
  expect((await withdraw(person, other.id)).statusCode).toBe(202);
  await runJobs();
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
  const mails = await mailsTo(world, person, "withdrawal-received");
  expect(mails).toMatchObject([
    { variant: "pack", credits: 100, amountCents },
    { variant: "pack", credits: 250, amountCents: 1799 },
  ]);
});

test("of an annual plan the months to come are unspent, and none of them comes", async () => {
  const person = await subscribe(world, "starter_year");
  await spend(world, person, 7);
  const contract = await contractOf(person);
  expect(contract).toMatchObject({ grantedCredits: 3600, unspentCredits: 3593, amountCents: Math.ceil((19_190 * 3593) / 3600) });
  await withdraw(person, contract.id);
  await runJobs();
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
  await world.moveTo(addMilliseconds(world.clock.now(), 65 * dayMs));
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
});

test("what was refunded before is taken into account, and what the guarantee pays back can't be had twice", async () => {
  const person = await subscribe(world);
  const charge = await chargeOf(world, person);
  await world.deps.payments.refunds.create({ charge, amount: 333 }, { idempotencyKey: randomUUID() });
  await world.settle();
  await spend(world, person, 100);
  const contract = await contractOf(person);
  expect(contract).toMatchObject({ unspentCredits: 200, amountCents: Math.ceil((1999 * 200) / 300) - 333 });
  await withdraw(person, contract.id);
  await runJobs();
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });

  const other = await subscribe(world);
  const { id } = await contractOf(other);
  expect((await world.post("/api/billing/money-back", other)).statusCode).toBe(202);
  expect(await contractOf(other)).toMatchObject({ state: "asked", amountCents: 1999 });
  expect(await codeOf(other, id)).toBe("nothing_to_refund");
  await runJobs();
  expect(await contractOf(other)).toMatchObject({ state: "returned" });
});

test("a disputed payment is the bank's; another person's contract does not exist", async () => {
  const person = await subscribe(world);
  const { id } = await contractOf(person);
  const dispute = await openDispute(world, await chargeOf(world, person));
  await world.settle();
  expect(await contractOf(person)).toMatchObject({ state: "disputed" });
  expect(await codeOf(person, id)).toBe("payment_disputed");
  await decideDispute(world, dispute, "won");
  await world.settle();
  expect(await contractOf(person)).toMatchObject({ state: "open" });
  const stranger = await world.person();
  expect(await contractsOf(stranger)).toEqual([]);
  expect((await withdraw(stranger, id)).statusCode).toBe(404);
  expect((await withdraw({ ...person, headers: { authorization: "" } }, id)).statusCode).toBe(401);
});

test("asks for no factor, is accepted in the last moment and refused after it, and a renewal is no new contract", async () => {
  const early = await subscribe(world);
  const late = await subscribe(world);
  await world.database.asOwner(`update auth_sessions set proved_at = proved_at - interval '11 minutes' where user_id = '${early.userId}'`);
  const [first, second] = [await contractOf(early), await contractOf(late)];
  const until = new Date(second.until);
  await world.moveTo(until);
  expect((await withdraw(early, first.id)).statusCode).toBe(202);
  world.clock.moveTo(addMilliseconds(until, 1));
  expect(await contractsOf(late)).toEqual([]);
  expect(await codeOf(late, second.id)).toBe("withdrawal_too_late");
  await world.moveTo(addMilliseconds(until, 25 * dayMs));
  await runJobs();
  expect(await isSubscribed(late)).toBe(true);
  expect(await contractsOf(late)).toEqual([]);
});
