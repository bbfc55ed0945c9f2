/**
 * The tables that only grow can be partitioned by month one day: tried on filled tables of a database of the test. The old table becomes
 * the first partition, without a copy of its rows, and what comes after goes to new ones.
 */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { recordAct } from "#server/db/audit.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { readLedger } from "#server/features/credits/history.ts";
import * as credits from "#server/features/credits/service.ts";
import type { AnswerProcess, AnswerWorld, SeenAnswer } from "#tests/support/answers.ts";
import { ask, call, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

/** Stripe's events are not among them; decision 25 says why. */
const divided = { ledger_transactions: "id", ledger_entries: "transaction_id", generations: "id", audit_events: "id" } as const;
type Divided = keyof typeof divided;
const tables = Object.keys(divided) as Divided[];

let world: AnswerWorld;
let person: TestPerson;
let owner: pg.Client;
beforeEach(async () => {
  world = await startAnswerWorld();
  person = await createPerson(world.api, world.database.db);
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
function keysInTheWay(table: Divided): Promise<string[]> {
  return linesOf(
    `select indexrelid::regclass::text as line from pg_index where indrelid = $1::regclass and indisunique and not
       (select attnum from pg_attribute where attrelid = indrelid and attname = $2) = any (indkey) order by 1`,
    table,
    divided[table],
  );
}

/** Partitions by the UUIDv7 in the column: the old table keeps its rows; the rest of this month and the next month get partitions. */
async function partitionByMonth(table: Divided): Promise<void> {
  const column = divided[table];
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
  const indexes = await linesOf(
    `select regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+ ON \\S+ ', 'index on ${table} ') as line
       from pg_index where indrelid = $1::regclass and not indisunique`,
    table,
  );
  const rights = await linesOf(
    `select format('grant %s on ${table} to ${applicationRole}', privilege_type) as line from information_schema.role_table_grants
       where table_name = $1 and grantee = '${applicationRole}'`,
    table,
  );
  const triggers = "from pg_trigger where tgrelid = $1::regclass and not tgisinternal";
  const makeTriggers = await linesOf(`select pg_get_triggerdef(oid) as line ${triggers}`, table);
  // Row triggers are dropped, because the partitioned table brings them back. The others also guard direct writes to a partition.
  const dropTriggers = await linesOf(
    `select format('drop trigger %I on ${table}_before', tgname) as line ${triggers} and tgtype & 1 = 1`,
    table,
  );
  const month = (months: number) => `date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' + interval '${months} months'`;
  const [now, next, last] = await linesOf(
    `select answer_log_bound(bound)::text as line from unnest(array[clock_timestamp(), ${month(1)}, ${month(2)}]) bound`,
  );
  // The process numbers answers, and is ahead of the clock if a test before this one moved it. PostgreSQL numbers the ledger.
  const today = table === "generations" ? uuidv7() : now;
  const statements = [
    "begin",
    ...unlink,
    `alter table ${table} rename to ${table}_before`,
    ...dropTriggers,
    `create table ${table} (like ${table}_before including defaults including constraints) partition by range (${column})`,
    ...[...primaryKey, ...references].map((definition) => `alter table ${table} add ${definition}`),
    ...indexes,
    `alter table ${table} attach partition ${table}_before for values from (minvalue) to ('${today}')`,
    `create table ${table}_today partition of ${table} for values from ('${today}') to ('${next}')`,
    `create table ${table}_next partition of ${table} for values from ('${next}') to ('${last}')`,
    ...makeTriggers,
    ...link,
    ...rights,
    "commit",
  ];
  for (const statement of statements) await owner.query(statement);
}

function grant(key: string, amount: number) {
  const expiresAt = addMilliseconds(new Date("2026-01-01T00:00:00Z"), 10_000 * dayMs);
  return inTransaction(world.database.db, async (trx) => {
    const payerId = await payerIdOf(trx, person.userId);
    return credits.postGrant(trx, { payerId, kind: "pack", credits: amount, expiresAt, key }, new Date());
  });
}

/** Writes to the audit log, with a network and a reason, which refer to the event. */
const act = (reason: string) =>
  recordAct(world.database.db, {
    ...{ actor: person.userId, subject: person.userId, action: "session.ended", network: "10.8.0.0/24" },
    ...{ details: { reason: "signed_out" }, reason },
  });

/** Why the person's sessions ended, oldest first, as the log and the tables that refer to it say. */
async function actsOf(): Promise<(string | null)[]> {
  const acts = await world.database.db
    .selectFrom("audit_events")
    .innerJoin("audit_people", "audit_people.id", "audit_events.subject")
    .innerJoin("audit_origins", "audit_origins.event_id", "audit_events.id")
    .innerJoin("audit_reasons", "audit_reasons.event_id", "audit_events.id")
    .select("audit_reasons.reason")
    .where("audit_people.user_id", "=", person.userId)
    .orderBy("audit_events.id")
    .execute();
  return acts.map(({ reason }) => reason);
}

const rowsOf = async (table: string) => (await owner.query(`select * from ${table} t order by t::text`)).rows;

async function allRows(): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for (const table of tables) rows.push(await rowsOf(table));
  return rows;
}

/** The answer again under its key, and a refusal for something else under it. */
async function expectKnown(process: AnswerProcess, key: string, answer: SeenAnswer): Promise<void> {
  expect((await ask(process, person, {}, { key })).generationId).toBe(answer.generationId);
  expect((await send(process, person, { prompt: "Something else" }, { key })).status).toBe(409);
}

test("nothing stands in the way of months: no unique key of the tables that only grow lacks the id that divides them, and no check of theirs was left unread", async () => {
  for (const table of tables) {
    expect(await keysInTheWay(table), table).toEqual([]);
    expect(await linesOf("select conname as line from pg_constraint where conrelid = $1::regclass and not convalidated", table)).toEqual(
      [],
    );
  }
});

test("filled tables become partitions as they are; keys stay unique over all of them, and sends, captures, history, wallet and audit log go on", async () => {
  const oldKey = randomUUID();
  const old = await ask(world.api, person, {}, { key: oldKey });
  const posted = await grant("pack:before", 40);
  await act("before");
  const before = await allRows();
  for (const table of tables) await partitionByMonth(table);
  expect(await allRows()).toEqual(before);

  // A process of its own, whose statements know the new tables.
  const elsewhere = await startAnswerProcess(world.database.applicationUrl, world.models.url);
  const newKey = randomUUID();
  const answer = await ask(elsewhere, person, {}, { key: newKey });
  expect(answer.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
  expect((await call(elsewhere, person, "GET", `/api/generations/${answer.generationId}`)).status).toBe(200);
  await expectKnown(elsewhere, oldKey, old);
  await expectKnown(elsewhere, newKey, answer);
  await elsewhere.close();

  expect(await grant("pack:before", 40)).toEqual({ grantId: posted.grantId, posted: false });
  await expect(grant("pack:before", 41)).rejects.toMatchObject({ code: "idempotency_conflict" });
  expect(await grant("pack:after", 5)).toMatchObject({ posted: true });
  await expect(grant("pack:after", 6)).rejects.toMatchObject({ code: "idempotency_conflict" });

  const { lines } = await readLedger(world.database.db, person.userId, undefined, 10);
  expect(lines.map((line) => [line.kind, line.credits]).slice(0, 4)).toEqual([
    ["grant", 5],
    ["capture", -1],
    ["grant", 40],
    ["capture", -1],
  ]);
  expect(lines.filter((line) => line.kind === "capture").map((line) => line.conversationId)).toEqual([
    answer.conversationId,
    old.conversationId,
  ]);
  const wallet = await credits.readWallet(world.database.db, person.userId, grantKinds, new Date());
  expect(lines[0]?.balanceAfter).toBe(wallet.balance);
  expect(await credits.findDisagreements(world.database.db)).toEqual([]);
  await act("after");
  expect(await actsOf()).toEqual(["before", "after"]);
  for (const table of tables) expect((await rowsOf(`only ${table}_today`)).length, table).toBeGreaterThan(0);
});

test("partitioned tables refuse what the whole ones refuse: changes, entries without a transaction, a fact posted twice", async () => {
  await ask(world.api, person);
  for (const table of tables) await partitionByMonth(table);
  await ask(world.api, person);
  for (const table of ["ledger_entries", "ledger_entries_before", "ledger_transactions", "ledger_transactions_before"])
    await expect(owner.query(`delete from ${table}`), table).rejects.toMatchObject({ code: "TS901" });
  for (const statement of ["delete from audit_events", "update audit_events_today set action = action", "delete from audit_events_before"])
    await expect(world.database.pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  // Two years later the sweep takes the events of all months, and what refers to them.
  await act("old");
  await owner.query("update audit_events set at = at - interval '731 days'");
  await world.database.pool.query("select retention_audit_events(1000, null)");
  expect([await actsOf(), await rowsOf("audit_origins")]).toEqual([[], []]);
  await expect(
    owner.query("insert into ledger_entries select uuidv7(), line, account, wallet_id, grant_id, amount from ledger_entries limit 2"),
  ).rejects.toMatchObject({ code: "23503" });
  await expect(
    owner.query(`with known as (select t.*, uuidv7() as new_id from ledger_transactions t where kind = 'capture' limit 1),
      posted as (insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
        select new_id, key, kind, wallet_id, content, occurred_at from known)
      insert into ledger_entries select k.new_id, e.line, e.account, e.wallet_id, e.grant_id, e.amount
        from known k join ledger_entries e on e.transaction_id = k.id`),
  ).rejects.toMatchObject({ code: "TS900" });
  await expect(owner.query("update generations set hold_id = uuidv7()")).rejects.toMatchObject({ code: "23503" });
});
