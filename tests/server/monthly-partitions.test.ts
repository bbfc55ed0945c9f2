/**
 * Whether tables that only grow could be partitioned by month one day: tried on filled tables of a database of the test. The old table
 * becomes the first partition, without a copy of its rows.
 */
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applicationRole } from "#server/embedded/postgres.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, call, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let world: AnswerWorld;
let person: TestPerson;
let owner: pg.Client;
beforeEach(async () => {
  world = await startAnswerWorld();
  person = await createPerson(world.api, world.database.db);
  await ask(world.api, person);
  await ask(world.api, person);
  owner = new pg.Client({ connectionString: world.database.ownerUrl });
  await owner.connect();
});
afterEach(async () => {
  await owner.end();
  await world.close();
});

async function linesOf(text: string, ...values: unknown[]): Promise<string[]> {
  return (await owner.query<{ line: string }>(text, values)).rows.map(({ line }) => line);
}

/** The unique keys that do not contain the column: PostgreSQL has none over several partitions without it. */
function keysInTheWay(table: string, column: string): Promise<string[]> {
  return linesOf(
    `select indexrelid::regclass::text as line from pg_index where indrelid = $1::regclass and indisunique and not
       (select attnum from pg_attribute where attrelid = indrelid and attname = $2) = any (indkey) order by 1`,
    table,
    column,
  );
}

/** By the UUIDv7 in `column`: the old table holds all until the next month begins, the month after has its own partition. */
async function partitionByMonth(table: string, column: string): Promise<void> {
  const definitions = (where: string) =>
    linesOf(`select pg_get_constraintdef(oid) as line from pg_constraint where conparentid = 0 and ${where}`, table);
  const primaryKey = await definitions("contype = 'p' and conrelid = $1::regclass");
  const references = await definitions("contype = 'f' and conrelid = $1::regclass");
  const named = "conrelid::regclass, conname";
  const referring = "from pg_constraint where contype = 'f' and conparentid = 0 and confrelid = $1::regclass";
  const unlink = await linesOf(`select format('alter table %s drop constraint %I', ${named}) as line ${referring}`, table);
  const link = await linesOf(
    `select format('alter table %s add constraint %I %s', ${named}, pg_get_constraintdef(oid)) as line ${referring}`,
    table,
  );
  const triggers = "from pg_trigger where tgrelid = $1::regclass and not tgisinternal";
  const makeTriggers = await linesOf(`select pg_get_triggerdef(oid) as line ${triggers}`, table);
  // Those for each row come back with those of the whole table; the others guard the partition also when it is written to directly.
  const dropTriggers = await linesOf(
    `select format('drop trigger %I on ${table}_before', tgname) as line ${triggers} and tgtype & 1 = 1`,
    table,
  );
  const [next, last] = await linesOf(
    `select answer_log_bound(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' + months * interval '1 month')::text as line
       from generate_series(1, 2) months`,
  );
  const statements = [
    "begin",
    ...unlink,
    `alter table ${table} rename to ${table}_before`,
    ...dropTriggers,
    `create table ${table} (like ${table}_before including defaults including constraints) partition by range (${column})`,
    ...[...primaryKey, ...references].map((definition) => `alter table ${table} add ${definition}`),
    `alter table ${table} attach partition ${table}_before for values from (minvalue) to ('${next}')`,
    `create table ${table}_next partition of ${table} for values from ('${next}') to ('${last}')`,
    ...makeTriggers,
    ...link,
    `grant select, insert, update on ${table} to ${applicationRole}`,
    "commit",
  ];
  for (const statement of statements) await owner.query(statement);
}

async function expectSound(): Promise<void> {
  // A process of its own, whose statements know the new tables.
  const elsewhere = await startAnswerProcess(world.database.applicationUrl, world.models.url);
  const answer = await ask(elsewhere, person);
  expect(answer.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
  expect((await call(elsewhere, person, "GET", `/api/generations/${answer.generationId}`)).status).toBe(200);
  await elsewhere.close();
  expect(await findDisagreements(world.database.db)).toEqual([]);
}

test("the ledger's entries can be partitioned by month as they are: nothing stands in the way, and the books agree", async () => {
  const { rows: before } = await owner.query("select * from ledger_entries order by transaction_id, line");
  expect(await keysInTheWay("ledger_entries", "transaction_id")).toEqual([]);
  await partitionByMonth("ledger_entries", "transaction_id");
  expect((await owner.query("select * from ledger_entries order by transaction_id, line")).rows).toEqual(before);
  await expectSound();
  for (const table of ["ledger_entries", "ledger_entries_before"])
    await expect(owner.query(`delete from ${table}`), table).rejects.toMatchObject({ code: "TS901" });
  await expect(
    owner.query("insert into ledger_entries select uuidv7(), line, account, wallet_id, grant_id, amount from ledger_entries limit 1"),
  ).rejects.toMatchObject({ code: "23503" });
});

test("of the answers only unique keys without their id stand in the way of months; the rest moves, with everything that refers to it", async () => {
  expect(await keysInTheWay("generations", "id")).toEqual(["generations_capture", "generations_user_id_idempotency_key_key"]);
  expect(await keysInTheWay("ledger_transactions", "id")).toEqual(["ledger_transactions_key_key"]);
  await partitionByMonth("generations", "id");
  await expect(owner.query("alter table generations add unique (user_id, idempotency_key)")).rejects.toMatchObject({ code: "0A000" });
  await expectSound();
});
