/** The application's role can't make the ledger's owner run code for it, even if it can run any SQL. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createUser } from "../support/people.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

async function asApplication<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.applicationUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe("the ledger's checks don't run code of the application's role as the owner", () => {
  const grantOne = (client: pg.Client, walletId: string) =>
    client.query("select * from ledger_post_grant($1, 'adjustment', 5, now() + interval '1 day', 'review:1', now())", [walletId]);

  test("in a temporary view that replaces a table they read", async () => {
    const { walletId } = await createUser(database.db);
    await asApplication(async (client) => {
      await client.query(`create temporary table seen (name text);
        grant insert on seen to public;
        create function pg_temp.spy() returns boolean language plpgsql volatile as $$
          begin insert into pg_temp.seen values (current_user::text); return true; end $$;
        create temporary view ledger_entries as select * from public.ledger_entries where pg_temp.spy();
        create temporary view grants as select * from public.grants where pg_temp.spy();
        grant select on ledger_entries, grants to public`);
      await grantOne(client, walletId);
      expect((await client.query("select distinct name from seen")).rows).toEqual([]);
    });
  });

  test("in an operator of the queue's schema that replaces PostgreSQL's own", async () => {
    const { walletId } = await createUser(database.db);
    await asApplication(async (client) => {
      await client.query(`create temporary table seen (name text);
        grant insert on seen to public;
        grant usage on schema bullmq to public;
        create function bullmq.spy(numeric, integer) returns boolean language plpgsql volatile as $$
          begin insert into pg_temp.seen values (current_user::text); return false; end $$;
        create operator bullmq.<> (leftarg = numeric, rightarg = integer, function = bullmq.spy);
        set search_path = bullmq, pg_catalog, public`);
      await grantOne(client, walletId);
      expect((await client.query("select distinct name from seen")).rows).toEqual([]);
    });
  });
});
