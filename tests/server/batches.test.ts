import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { KyselyPlugin } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Arrivals } from "#server/db/arrivals.ts";
import { createBatcher } from "#server/db/batch.ts";
import { findPayer } from "#server/db/payer.ts";
import { createReadViewer } from "#server/features/auth/viewer.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { callStarts } from "#server/features/generations/starts.ts";
import type { AnswerWorld } from "../support/answers.ts";
import { ask, send, startAnswerWorld } from "../support/answers.ts";
import { createPerson } from "../support/people.ts";
import { startOf } from "../support/starts.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let api: AnswerWorld["api"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, api } = world);
});
afterAll(() => world.close());

const people = (count: number, credits = 10) =>
  Promise.all(Array.from({ length: count }, () => createPerson(api, database.db, { credits, plan: "starter" })));

/** The database, and how many statements it was asked for. */
function counted() {
  let count = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      count += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return { db: database.db.withPlugin(counting), statements: () => count };
}

test("each of many simultaneous answers goes to the person who asked and is charged once", async () => {
  const asking = await people(40);
  const answers = await Promise.all(asking.map((person, index) => ask(api, person, { prompt: `Say ${index}` })));
  expect(answers.map((answer) => answer.receipt)).toEqual(
    answers.map(({ generationId }) => expect.objectContaining({ generationId, status: "completed", chargedCredits: 1, availableAfter: 9 })),
  );
  const { rows } = await database.pool.query<{ prompt: string; user_id: string }>(
    `select q.content as prompt, g.user_id from generations g join messages a on a.generation_id = g.id join messages q on q.id = a.parent_id
       where g.id = any ($1)`,
    [answers.map((answer) => answer.generationId)],
  );
  const askedBy = new Map(rows.map(({ prompt, user_id }) => [prompt, user_id]));
  expect(asking.map((_, index) => askedBy.get(`Say ${index}`))).toEqual(asking.map((person) => person.userId));
});

test("a person with too few credits is refused without affecting answers that start at the same time", async () => {
  const rich = await people(20);
  const [poor] = await people(1, 1);
  if (!poor) throw new Error("nobody was made");
  const [refused, ...answers] = await Promise.all([
    send(api, poor, { model: "gpt-6.1-sol", quotedCredits: 5 }),
    ...rich.map((person) => ask(api, person)),
  ]);
  expect([refused.status, await refused.json()]).toEqual([
    402,
    expect.objectContaining({ code: "insufficient_credits", needed: 5, available: 1 }),
  ]);
  expect(answers.map((answer) => answer.receipt?.chargedCredits)).toEqual(rich.map(() => 1));
});

test("three refused starts among ten leave the other seven in the one statement they share", async () => {
  const rich = await people(7);
  const poor = await people(3, 1);
  const asking = [...rich.slice(0, 4), ...poor, ...rich.slice(4)];
  const dear = new Set(poor.map(({ userId }) => userId));
  const { db, statements } = counted();
  const starts = asking.map(({ userId }) => ({ ...startOf(userId), credits: dear.has(userId) ? 5 : 1 }));
  const outcomes = await callStarts(db, starts, false);
  expect(statements()).toBe(1);
  expect(outcomes.map((each) => [each?.outcome, each?.available])).toEqual(
    asking.map(({ userId }) => (dear.has(userId) ? ["insufficient_credits", 1] : ["created", 10])),
  );
  const held = await database.db
    .selectFrom("wallets")
    .innerJoin("billing_account_members", "billing_account_members.billing_account_id", "wallets.billing_account_id")
    .select(["user_id", "held"])
    .where(
      "user_id",
      "in",
      asking.map(({ userId }) => userId),
    )
    .execute();
  expect(held.map(({ user_id, held }) => [user_id, held]).sort()).toEqual(
    asking.map(({ userId }) => [userId, dear.has(userId) ? 0 : 1]).sort(),
  );
});

test("locked wallets delay only their owners' answers", async () => {
  const [locked, free] = [await people(4), await people(12)];
  const keeper = new pg.Client({ connectionString: database.ownerUrl });
  await keeper.connect();
  await keeper.query("begin");
  await keeper.query("select from wallets where billing_account_id in (select payer_of(asker) from unnest($1::uuid[]) asker) for update", [
    locked.map(({ userId }) => userId),
  ]);
  let lockedAnswers = 0;
  const waiting = locked.map(async (person) => {
    const answer = await ask(api, person);
    lockedAnswers += 1;
    return answer.receipt?.chargedCredits;
  });
  const answers = await Promise.all(free.map((person) => ask(api, person)));
  expect(answers.map((answer) => answer.receipt?.status)).toEqual(free.map(() => "completed"));
  expect(lockedAnswers).toBe(0);
  await keeper.query("rollback");
  await keeper.end();
  expect(await Promise.all(waiting)).toEqual(locked.map(() => 1));
});

