/** What a send reads of its conversation: as much as the model can read, however long the conversation is. */
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Trx } from "#server/db/transaction.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { selectBranch } from "#server/features/generations/branches.ts";
import type { StartRow } from "#server/features/generations/starts.ts";
import { callStarts } from "#server/features/generations/starts.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { startOf } from "#tests/support/starts.ts";

/** Room for a few messages. */
const budget = 200;

let database: TestDatabase;
let userId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ userId } = await createUser(database.db, { credits: 2_000 }));
});
afterAll(() => database.drop());

interface Conversation {
  id: string;
  /** In the order in which they were asked. */
  answers: string[];
}

function startIn(conversationId: string | undefined, parentId: string | null): StartRow & Required<Pick<StartRow, "turn">> {
  const start = startOf(userId, conversationId);
  if (!start.turn) throw new Error("it has a conversation");
  return { ...start, turn: { ...start.turn, parentId }, requestsPerMinute: 10_000, concurrentAnswers: 10_000 };
}

/** Asks `turns` questions one after the other. Each has an answer, but for those that `failed` names by their number. */
async function converse(turns: number, failed: readonly number[] = []): Promise<Conversation> {
  const starts = [startIn(undefined, null)];
  const id = starts[0]?.turn?.conversationId ?? "";
  while (starts.length < turns) starts.push(startIn(id, starts.at(-1)?.turn?.answerId ?? null));
  const outcomes = await callStarts(database.db, starts, true);
  expect(new Set(outcomes.map((outcome) => outcome?.outcome))).toEqual(new Set(["created"]));
  const answered = starts.filter((_, index) => !failed.includes(index));
  const parts = answered.map((start) => ({ generation_id: start.id, place: 1, kind: "text", text: "Hello to you", detail: null }) as const);
  await database.db.insertInto("generation_parts").values(parts).execute();
  return { id, answers: starts.map(({ turn }) => turn?.answerId ?? "") };
}

const branchOf = (executor: Trx, { id }: Conversation, endId?: string, tokens = budget) =>
  selectBranch(executor, { conversationId: id, userId, endId }, tokens);

/** How many rows, and places of indexes, `work` reads. */
async function countReads<T>(work: (trx: Trx) => Promise<T>): Promise<{ reads: number; result: T }> {
  return inTransaction(database.db, async (trx) => {
    const readByNow = async () => {
      const { rows } = await sql<{ reads: number }>`select sum(seq_tup_read + idx_tup_fetch + idx_scan)::integer as reads
        from pg_stat_xact_user_tables where relname in ('messages', 'generation_parts')`.execute(trx);
      return rows[0]?.reads ?? 0;
    };
    const before = await readByNow();
    const result = await work(trx);
    return { reads: (await readByNow()) - before, result };
  });
}

async function sendCosts(conversation: Conversation): Promise<{ plan: number; start: number; total: number | undefined }> {
  const plan = await countReads((trx) => branchOf(trx, conversation));
  const { id, answers } = conversation;
  const start = startIn(id, answers.at(-1) ?? null);
  const started = await countReads((trx) => callStarts(trx, [start], true));
  answers.push(start.turn?.answerId ?? "");
  return { plan: plan.reads, start: started.reads, total: plan.result?.total };
}

test("a send reads as much of a long conversation as of a short one, and knows how many messages it leaves out", async () => {
  const [short, long] = [await converse(20), await converse(200)];
  const [few, many] = [await sendCosts(short), await sendCosts(long)];
  expect([few.total, many.total]).toEqual([40, 400]);
  expect(few.plan).toBeGreaterThan(0);
  expect(few.start).toBeGreaterThan(0);
  expect([many.plan, many.start]).toEqual([few.plan, few.start]);
});

test("each branch is as long as it is, also where a question is asked again", async () => {
  const { id, answers } = await converse(20);
  const edited = startIn(id, answers[4] ?? null);
  const again = startIn(id, answers[4] ?? null);
  const repeated = { ...again, turn: { ...edited.turn, answerId: again.turn?.answerId, prompt: null } } as StartRow;
  await callStarts(database.db, [edited, repeated], true);
  const next = startIn(id, repeated.turn?.answerId ?? null);
  await callStarts(database.db, [next], true);
  const totals = (tokens: number) =>
    inTransaction(database.db, async (trx) => {
      const ends = [undefined, edited.turn?.answerId, answers[0], answers.at(-1)];
      return Promise.all(ends.map(async (end) => (await branchOf(trx, { id, answers }, end, tokens))?.total));
    });
  // With room for nothing, no message is known to be empty. With room for all, those whose answers have not come to anything are.
  expect(await totals(0)).toEqual([13, 11, 2, 40]);
  expect(await totals(10_000)).toEqual([12, 11, 2, 40]);
});

test("answers that failed do not count as left out where the messages around them are sent", async () => {
  const conversation = await converse(3, [1]);
  const branch = await inTransaction(database.db, (trx) => branchOf(trx, conversation));
  expect(branch?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user", "assistant"]);
  expect(branch?.total).toBe(5);
});

test("a conversation from an earlier release is counted by its first send, and later ones read as little as elsewhere", async () => {
  const [old, other] = [await converse(60), await converse(60)];
  await database.asOwner(`update messages set earlier = null where conversation_id = '${old.id}'`);
  const [first, known] = [await sendCosts(old), await sendCosts(other)];
  expect([first.total, known.total]).toEqual([120, 120]);
  expect(first.plan).toBeGreaterThan(known.plan + 100);
  const [second, same] = [await sendCosts(old), await sendCosts(other)];
  expect([second, same]).toEqual([same, second]);
});
