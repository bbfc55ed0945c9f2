/** The limits a person sets for their own spending: a daily cap that parallel sends can't pass, and a price from which they are asked. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plans } from "#domain/plans.ts";
import { migrationNames } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { readLimits, setLimits } from "#server/features/credits/limits.ts";
import type { AnswerBatches } from "#server/features/generations/batches.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { startTogether } from "#server/features/generations/service.ts";
import type { StartRow } from "#server/features/generations/starts.ts";
import { callStart } from "#server/features/generations/starts.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, send, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { startOf } from "#tests/support/starts.ts";
import { createAuthApp } from "./auth-support.ts";

let world: AnswerWorld;
let api: AnswerWorld["api"];
let database: AnswerWorld["database"];
let answers: AnswerBatches;
beforeAll(async () => {
  world = await startAnswerWorld();
  ({ api, database } = world);
  world.models.pace.milliseconds = 0;
  answers = createAnswerBatches(database.db);
});
afterAll(() => world.close());

const midday = new Date("2026-03-10T12:00:00Z");
const cap = (person: TestPerson, dailyCapCredits: number | null, now = midday) =>
  setLimits(database.db, person.userId, { dailyCapCredits, askAboveCredits: null }, now);
const today = async (person: TestPerson, now = midday) => (await readLimits(database.db, person.userId, now)).todayCredits;
const begin = (person: TestPerson, credits = 1, now = midday): StartRow => ({
  ...startOf(person.userId, null),
  ...{ credits, now, requestsPerMinute: 10_000, concurrentAnswers: 10_000 },
});
const start = async (row: StartRow) => (await answers.start(row)).outcome;

async function end({ id, owner, now }: StartRow, chargedCredits: number): Promise<void> {
  const status = chargedCredits > 0 ? ("completed" as const) : ("failed" as const);
  const told = { failureCode: null, cutShort: false, parts: [], promptTokens: 1, completionTokens: 1, costMicroDollars: null };
  await answers.end({ ...told, id, owner, status, chargedCredits, lastFrames: undefined, kinds: ["adjustment"], now });
}

describe("the daily cap", () => {
  test("of fifty sends at once at a cap of twenty credits twenty are accepted, and only these hold credits", async () => {
    const person = await createPerson(api, database.db, { credits: 100 });
    await cap(person, 20);
    const rows = Array.from({ length: 50 }, () => begin(person));
    // Half of them one by one, as those that are left out of a shared statement.
    const outcomes = await Promise.all(
      rows.map(async (row, index) => (index % 2 === 0 ? await start(row) : (await callStart(database.db, row)).outcome)),
    );
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === "daily_cap_reached")).toHaveLength(30);
    expect(await today(person)).toBe(20);
    const wallet = database.db.selectFrom("wallets").select("held").where("id", "=", person.walletId);
    expect(await wallet.executeTakeFirst()).toEqual({ held: 20 });
  });

  test("counts what is held, and gives back once what is not charged", async () => {
    const person = await createPerson(api, database.db, { credits: 100 });
    await cap(person, 10);
    const [failed, charged] = [begin(person, 5), begin(person, 5)];
    expect([await start(failed), await start(charged), await start(begin(person))]).toEqual(["created", "created", "daily_cap_reached"]);
    await end(charged, 5);
    expect(await start(begin(person))).toBe("daily_cap_reached");
    await end(failed, 0);
    await end(failed, 0);
    expect(await today(person)).toBe(5);
    expect([await start(begin(person, 6)), await start(begin(person, 5))]).toEqual(["daily_cap_reached", "created"]);
  });

  test("begins anew at midnight UTC, and an answer of the day before gives nothing back to the new day", async () => {
    const person = await createPerson(api, database.db, { credits: 100 });
    const [late, early] = [new Date("2026-03-10T23:59:59.999Z"), new Date("2026-03-11T00:00:00Z")];
    await cap(person, 5, late);
    const before = begin(person, 5, late);
    expect([await start(before), await start(begin(person, 1, late))]).toEqual(["created", "daily_cap_reached"]);
    expect([await today(person, late), await today(person, early)]).toEqual([5, 0]);
    expect(await start(begin(person, 4, early))).toBe("created");
    await end({ ...before, now: early }, 0);
    expect(await today(person, early)).toBe(4);
    // A process whose clock is a little behind does not turn the day back.
    expect([await start(begin(person, 2, late)), await start(begin(person, 1, late))]).toEqual(["daily_cap_reached", "created"]);
  });

  test("set in the middle of a day counts what the day has cost and holds by then; without it nothing is counted", async () => {
    const person = await createPerson(api, database.db, { credits: 100 });
    const [charged, failed, running] = [begin(person, 2), begin(person, 3), begin(person, 4)];
    for (const row of [charged, failed, running]) expect(await start(row)).toBe("created");
    await end(charged, 2);
    await end(failed, 0);
    expect(await cap(person, 7)).toEqual({ dailyCapCredits: 7, askAboveCredits: null, alertPercent: 80, todayCredits: 6 });
    expect([await start(begin(person, 2)), await start(begin(person, 1))]).toEqual(["daily_cap_reached", "created"]);
    expect(await cap(person, null)).toEqual({ dailyCapCredits: null, askAboveCredits: null, alertPercent: 80, todayCredits: null });
    expect(await start(begin(person, 50))).toBe("created");
    await end(running, 4);
    expect((await cap(person, 1000)).todayCredits).toBe(2 + 4 + 1 + 50);
  });

  test("set while sends are under way counts each of them once", async () => {
    const person = await createPerson(api, database.db, { credits: 100 });
    const rows = Array.from({ length: 30 }, () => begin(person));
    const [outcomes] = await Promise.all([Promise.all(rows.map(start)), cap(person, 20), cap(person, 20), cap(person, 20)]);
    const created = outcomes.filter((outcome) => outcome === "created").length;
    expect(created).toBeGreaterThanOrEqual(20);
    expect(await today(person)).toBe(created);
  });

  test("is each person's own, and a send that it refuses is told so, writes nothing and can be repeated with its key", async () => {
    const [person, other] = [await createPerson(api, database.db), await createPerson(api, database.db)];
    const now = api.deps.clock.now();
    await cap(person, 1, now);
    expect((await ask(api, person)).receipt?.status).toBe("completed");
    const key = randomUUID();
    const refused = await send(api, person, {}, { key });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "daily_cap_reached" }]);
    expect((await ask(api, other)).receipt?.status).toBe("completed");
    expect(await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).execute()).toHaveLength(1);
    await cap(person, 2, now);
    expect((await ask(api, person, {}, { key })).receipt?.status).toBe("completed");
  });

  test("refuses questions asked together that would pass it, all of them", async () => {
    const person = await createPerson(api, database.db, { credits: 20, plan: "enterprise" });
    const now = api.deps.clock.now();
    await cap(person, 5, now);
    const lone = (model: string, quotedCredits: number) => ({
      idempotencyKey: randomUUID(),
      request: { model, prompt: "Hello", quotedCredits },
    });
    await expect(
      startTogether(api.deps, api.answers, person.userId, [lone("gpt-6-luna", 1), lone("gpt-6.1-sol", 5)]),
    ).rejects.toMatchObject({
      code: "daily_cap_reached",
    });
    expect(await today(person, now)).toBe(0);
    expect(await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
    await setLimits(database.db, person.userId, { dailyCapCredits: null, askAboveCredits: 5 }, now);
    await expect(
      startTogether(api.deps, api.answers, person.userId, [lone("gpt-6-luna", 1), lone("gpt-6.1-sol", 5)]),
    ).rejects.toMatchObject({
      code: "confirmation_required",
      details: { quotedCredits: 6 },
    });
  });
});

test("a price above the person's own is refused until it is confirmed, and the refusal names it", async () => {
  const person = await createPerson(api, database.db, { plan: "professional" });
  const dear = { model: "gpt-6.1-sol", quotedCredits: 5 };
  const set = (askAboveCredits: number | null) =>
    setLimits(database.db, person.userId, { dailyCapCredits: null, askAboveCredits }, api.deps.clock.now());
  await set(4);
  for (const request of [dear, { ...dear, confirmed: false }]) {
    const refused = await send(api, person, request);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: "confirmation_required", quotedCredits: 5 }]);
  }
  expect(await database.db.selectFrom("holds").select("id").where("wallet_id", "=", person.walletId).execute()).toEqual([]);
  expect((await ask(api, person)).receipt?.chargedCredits).toBe(1);
  expect((await ask(api, person, { ...dear, confirmed: true })).receipt?.chargedCredits).toBe(5);
  // The price that was confirmed, no other.
  expect((await send(api, person, { ...dear, quotedCredits: 4, confirmed: true })).status).toBe(409);
  await set(5);
  expect((await ask(api, person, dear)).receipt?.chargedCredits).toBe(5);
  await set(null);
  expect((await ask(api, person, dear)).receipt?.chargedCredits).toBe(5);
});

test("being asked about a price uses up none of the sends of a minute, and other refusals do", async () => {
  const person = await createPerson(api, database.db, { plan: "starter" });
  const dear = { model: "gpt-6.1-sol", quotedCredits: 5 };
  await setLimits(database.db, person.userId, { dailyCapCredits: null, askAboveCredits: 4 }, api.deps.clock.now());
  const sends = plans.starter.requestsPerMinute;
  for (let asked = 0; asked < sends + 2; asked += 1) expect((await send(api, person, dear)).status).toBe(409);
  expect(await database.db.selectFrom("refused_sends").select("user_id").where("user_id", "=", person.userId).execute()).toEqual([]);
  const together = [{ idempotencyKey: randomUUID(), request: { ...dear, prompt: "Hello" } }];
  await expect(startTogether(api.deps, api.answers, person.userId, together)).rejects.toMatchObject({ code: "confirmation_required" });
  for (let sent = 0; sent < sends; sent += 1)
    expect(await (await send(api, person, { ...dear, quotedCredits: 4 })).json()).toMatchObject({ code: "price_changed" });
  expect((await send(api, person, { ...dear, confirmed: true })).status).toBe(429);
});

test("a person reads and replaces their own limits, and only whole numbers within bounds are taken", async () => {
  const product = await createAuthApp();
  const { access_token: token } = await product.join();
  const url = "/api/credits/limits";
  const headers = { authorization: `Bearer ${token}` };
  const put = async (payload: object) => product.app.inject({ method: "PUT", url, headers, payload });
  expect((await product.get(url, token)).json()).toEqual({
    dailyCapCredits: null,
    askAboveCredits: null,
    alertPercent: 80,
    todayCredits: null,
  });
  const set = await put({ dailyCapCredits: 30, askAboveCredits: 0 });
  expect([set.statusCode, set.json()]).toEqual([200, { dailyCapCredits: 30, askAboveCredits: 0, alertPercent: 80, todayCredits: 0 }]);
  expect((await product.get(url, token)).json()).toEqual(set.json());
  for (const wrong of [
    { dailyCapCredits: 0 },
    { dailyCapCredits: 1.5 },
    { askAboveCredits: -1 },
    { askAboveCredits: 1_000_001 },
    { stray: 1 },
  ])
    expect((await put({ dailyCapCredits: 30, askAboveCredits: 0, ...wrong })).statusCode).toBe(400);
  expect((await put({ dailyCapCredits: 30 })).statusCode).toBe(400);
  expect((await product.get(url)).statusCode).toBe(401);
  expect((await product.get(url, (await product.join()).access_token)).json()).toMatchObject({ dailyCapCredits: null });
  await product.close();
});

test("the migration goes back and forth with limits set and answers under way", async () => {
  const person = await createPerson(api, database.db);
  await cap(person, 10);
  const row = begin(person, 5);
  expect(await start(row)).toBe("created");
  const names = await migrationNames();
  const downTo = names[names.indexOf("0058_spending_limits") - 1] ?? "none";
  await migrate({ ownerUrl: database.ownerUrl, applicationRole, downTo });
  // The release of that time ended and started answers like this.
  await sql`select from answer_end(${row.id}, ${row.owner}, 'completed', null, false, 5, '[]', 1, 1, null, null, null, null, ${["adjustment"]}, ${row.now})`.execute(
    database.db,
  );
  const dear = begin(person, 20);
  const { rows } = await sql<{
    outcome: string;
  }>`select outcome from turn_start(null, ${dear.id}, ${dear.userId}, ${dear.modelId}, ${dear.idempotencyKey},
    ${dear.requestHash}, 20, ${dear.priceVersion}, ${dear.kinds}, false, null, 0, 10, 2, ${dear.owner}, 60000, 60000, ${dear.now})`.execute(
    database.db,
  );
  expect(rows).toEqual([{ outcome: "created" }]);
  await migrate({ ownerUrl: database.ownerUrl, applicationRole });
  expect((await cap(person, 30)).todayCredits).toBe(25);
});
