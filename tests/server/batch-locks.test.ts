/** Requests that share a statement don't wait for locks on each other's rows (docs/decisions/0010). */
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AnswerBatches } from "#server/features/generations/batches.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import type { StartRow } from "#server/features/generations/starts.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { startOf } from "#tests/support/starts.ts";

let database: TestDatabase;
let batches: AnswerBatches;
let userIds: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  batches = createAnswerBatches(database.db);
});
beforeEach(async () => {
  const people = await Promise.all(Array.from({ length: 12 }, () => createUser(database.db, { credits: 10 })));
  userIds = people.map(({ userId }) => userId);
});
afterAll(() => database.drop());

function end({ id, owner }: StartRow) {
  const now = new Date();
  const told = {
    status: "completed" as const,
    failureCode: null,
    cutShort: false,
    parts: [{ kind: "text" as const, text: "Hello" }],
    promptTokens: 1,
    completionTokens: 1,
    costMicroDollars: 1,
    lastFrames: undefined,
  };
  return batches.end({ id, owner, chargedCredits: 1, ...told, kinds: ["adjustment"], now });
}

/** Positions of the locked rows: in the middle of the batch. */
const lockedPlaces = [3, 8];

/**
 * Locks the rows at `lockedPlaces` with the statement `lock` and then begins all calls at once. Expects the calls for the
 * other rows to succeed while the locks are held, and those for the locked rows to finish only after the locks are released. A
 * call that waited for the locks would fail, because PostgreSQL cancels a statement after 15 s.
 */
async function expectOthersFirst<Row>(lock: string, ids: readonly string[], begin: () => Promise<Row>[]): Promise<Row[]> {
  const keeper = new pg.Client({ connectionString: database.ownerUrl });
  keeper.on("error", () => {});
  await keeper.connect();
  await keeper.query("begin");
  const locked = lockedPlaces.map((place) => ids[place]);
  expect((await keeper.query(lock, [locked])).rowCount).toBe(lockedPlaces.length);
  const done = new Set<number>();
  const all = begin().map((each, place) => each.finally(() => done.add(place)));
  await Promise.allSettled(all.filter((_, place) => !lockedPlaces.includes(place)));
  const tooEarly = lockedPlaces.filter((place) => done.has(place));
  await keeper.query("rollback");
  await keeper.end();
  const rows = await Promise.all(all);
  expect(tooEarly).toEqual([]);
  return rows;
}

async function startAll(): Promise<{ starts: StartRow[]; conversations: string[] }> {
  const starts = userIds.map((userId) => startOf(userId));
  await Promise.all(starts.map((start) => batches.start(start)));
  return { starts, conversations: starts.map(({ turn }) => turn?.conversationId ?? "") };
}

test("a lock on a person's row, as a confirmation takes it, delays only that person's answers", async () => {
  const lock = "select from users where id = any ($1) for update";
  const outcomes = await expectOthersFirst(lock, userIds, () => userIds.map((userId) => batches.start(startOf(userId))));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(userIds.map(() => "created"));
});

test("a conversation being deleted delays only its own owner's answers", async () => {
  const { starts, conversations } = await startAll();
  await Promise.all(starts.map(end));
  const lock = "select from conversations where id = any ($1) for update";
  const outcomes = await expectOthersFirst(lock, conversations, () =>
    userIds.map((userId, index) => batches.start(startOf(userId, conversations[index]))),
  );
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(userIds.map(() => "created"));
});

test("a lock on an answer, as a lease renewal takes it, delays only that answer's end", async () => {
  const { starts } = await startAll();
  const lock = "select from generations where id = any ($1) for no key update";
  const ids = starts.map(({ id }) => id);
  const rows = await expectOthersFirst(lock, ids, () => starts.map(end));
  expect(rows.map((row) => [row?.status, row?.charged_credits])).toEqual(starts.map(() => ["completed", 1]));
});

test("one person's simultaneous requests are checked one after another against the limits, and a key sent eight times gives one answer", async () => {
  const [userId = "", ...others] = userIds;
  const outcomesOf = (starts: StartRow[]) => Promise.all(starts.map((start) => batches.start(start)));
  const company = outcomesOf(others.map((other) => startOf(other)));
  const outcomes = await outcomesOf(
    Array.from({ length: 12 }, () => ({ ...startOf(userId), concurrentAnswers: 10, requestsPerMinute: 40 })),
  );
  const created = outcomes.filter(({ outcome }) => outcome === "created").length;
  expect([created, outcomes.filter(({ outcome }) => outcome === "too_many_answers").length]).toEqual([10, 2]);
  await company;
  const once = startOf(others[0] ?? "");
  const again = await outcomesOf([
    ...others.slice(1).map((other) => startOf(other)),
    ...Array.from({ length: 8 }, () => ({ ...once, id: uuidv7() })),
  ]);
  const sameKey = again.slice(-8);
  expect(sameKey.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
  expect(sameKey.filter(({ outcome }) => outcome === "known")).toHaveLength(7);
  expect(new Set(sameKey.map((outcome) => outcome.generation_id)).size).toBe(1);
});
