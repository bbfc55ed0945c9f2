/** The figures of a quarter are the known true ones, to the cent and the credit, whatever comes late and however often they are added up. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Figures, WorkFigures } from "#contract/figures.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { catalogue } from "#domain/models.ts";
import { priceVersion } from "#domain/pricing.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { readAilingModels } from "#server/features/admin/ailing-models.ts";
import { advanceTrials } from "#server/features/billing/trials.ts";
import { postGrant } from "#server/features/credits/service.ts";
import { addUp } from "#server/features/figures/add-up.ts";
import { rebuildFigures } from "#server/features/figures/rebuild.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import type { BillingWorld } from "#tests/support/billing-stripe.ts";
import { startBillingWorld } from "#tests/support/billing-stripe.ts";
import type { Person } from "#tests/support/billing-world.ts";
import { consentTo } from "#tests/support/consent.ts";
import { customerOf, payerIdOf } from "#tests/support/payers.ts";
import { chargeOf, decideDispute, openDispute } from "#tests/support/returns.ts";

let world: BillingWorld;
let admin: Person;
let user: Person;
let answers: ReturnType<typeof createAnswerBatches>;

/** Everything here is written before it is added up. */
const add = (limit?: number) => addUp(world.database.db, { marginMs: 0, ...(limit === undefined ? {} : { limit }) });
const on = (day: string, hour = 10) => new Date(`2026-${day}T${hour}:00:00Z`);
const goTo = async (day: string, hour?: number) => {
  await world.moveTo(on(day, hour));
  await advanceTrials(world.deps, world.clock.now());
};

interface Told {
  model: string;
  quoted: number;
  charged: number;
  cost: number | null;
  firstTextMs?: number;
  status?: "completed" | "stopped" | "failed";
}

/** Begins an answer as the product writes it, and returns what ends it. */
async function begin(
  { userId }: Person,
  { model, quoted, charged, cost, firstTextMs, status = charged > 0 ? "completed" : "failed" }: Told,
) {
  const [id, owner, now] = [uuidv7(), randomUUID(), world.clock.now()];
  const { outcome } = await answers.start({
    ...{ id, userId, modelId: model, idempotencyKey: id, requestHash: Buffer.from(id), credits: quoted, priceVersion, now, owner },
    ...{ requestsPerMinute: 10_000, concurrentAnswers: 10_000, leaseMs: 60_000, holdMs: 60_000 },
    ...{ kinds: grantKinds, refused: false, holdId: null, trimmedMessages: 0 },
    turn: {
      ...{ conversationId: randomUUID(), isNew: true, title: "A tessera", parentId: null },
      ...{ questionId: randomUUID(), answerId: randomUUID(), prompt: "What is a tessera?" },
    },
  });
  expect(outcome).toBe("created");
  return () =>
    answers.end({
      ...{
        id,
        userId,
        owner,
        status,
        failureCode: null,
        cutShort: false,
        chargedCredits: charged,
        now: world.clock.now(),
        kinds: grantKinds,
      },
      ...{ promptTokens: 1, completionTokens: 1, costMicroDollars: cost, lastFrames: undefined, parts: [], firstTextMs },
    });
}
const answer = async (person: Person, told: Told) => (await begin(person, told))();

async function subscriber(priceId: string): Promise<Person> {
  const person = await world.person();
  await buy(person, priceId);
  return person;
}
async function buy(person: Person, priceId: string): Promise<void> {
  const { url, code } = await world.checkout(person, priceId);
  expect(code).toBe("");
  await world.pay(url);
  await world.settle();
}
const accept = async (path: string, person: Person, payload: object = {}) => {
  const response = await world.post(path, person, payload);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.body === "" ? {} : response.json();
};
async function changePlan(person: Person, priceId: string): Promise<void> {
  const { effectiveAt, amountCents } = await accept("/api/billing/plan-change/preview", person, { priceId });
  await accept("/api/billing/plan-change", person, { priceId, effectiveAt, amountCents });
  await world.settle();
}

