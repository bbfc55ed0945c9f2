/** What the relay reads of the outbox. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { takeDue } from "../../worker/relay.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
const backlog = 20_000;
const mails = Array.from({ length: 3 }, () => randomUUID());

beforeAll(async () => {
  database = await createTestDatabase();
  await sql`insert into outbox (id, job, payload)
    select gen_random_uuid(), 'process-stripe-event', jsonb_build_object('eventId', n) from generate_series(1, ${backlog}::integer) n`.execute(
    database.db,
  );
  await database.db
    .insertInto("outbox")
    .values(mails.map((id) => ({ id, job: "send-mail", payload: JSON.stringify({ mailId: id }), published_at: null })))
    .execute();
  const unknown = { id: randomUUID(), job: "job-of-a-later-release", payload: "{}", published_at: null };
  await database.db.insertInto("outbox").values(unknown).execute();
  await sql`analyze outbox`.execute(database.db);
});
afterAll(() => database.drop());

test("jobs of one kind are found without reading the backlog of another, those due first, and those of unknown names too", async () => {
  await inTransaction(database.db, async (trx) => {
    const taken = await takeDue(trx, "mail");
    expect(taken.map(({ id }) => id)).toEqual(expect.arrayContaining(mails));
    expect(taken.map(({ name }) => name).sort()).toEqual(["job-of-a-later-release", "send-mail", "send-mail", "send-mail"]);
    const { rows } = await sql<{ read: number }>`select (pg_stat_get_xact_tuples_returned('outbox'::regclass)
      + pg_stat_get_xact_tuples_fetched('outbox'::regclass)
      + (select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index where indrelid = 'outbox'::regclass))::integer as read`.execute(
      trx,
    );
    expect(rows[0]?.read).toBeLessThan(100);
  });
  const taken = await takeDue(database.db, "stripe");
  expect(taken).toHaveLength(200);
  expect(new Set(taken.map(({ name }) => name))).toEqual(new Set(["process-stripe-event"]));
});