test("answers start while other work has every connection of the pool", async () => {
  const [person] = await people(1);
  const { pool, clock } = api.deps;
  const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const result = await api.answers.batches.start({ ...startOf(person?.userId ?? ""), now: clock.now() });
  for (const client of taken) client.release();
  expect(result.outcome).toBe("created");
});

test("items that arrive together share one statement, the first of them too; later ones share the next", async () => {
  const statements: string[][] = [];
  const read = createBatcher<string, string>({
    limit: 3,
    atOnce: 1,
    async run(items) {
      statements.push([...items]);
      return items.map((item) => item.toUpperCase());
    },
  });
  expect(await Promise.all(["a", "b", "c", "d"].map(read))).toEqual(["A", "B", "C", "D"]);
  expect(await read("e")).toBe("E");
  expect(statements).toEqual([["a", "b", "c"], ["d"], ["e"]]);
});

test.each([
  [{}, ["ab", "cd"]],
  [{ together: 8 }, ["abcd"]],
  [{ together: 3 }, ["abc", "d"]],
])("items are divided among the statements that may run at once, but for few that cost little: %j", async (options, expected) => {
  const statements: string[] = [];
  const read = createBatcher<string, string>({
    ...options,
    limit: 8,
    atOnce: 2,
    async run(items) {
      statements.push(items.join(""));
      return items;
    },
  });
  expect(await Promise.all(["a", "b", "c", "d"].map(read))).toEqual(["a", "b", "c", "d"]);
  expect(statements).toEqual(expected);
});

test("a start waits for the request whose sign-in is being checked, and both are written by one statement", async () => {
  const [first, second] = await people(2);
  if (!first || !second) throw new Error("nobody was made");
  const { db, statements } = counted();
  const arrivals = new Arrivals(10_000);
  const { start } = createAnswerBatches(db, db, arrivals);
  const readViewer = createReadViewer(api.app, { db: database.db, arrivals });
  const keeper = new pg.Client({ connectionString: database.ownerUrl });
  await keeper.connect();
  await keeper.query("begin; lock table auth_sessions in access exclusive mode");
  const viewer = readViewer(second.token);
  const asked = [start({ ...startOf(first.userId), now: api.deps.clock.now() })];
  await delay(50);
  expect(statements()).toBe(0);
  asked.push(viewer.then((known) => start({ ...startOf(known?.userId ?? ""), now: api.deps.clock.now() })));
  await keeper.query("rollback");
  await keeper.end();
  expect((await Promise.all(asked)).map(({ outcome }) => outcome)).toEqual(["created", "created"]);
  expect(statements()).toBe(1);
});

test("whom to tell of the ends of many answers is read with one statement, for each account its own people", async () => {
  const asking = await people(3);
  const payers = await Promise.all(asking.map(({ userId }) => findPayer(database.db, userId)));
  const { db, statements } = counted();
  const { members } = createAnswerBatches(db);
  expect(await Promise.all([...payers, randomUUID()].map((id) => members(id ?? "")))).toEqual([
    ...asking.map(({ userId }) => [userId]),
    [],
  ]);
  expect(statements()).toBe(1);
});

test("a batch that PostgreSQL refuses is retried item by item; a lost connection fails every waiting item", async () => {
  const refused: string[][] = [];
  const insert = createBatcher<string, string>({
    limit: 8,
    atOnce: 1,
    async run(items) {
      refused.push([...items]);
      const { rows } = await database.pool.query<{ id: string }>("select item::uuid as id from unnest($1::text[]) as item", [items]);
      return rows.map(({ id }) => id);
    },
  });
  const good = [randomUUID(), randomUUID(), randomUUID()];
  const [first = "", second = "", third = ""] = good;
  const outcomes = await Promise.allSettled([insert(first), insert(second), insert("not a uuid"), insert(third)]);
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "refused"))).toEqual([
    first,
    second,
    "refused",
    third,
  ]);
  expect(refused.map((batch) => batch.length)).toEqual([4, 1, 1, 1, 1]);

  const lost = createBatcher<number, number>({
    limit: 2,
    atOnce: 1,
    run: () => Promise.reject(new Error("Connection terminated unexpectedly")),
  });
  const failures = await Promise.allSettled([lost(1), lost(2), lost(3)]);
  expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
});

test.each([
  ["a server that can't be reached", () => new pg.Pool({ host: "127.0.0.1", port: 1 }).query("select 1"), "ECONNREFUSED"],
  ["a statement time-out", () => database.pool.query("set local statement_timeout = 1; select pg_sleep(1)"), "57014"],
])("%s fails all waiting items at once, without a retry for each", async (_name, query, code) => {
  let statements = 0;
  const insert = createBatcher<number, number>({
    limit: 32,
    atOnce: 1,
    async run(items) {
      statements += 1;
      await query();
      return items;
    },
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, item) => insert(item)));
  expect(outcomes).toEqual(outcomes.map(() => ({ status: "rejected", reason: expect.objectContaining({ code }) })));
  expect(statements).toBe(1);
});