async function figures(from: string, to: string, person = admin): Promise<Figures> {
  const response = await world.app.inject({ url: `/api/admin/figures?from=${from}&to=${to}`, headers: person.headers });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

/** A pack's checkout has a form of its own. */
async function buyPack(person: Person, pack: string): Promise<void> {
  const { amountCents } = await accept("/api/billing/order/preview", person, { priceId: pack });
  const { url } = await accept("/api/billing/packs/checkout", person, { pack, consent: { ...consentTo(pack), amountCents } });
  await world.pay(url);
  await world.settle();
}

let lateAnswer: () => Promise<unknown>;

/** January to March. Each step names what it changes of the figures. */
async function liveThroughQuarter(): Promise<void> {
  const { db } = world.database;
  const ada = await subscriber("starter_month"); // 5 January: new 19.99, 300 credits
  const ben = await world.person();
  await accept("/api/billing/trial", ben); // given 50
  await answer(ben, { model: "gpt-6-luna", quoted: 1, charged: 1, cost: 400, firstTextMs: 400 });
  await goTo("01-10");
  await buy(ben, "basic_month"); // new 39.99, 600 credits; the trial is converted
  const cyd = await world.person();
  await accept("/api/billing/trial", cyd); // given 50, which expire
  await goTo("01-20");
  await subscriber("professional_year"); // new 479.90 / 12, 750 credits a month
  await answer(ada, { model: "gpt-6.1-sol", quoted: 5, charged: 5, cost: 30_000, firstTextMs: 900 });
  await answer(ada, { model: "gpt-6.1-sol", quoted: 5, charged: 0, cost: null });
  await add(2);
  await changePlan(ada, "professional_month"); // on 5 February: expansion 30.00, 750 credits
  const customer = await customerOf(db, ben.userId);
  const card = await world.deps.payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
  const [plan] = (await world.deps.payments.subscriptions.list({ customer })).data;
  await world.deps.payments.subscriptions.update(String(plan?.id), { default_payment_method: card.id });
  await goTo("02-01");
  const eve = await subscriber("enterprise_month"); // new 99.99, 1,250 credits
  await answer(eve, { model: "gpt-6.1-sol", quoted: 5, charged: 5, cost: null, firstTextMs: 2_000 });
  await goTo("02-03");
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, eve) }); // 1,250 taken back; 5 are owed
  await world.settle();
  await goTo("02-12"); // ben's renewal failed on the 10th, and he is past due
  await buyPack(ada, "pack_100"); // sold 100
  await add();
  await goTo("02-20"); // ben's grace is over since the 17th: churn 39.99
  const fay = await subscriber("starter_month"); // new 19.99, 300 credits
  const dispute = await openDispute(world, await chargeOf(world, fay));
  await world.settle();
  await goTo("02-25");
  await decideDispute(world, dispute, "lost"); // 300 taken back
  await world.settle();
  await changePlan(eve, "starter_month"); // on 1 March: contraction 80.00, 300 credits
  await accept("/api/billing/cancellation", ada); // on 5 March: churn 49.99
  await world.settle();
  await goTo("03-10");
  await buy(ada, "basic_year"); // new 383.90 / 12, 600 credits
  const payerId = await payerIdOf(db, cyd.userId);
  const gift = { payerId, kind: "adjustment", credits: 40, expiresAt: on("12-31"), key: "gift" } as const;
  await inTransaction(db, (trx) => postGrant(trx, gift, world.clock.now())); // given 40
  await goTo("03-15");
  await changePlan(fay, "starter_year"); // on 20 March: contraction 19.99 − 191.90 / 12, 300 credits
  await answer(ada, { model: "gpt-6-luna", quoted: 1, charged: 1, cost: 300, status: "stopped" });
  lateAnswer = await begin(ada, { model: "grok-imagine-video-1.5", quoted: 50, charged: 50, cost: 1_100_000 });
  await add();
  await add();
  // Stripe's events of the 20th come on the 28th, after the figures of the 20th were looked at.
  await world.moveTo(on("03-28"), { bringing: false });
  await add();
  await world.settle();
  await goTo("03-31", 20);
  await lateAnswer();
}

beforeAll(async () => {
  world = await startBillingWorld({}, on("01-05"));
  answers = createAnswerBatches(world.database.db);
  [admin, user] = [await world.person(), await world.person()];
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
  await liveThroughQuarter();
  expect(await add()).toBe(true);
});
afterAll(() => world.close());

