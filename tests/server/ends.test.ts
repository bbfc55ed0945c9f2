/** Ends of answers that share a statement: each keeps what is its own (docs/decisions/0117). */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Executor } from "#server/db/transaction.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { EndRow } from "#server/features/generations/ends.ts";
import { callEnds } from "#server/features/generations/ends.ts";
import { lockRunningOf, renewLeases, requestStops, selectParts } from "#server/features/generations/queries.ts";
import type { StartRow } from "#server/features/generations/starts.ts";
import { callStarts } from "#server/features/generations/starts.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import { createUser } from "#tests/support/people.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { startOf } from "#tests/support/starts.ts";
import { until } from "#tests/support/until.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  expect(await findDisagreements(database.db)).toEqual([]);
  await database.drop();
});

const now = new Date("2026-11-10T12:00:00Z");

async function started(...rows: readonly StartRow[]): Promise<readonly StartRow[]> {
  const starts = rows.map((row) => ({ ...row, concurrentAnswers: 100, requestsPerMinute: 1_000, now }));
  for (const outcome of await callStarts(database.db, starts, true)) expect(outcome).toMatchObject({ outcome: "created" });
  return starts;
}

function endOf({ id, owner }: StartRow, credits: number, more: Partial<EndRow> = {}): EndRow {
  const [status, failureCode] = credits > 0 ? (["completed", null] as const) : (["failed", "provider_error"] as const);
  return {
    ...{ id, owner, status, failureCode, cutShort: false, chargedCredits: credits },
    parts: [{ kind: "text", text: `Of ${id}` }],
    ...{ promptTokens: 1, completionTokens: 2, costMicroDollars: 3, lastFrames: undefined, kinds: ["adjustment"], now },
    ...more,
  };
}

const ended = (...ends: readonly EndRow[]) => callEnds(database.db, ends, true);
const statusesOf = async (ends: readonly EndRow[]) => (await ended(...ends)).map((row) => row && `${row.status} ${row.charged_credits}`);

async function usageOf(userId: string) {
  const { rows } = await database.pool.query("select answers, credits from usage_days where billing_account_id = payer_of($1)", [userId]);
  return rows;
}

test("charged, free, another process's, ended before and unknown: one call says of each what became of it", async () => {
  const [one, two] = await Promise.all([createUser(database.db, { credits: 20 }), createUser(database.db, { credits: 20 })]);
  const [first, second, third, fourth] = await started(
    ...[one, two, one, two].map(({ userId }, place) => ({ ...startOf(userId), credits: 2 + place })),
  );
  if (!first || !second || !third || !fourth) throw new Error("nothing was started");
  await ended(endOf(fourth, 5));
  const foreign = endOf(third, 4, { owner: randomUUID() });
  const orphan = endOf(third, 4, { owner: null });
  const unknown = endOf({ ...first, id: randomUUID() }, 1);
  const ends = [endOf(second, 0), foreign, unknown, endOf(fourth, 0), endOf(first, 2), orphan];
  expect(await statusesOf(ends.slice(0, 5))).toEqual(["failed 0", "streaming null", undefined, "completed 5", "completed 2"]);
  // Its lease has not ended, so it is nobody else's to end.
  expect(await statusesOf([orphan])).toEqual(["streaming null"]);
  expect(await statusesOf([endOf(third, 4)])).toEqual(["completed 4"]);
  const parts = await selectParts(database.db, [first.id, second.id, fourth.id]);
  expect([first, second, fourth].map(({ id }) => parts.get(id))).toEqual(
    [first, second, fourth].map(({ id }) => [{ kind: "text", text: `Of ${id}` }]),
  );
  expect([await usageOf(one.userId), await usageOf(two.userId)]).toEqual([[{ answers: 2, credits: 6 }], [{ answers: 1, credits: 5 }]]);
});

test("twelve answers of one person that end at once are each charged once, however often and in whatever order they end", async () => {
  const { userId } = await createUser(database.db, { credits: 100 });
  const starts = await started(...Array.from({ length: 12 }, () => ({ ...startOf(userId, null), credits: 3 })));
  const ends = starts.map((start, place) => endOf(start, place % 3));
  const calls = await Promise.all([statusesOf(ends), statusesOf(ends.toReversed()), statusesOf(ends.slice(3, 9))]);
  const told = ends.map(({ chargedCredits }) => (chargedCredits > 0 ? `completed ${chargedCredits}` : "failed 0"));
  expect(calls).toEqual([told, told.toReversed(), told.slice(3, 9)]);
  expect(await usageOf(userId)).toEqual([{ answers: 8, credits: 12 }]);
  const { rows } = await database.pool.query("select balance, held from wallets where billing_account_id = payer_of($1)", [userId]);
  expect(rows).toEqual([{ balance: 88, held: 0 }]);
});

