/** Running answers and open holds: what PostgreSQL refuses of them, and by which index it finds them (docs/decisions/0043). */
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { startOf } from "#tests/support/starts.ts";

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

describe("PostgreSQL refuses", () => {
  let generationId: string;
  let questionId: string;

  beforeEach(async () => {
    const { userId } = await createUser(database.db, { credits: 10 });
    const start = startOf(userId);
    await createAnswerBatches(database.db).start(start);
    generationId = start.id;
    questionId = start.turn?.questionId ?? "";
  });

  const ended = "ended_at = now(), status = 'completed'";
  it.each([
    ["an answer with a status that does not exist", "status = 'lost', charged_credits = 0, ended_at = now()"],
    ["an answer that has ended and still runs", "ended_at = now()"],
    ["an answer that runs and is charged", "charged_credits = 1"],
    ["an answer that has ended without a time", "status = 'failed', charged_credits = 0"],
    ["an answer that has ended without a charge, even of nothing", ended],
    ["an answer charged with more than was quoted", `${ended}, charged_credits = quoted_credits + 1`],
    ["an answer charged with less than nothing", `${ended}, charged_credits = -1`],
    ["an answer cut short that is not complete", "status = 'failed', charged_credits = 0, ended_at = now(), cut_short = true"],
    ["a running answer cut short", "cut_short = true"],
    ["an answer that costs less than nothing", "cost_micro_dollars = -1"],
    ["an answer quoted at nothing", "quoted_credits = 0"],
    ["a key that is too short", "idempotency_key = 'short'"],
    ["a key that is too long", "idempotency_key = repeat('k', 201)"],
  ])("%s", async (_what, change) => {
    await expect(owner.query(`update generations set ${change} where id = $1`, [generationId])).rejects.toMatchObject({
      code: "23514",
      constraint: "generations_sound",
    });
  });

  it.each([
    ["a message of nobody", "role = 'system'"],
    ["a question without words", "content = null"],
    ["a question that leads to an answer", `generation_id = (select generation_id from messages where parent_id = m.id)`],
    ["an answer's message with words", "role = 'assistant'"],
  ])("%s", async (_what, change) => {
    await expect(owner.query(`update messages m set ${change} where id = $1`, [questionId])).rejects.toMatchObject({
      code: "23514",
      constraint: "messages_sound",
    });
  });

  it.each([
    ["a part of no kind", "1, 'smell', null, '{}'"],
    ["text without words", "1, 'text', null, null"],
    ["text with a detail", "1, 'text', 'words', '{}'"],
    ["a picture without a detail", "1, 'picture', null, null"],
    ["a picture with words", "1, 'picture', 'words', '{}'"],
    ["a part before the first", "0, 'text', 'words', null"],
  ])("%s", async (_what, part) => {
    const insert = `insert into generation_parts (generation_id, place, kind, text, detail) values ($1, ${part})`;
    await expect(owner.query(insert, [generationId])).rejects.toMatchObject({ code: "23514", constraint: "generation_parts_sound" });
  });
});

/** The indexes of a statement's plan, as PostgreSQL makes it when its statistics know nothing that runs. */
async function indexesOf(statement: string): Promise<string[]> {
  const client = await database.pool.connect();
  try {
    await client.query("begin; set local enable_seqscan = off");
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${statement}`);
    return rows.flatMap((row) => /(?:using|Index Scan on) (\w+)/.exec(row["QUERY PLAN"])?.[1] ?? []);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

const nobody = "'00000000-0000-0000-0000-000000000000'";

test.each([
  ["the open holds of a wallet", `select from holds where state = 'open' and wallet_id = ${nobody}`, "holds_wallet"],
  [
    "the running answers of a person",
    `select from generations where status = 'streaming' and lease_expires_at > now() and user_id = ${nobody}`,
    "generations_running_user",
  ],
  [
    "the running answers of a payer",
    `select from generations where status = 'streaming' and lease_expires_at > now() and payer_id = ${nobody}`,
    "generations_running_of_payer",
  ],
  ["overdue holds", "select from holds where ended_at is null and deadline < now()", "holds_deadline"],
  ["orphaned answers", "select from generations where ended_at is null and lease_expires_at < now()", "generations_lease"],
])("%s are found by their own index, and not among all that run", async (_what, statement, index) => {
  await owner.query("vacuum analyze holds, generations");
  expect(await indexesOf(statement)).toEqual([index]);
});