describe("a quarter", () => {
  test("recurring revenue by month: to the cent, annual plans as twelfths", async () => {
    const { unit, starts, revenue } = await figures("2026-01-01", "2026-06-30");
    expect([unit, starts.slice(0, 3)]).toEqual(["month", ["2026-01-01", "2026-02-01", "2026-03-01"]]);
    // Exact: 9,997.17, then 20,996.17, then 10,796.50 cents. What moved is rounded so that it leads from one to the other.
    expect(revenue.buckets.slice(0, 3)).toEqual([
      { start: 0, new: 9_997, expansion: 0, contraction: 0, churn: 0, end: 9_997 },
      { start: 9_997, new: 11_998, expansion: 3_000, contraction: 0, churn: 3_999, end: 20_996 },
      { start: 20_996, new: 3_199, expansion: 0, contraction: 8_399, churn: 4_999, end: 10_797 },
    ]);
    expect(revenue.total.end).toBe(10_797);
  });

  test("each movement stands on the day on which it took effect, also one that was told a week later", async () => {
    const { starts, revenue } = await figures("2026-01-01", "2026-03-31");
    const moved = starts.flatMap((day, index) => {
      const { start, end, ...moves } = revenue.buckets[index] as Figures["revenue"]["total"];
      return start === end ? [] : [[day.slice(5), Object.fromEntries(Object.entries(moves).filter(([, cents]) => cents > 0))]];
    });
    expect(moved).toEqual([
      ["01-05", { new: 1_999 }],
      ["01-10", { new: 3_999 }],
      ["01-20", { new: 3_999 }],
      ["02-01", { new: 9_999 }],
      ["02-05", { expansion: 3_000 }],
      ["02-17", { churn: 3_999 }],
      ["02-20", { new: 1_999 }],
      ["03-01", { contraction: 8_000 }],
      ["03-05", { churn: 4_999 }],
      ["03-10", { new: 3_199 }],
      ["03-20", { contraction: 399 }],
    ]);
  });

  test("running subscriptions by plan", async () => {
    const { subscriptions } = await figures("2026-02-15", "2026-03-31");
    const ofPlans = subscriptions.plans.map(({ planKey, interval, runningBefore, running }) => [
      `${planKey}_${interval}`,
      runningBefore,
      running.at(-1),
    ]);
    expect(ofPlans.sort()).toEqual([
      ["basic_month", 1, 0],
      ["basic_year", 0, 1],
      ["enterprise_month", 1, 0],
      ["professional_month", 1, 0],
      ["professional_year", 1, 1],
      ["starter_month", 0, 1],
      ["starter_year", 0, 1],
    ]);
    const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
    expect([sum(subscriptions.started), sum(subscriptions.ended)]).toEqual([2, 2]);
  });

  test("trials, and those that were converted, on the days on which they began", async () => {
    const { starts, people } = await figures("2026-01-01", "2026-03-31");
    const told = starts.flatMap((day, index) => (people.trials[index] ? [[day, people.trials[index], people.converted[index]]] : []));
    expect(told).toEqual([
      ["2026-01-05", 1, 1],
      ["2026-01-10", 1, 0],
    ]);
  });

  test("credits sold, given, spent, expired, taken back and outstanding: to the credit", async () => {
    const { credits } = await figures("2026-01-01", "2026-03-31");
    const by = Object.fromEntries(credits.kinds.map(({ kind, ...sums }) => [kind, sums]));
    // 300 + 750 + 600 of ada, 600 of ben, 3 × 750 of the year, 1,250 + 300 of eve, 300 + 300 of fay.
    expect(by).toMatchObject({
      plan: { issued: 6_650, clawedBack: 1_550 },
      pack: { issued: 100, spent: 0, outstanding: 100 },
      trial: { issued: 100, spent: 1, expired: 99, outstanding: 0 },
      adjustment: { issued: 40, spent: 0, expired: 0, outstanding: 40 },
    });
    expect(credits.kinds.reduce((sum, { spent }) => sum + spent, 0)).toBe(1 + 5 + 5 + 1 + 50);
    const { rows } = await sql<{ balance: number }>`select sum(balance)::bigint as balance from wallets`.execute(world.database.db);
    const balance = rows[0]?.balance;
    expect(credits.kinds.reduce((sum, { outstanding }) => sum + outstanding, 0)).toBe(balance);
    expect(credits.buckets.at(-1)).toMatchObject({ outstandingGiven: 40, outstandingSold: Number(balance) - 40 });
    expect(credits.expiries.reduce((sum, { sold, given }) => sum + sold + given, 0)).toBe(balance);
    expect(credits.expiries.find(({ month }) => month === "2026-12-01")).toEqual({ month: "2026-12-01", sold: 0, given: 40 });
    expect(credits.expiries.find(({ month }) => month === "2027-02-01")).toEqual({ month: "2027-02-01", sold: 100, given: 0 });
  });

  test("answers by model, with failures, what was sold of their credits and what they cost", async () => {
    const { answers: told } = await figures("2026-01-01", "2026-03-31");
    expect(told.models.find(({ modelId }) => modelId === "gpt-6-luna")?.name).toBe("GPT-6 Luna");
    const by = Object.fromEntries(told.models.map(({ modelId, name: _name, firstText: _times, ...sums }) => [modelId, sums]));
    expect(by).toEqual({
      "gpt-6-luna": { completed: 1, stopped: 1, failed: 0, credits: 2, soldCredits: 1, costMicroDollars: 700, uncosted: 0 },
      "gpt-6.1-sol": { completed: 2, stopped: 0, failed: 1, credits: 10, soldCredits: 10, costMicroDollars: 30_000, uncosted: 1 },
      "grok-imagine-video-1.5": {
        completed: 1,
        stopped: 0,
        failed: 0,
        credits: 50,
        soldCredits: 50,
        costMicroDollars: 1_100_000,
        uncosted: 0,
      },
    });
  });

  test("the time to the first text by model: the median and that of all but a twentieth, to half of a step of a tenth", async () => {
    const { answers: told } = await figures("2026-01-01", "2026-03-31");
    const within = (ms: number) => expect.toSatisfy((known: number) => Math.abs(known / ms - 1) < 0.05);
    expect(Object.fromEntries(told.models.map(({ modelId, firstText }) => [modelId, firstText]))).toEqual({
      "gpt-6-luna": { medianMs: within(400), p95Ms: within(400) },
      "gpt-6.1-sol": { medianMs: within(900), p95Ms: within(2_000) },
      "grok-imagine-video-1.5": null,
    });
    expect(told.firstText).toEqual({ medianMs: within(900), p95Ms: within(2_000) });
  });

  test("beside the equally long range directly before, whose figures are those of the raw rows", async () => {
    const [from, to, beforeFrom, beforeTo] = ["2026-02-15", "2026-03-31", "2026-01-01", "2026-02-14"];
    const [{ headlines, before }, earlier] = [await figures(from, to), await figures(beforeFrom, beforeTo)];
    expect(before).toMatchObject({ from: beforeFrom, to: beforeTo, countedFrom: "2026-01-05" });
    expect(headlines.map(({ before: value }) => value)).toEqual(earlier.headlines.map(({ value }) => value));
    expect([before?.mrrCents, before?.running.at(-1)]).toEqual([earlier.revenue.buckets.map(({ end }) => end), 4]);
    expect([before?.joined, before?.spentCredits, before?.outstandingCredits.at(-1)]).toEqual([
      earlier.people.joined,
      earlier.credits.buckets.map(({ spent }) => spent),
      earlier.headlines.find(({ name }) => name === "credits.outstanding")?.value,
    ]);

    const by = Object.fromEntries(headlines.map(({ name, ...values }) => [name, values]));
    // 19.99 + 30.00 of ada, 39.99, 479.90 / 12 and 99.99.
    expect(by["revenue.mrr"]).toEqual({ value: 10_797, before: 22_996, change: -12_199, changePercent: -53 });
    expect(by["revenue.churn"]).toMatchObject({ value: 3_999 + 4_999, before: 0, change: 8_998, changePercent: null });
    expect(by["people.conversion"]).toEqual({ value: null, before: 50, change: null, changePercent: null });
    const { rows } = await sql<Record<string, number>>`select
        (select -sum(amount) from ledger_entries e join grants g on g.id = e.grant_id join ledger_transactions t on t.id = e.transaction_id
          where account = 'issued' and g.kind in ('plan', 'pack') and t.occurred_at between ${beforeFrom} and ${from})::int as "credits.sold",
        (select sum(amount) from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
          where account = 'spent' and t.occurred_at between ${beforeFrom} and ${from})::int as "credits.spent",
        (select sum(amount) from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
          where account = 'wallet' and t.occurred_at < ${from})::int as "credits.outstanding",
        (select count(*) from generations where ended_at between ${beforeFrom} and ${from})::int as "answers.answers",
        (select round(1000.0 * count(*) filter (where status = 'failed') / count(*)) / 10 from generations
          where ended_at between ${beforeFrom} and ${from})::float8 as "answers.failures",
        (select round(sum(cost_micro_dollars) / 10000) from generations where ended_at between ${beforeFrom} and ${from})::int as "answers.cost"`.execute(
      world.database.db,
    );
    expect(Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, by[name]?.before]))).toEqual(rows[0]);
    expect(by["answers.failures"]).toMatchObject({ before: 25, change: -25, changePercent: null });

    // Before the first day there is nothing to compare with.
    const { before: none, headlines: alone } = await figures("2026-01-01", "2026-03-31");
    expect([none, alone.every(({ before: value, change }) => value === null && change === null)]).toEqual([null, true]);
    const csv = await world.app.inject({ url: `/api/admin/figures.csv?from=${from}&to=${to}`, headers: admin.headers });
    const lines = csv.body.split("\r\n");
    expect(lines[0]).toMatch(/from,to,beforeFrom,beforeTo,name,unit,value,before,change,changePercent$/);
    expect(lines[1]).toBe(`"${from}","${to}","${beforeFrom}","${beforeTo}","revenue.mrr","cents",10797,22996,-12199,-53`);
    expect(lines).toHaveLength(headlines.length + 2);
  });

  test("people: who joined and who left", async () => {
    const left = await world.person();
    await world.database.asOwner(
      `update users set delete_at = now() where id = '${left.userId}'`,
      `delete from users where id = '${left.userId}'`,
    );
    await add();
    const { rows } = await sql<{ all: number; here: number; today: string }>`select (select count(*) from billing_accounts) as all,
      (select count(*) from users) as here, (business_now() at time zone 'UTC')::date::text as today`.execute(world.database.db);
    const [row] = rows;
    const { people } = await figures(row?.today ?? "", row?.today ?? "");
    expect(people).toMatchObject({ before: 0, joined: [row?.all], left: [Number(row?.all) - Number(row?.here)] });
  });
});