async function expectRestLetGo(): Promise<void> {
  const { userId, walletId } = await createUser(database.db, { credits: 20 });
  const holdId = randomUUID();
  const deadline = new Date(Date.now() + 60_000);
  await holdCredits(database.db, { holdId, walletId, credits: 9, kinds: ["adjustment"], now, deadline, wallNow: new Date() });
  const shared = [4, 2, 1].map((credits) => ({ ...startOf(userId, null), holdId, credits }));
  const [first, second, third] = await started(...shared);
  if (!first || !second || !third) throw new Error("nothing was started");
  const hold = async () => (await database.pool.query("select state, settled, captured from holds where id = $1", [holdId])).rows;
  await ended(endOf(first, 4));
  expect(await hold()).toEqual([{ state: "open", settled: 4, captured: 4 }]);
  const rows = await ended(endOf(second, 0), endOf(third, 1));
  expect(await hold()).toEqual([{ state: "captured", settled: 9, captured: 5 }]);
  expect(rows.map((row) => row?.available_after)).toEqual([15, 15]);
}

test("the last answers of a hold that several share let go of what none was asked for, also if they end together", expectRestLetGo);

test("an answer that was erased meanwhile keeps no words, and the one that ends with it keeps its own", async () => {
  const { userId } = await createUser(database.db, { credits: 20 });
  const [gone, kept] = await started(startOf(userId), startOf(userId));
  if (!gone || !kept) throw new Error("nothing was started");
  await database.db
    .deleteFrom("conversations")
    .where("id", "=", gone.turn?.conversationId ?? "")
    .execute();
  const lastFrames = { firstEvent: 1, lastEvent: 1, frames: "id: 1\n\n" };
  const filtered = { failureCode: "content_filtered", filterReason: "violence" } as const;
  const ends = [gone, kept].map((start) => endOf(start, 0, { ...filtered, lastFrames: { generationId: start.id, ...lastFrames } }));
  expect((await ended(...ends)).map((row) => row?.filter_reason)).toEqual([null, "violence"]);
  expect([...(await selectParts(database.db, [gone.id, kept.id])).keys()]).toEqual([kept.id]);
  const { rows } = await database.pool.query("select generation_id as id from generation_events where generation_id = any ($1)", [
    [gone.id, kept.id],
  ]);
  expect(rows).toEqual([{ id: kept.id }]);
});

test.each<[string, (executor: Executor, row: StartRow, ids: readonly string[]) => Promise<unknown>]>([
  ["a conversation is deleted", (executor, { userId, turn }) => lockRunningOf(executor, userId, turn?.conversationId ?? "")],
  ["the person's answers are asked to stop", (executor, { userId }) => requestStops(executor, userId)],
  ["leases are renewed", (executor, { owner }, ids) => renewLeases(executor, owner, ids, 60_000)],
])("when %s, answers are locked in the order in which they end, so that neither waits for the other forever", async (_name, lock) => {
  const { userId } = await createUser(database.db, { credits: 20 });
  const rows = [startOf(userId), startOf(userId)];
  const conversationId = rows[0]?.turn?.conversationId ?? "";
  // The later id is stored first, and named first.
  const [later, earlier] = await started(
    ...rows.toReversed().map((row) => ({ ...row, turn: row.turn && { ...row.turn, conversationId } })),
  );
  if (!later || !earlier) throw new Error("nothing was started");
  const take = (id: string) => sql`select from generations where id = ${id} for no key update nowait`;
  const waiting = async () =>
    (await database.pool.query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rowCount;
  let locked: Promise<unknown> | undefined;
  await database.db.transaction().execute(async (ending) => {
    await take(earlier.id).execute(ending);
    locked = database.db.transaction().execute((trx) => lock(trx, later, [later.id, earlier.id]));
    await until(async () => (await waiting()) === 1, "the other transaction waits for the first answer");
    // Throws if the other transaction has the later answer already.
    await take(later.id).execute(ending);
  });
  await locked;
});

test.each([
  ["the rest of a shared hold stays held", "if 'open' = any (v_settled.states) then", "if false then", expectRestLetGo],
  ["the rest is let go of too early", "g.status = 'streaming' and g.id <> all (v_ready))", "false)", expectRestLetGo],
])("a planted bug is noticed: %s", async (_name, from, to, noticed) => {
  const repair = await plantBug(database, "answers_end", (source) => source.replace(from, to));
  await expect(noticed()).rejects.toThrow();
  await repair();
  await noticed();
});