describe("the sums", () => {
  const snapshot = async () => {
    const tables = [
      "daily_credits",
      "credit_expiries",
      "daily_answers",
      "daily_first_texts",
      "daily_subscriptions",
      "daily_people",
      "daily_departures",
    ];
    const read = async (table: string) => (await sql`select * from ${sql.table(table)} order by 1, 2`.execute(world.database.db)).rows;
    return Promise.all(tables.map(read));
  };

  test("are those of the raw rows, after a second run and after a rebuild", async () => {
    const before = await snapshot();
    expect(await add(1)).toBe(true);
    expect(await snapshot()).toEqual(before);
    expect(await rebuildFigures(world.database.db, { keep: true })).toEqual([]);
    expect(await add()).toBe(true);
    expect(await rebuildFigures(world.database.db, { keep: false })).toEqual([]);
  });

  test("count no row that is young, or that a running transaction may still be writing, and count it once when it has settled", async () => {
    const { db, pool } = world.database;
    const count = async () =>
      Number((await sql<{ joined: number }>`select sum(joined)::bigint as joined from daily_people`.execute(db)).rows[0]?.joined);
    /** Adds up until everything from before the call is in: a transaction of somebody else's may hold it up for a moment. */
    const addAll = async () => {
      const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
      const mark = db.selectFrom("figure_marks").select("complete_until").where("source", "=", "people");
      do await add();
      while (((await mark.executeTakeFirstOrThrow()).complete_until ?? 0) < (rows[0]?.now ?? 0));
    };
    await addAll();
    const counted = await count();
    const slow = await pool.connect();
    try {
      await slow.query("begin");
      // Ids count milliseconds, so a row written in the one in which the transaction began would pass for older. The product keeps a minute between.
      await delay(2);
      await world.person();
      expect(await addUp(db)).toBe(true);
      expect(await count()).toBe(counted);
      // Its start is before the row, which it could have written itself.
      await add();
      expect(await count()).toBe(counted);
      await slow.query("commit");
    } finally {
      slow.release();
    }
    await addAll();
    await addAll();
    expect(await count()).toBe(counted + 1);
  });

  test("planted damage is found where it is, and put right", async () => {
    const damages = [
      // A plan counted twice, a twelfth of a cent too much, a credit too few, a lost day, a failed answer not counted, a wrong time.
      [
        "daily_subscriptions 2026-01-20 professional year",
        "update daily_subscriptions set running = running + 1 where day = '2026-01-20' and plan_key = 'professional'",
      ],
      ["daily_subscriptions 2026-02-01 enterprise month", "update daily_subscriptions set mrr = mrr + 1 where day = '2026-02-01'"],
      ["credit_expiries 2026-12-31 adjustment", "update credit_expiries set outstanding = outstanding - 1 where expires_on = '2026-12-31'"],
      ["daily_credits 2026-02-12 pack", "delete from daily_credits where day = '2026-02-12'"],
      ["daily_answers 2026-01-20 gpt-6.1-sol", "update daily_answers set failed = 0 where failed > 0"],
      ["daily_first_texts 2026-01-20 gpt-6.1-sol 72", "update daily_first_texts set answers = 2 where bucket = 72"],
    ] as const;
    await world.database.asOwner(...damages.map(([, statement]) => statement));
    const found = await rebuildFigures(world.database.db, { keep: false });
    expect(found.map(({ sum }) => sum)).toEqual(damages.map(([sum]) => sum).toSorted());
    expect(await rebuildFigures(world.database.db, { keep: true })).toEqual(found);
    expect(await rebuildFigures(world.database.db, { keep: false })).toEqual([]);
  });
});

test("nobody but an admin gets a figure, and no range is endless or backwards", async () => {
  const days = "from=2026-01-01&to=2026-01-02";
  for (const path of [`/api/admin/figures?${days}`, `/api/admin/figures.csv?${days}`, "/api/admin/work"]) {
    expect((await world.app.inject({ url: path, headers: user.headers })).statusCode).toBe(404);
    expect((await world.app.inject({ url: path })).statusCode).toBe(401);
  }
  for (const range of ["", "from=2026-02-01&to=2026-01-01", "from=1990-01-01&to=2026-01-01", "from=2026-02-31&to=2026-03-01"])
    expect((await world.app.inject({ url: `/api/admin/figures?${range}`, headers: admin.headers })).statusCode).toBe(400);
});

test("what waits, and how the providers answer", async () => {
  const response = await world.app.inject({ url: "/api/admin/work", headers: admin.headers });
  const work = response.json<WorkFigures>();
  expect(work).toMatchObject({
    deadLetters: { count: 0, isMore: false },
    running: { count: 0 },
    stripeEvents: { count: 0, oldestAt: null },
  });
  expect(work.jobs.count).toBeGreaterThan(0);
  expect(work.providers.find(({ provider }) => provider === "openai")).toMatchObject({ answers: 5, failed: 1, paused: [] });
  expect(work.at).toBe(world.clock.now().toISOString());
});

test("a model of which half of the newest answers failed needs somebody, and so does one that leaves within a week", async () => {
  const asked = catalogue.find(({ id }) => id === "mistral-medium-3-5") ?? expect.fail("it has gone from the catalogue");
  const leaves = catalogue.find(({ id }) => id === "gpt-5") ?? expect.fail("it has gone from the catalogue");
  const person = await subscriber("starter_month");
  // The installation has credentials of every provider.
  const models = { ...world.deps.models, isAvailable: () => true };
  const ailingOn = (day = "", days = 0) => {
    const now = addMilliseconds(new Date(`${day}T10:00:00Z`), days * dayMs);
    return readAilingModels({ ...world.deps, models, clock: { ...world.deps.clock, now: () => now } });
  };
  const told = { model: asked.id, quoted: 1, cost: 0 };
  for (let failed = 0; failed < 3; failed += 1) await answer(person, { ...told, charged: 0 });
  expect((await ailingOn(asked.from)).map(({ id }) => id)).not.toContain(asked.id);
  for (let completed = 0; completed < 3; completed += 1) await answer(person, { ...told, charged: 1 });
  expect((await ailingOn(asked.from))[0]).toMatchObject({ id: asked.id, why: "failing", answers: 6, failed: 3 });
  const ending = expect.objectContaining({ id: leaves.id, why: "ending", until: leaves.until });
  expect([await ailingOn(leaves.until, -9), await ailingOn(leaves.until, -6)]).toEqual([
    expect.not.arrayContaining([ending]),
    expect.arrayContaining([ending]),
  ]);
});
