/** Rows past a table's retention limit are deleted, and no others. `npm run test:full` has five times the rows in the long sweep. */
import { randomBytes, randomUUID } from "node:crypto";
import type { Insertable } from "kysely";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import type { Sweep } from "#domain/kept-periods.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { orderTexts } from "#domain/orders.ts";
import { queueRetention, retention, sweeps } from "#domain/retention.ts";
import { queueSchema } from "#server/db/queue-schema.ts";
import { inTransaction } from "#server/db/transaction.ts";
import type { Mails } from "#server/db/types-work.ts";
import { insertOrder, noteCompleted } from "#server/features/billing/orders.ts";
import { sweepBatch, sweepRetention } from "#server/features/retention/service.ts";
import { full } from "#tests/support/full.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import { createUser } from "#tests/support/people.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const manyRows = full ? 20_000 : 4_000;

let database: TestDatabase;
const sweepNames = Object.keys(sweeps) as Sweep[];
const failures: unknown[] = [];
const deps = () => ({ db: database.db, log: { error: (details: unknown) => failures.push(details), warn: () => {} } as never });

beforeEach(async () => {
  database = await createTestDatabase();
  failures.length = 0;
});
afterEach(() => database.drop());

const mailAt = (createdAt: Date): Insertable<Mails> => ({
  key: randomUUID(),
  user_id: null,
  recipient: "ada@example.com",
  template: "confirm-email",
  language: "en",
  parameters: JSON.stringify({ linkId: randomUUID() }),
  created_at: createdAt,
  sent_at: createdAt,
});

const batch = async (sweep: Sweep) => (await sweepBatch(database.db, sweep, 10)).done;

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** Inserts one item whose retention period began at `at`; returns a function that tells whether it still exists. */
type Plant = (at: Date) => Promise<() => Promise<boolean>>;

async function there(query: { execute(): Promise<unknown[]> }): Promise<boolean> {
  return (await query.execute()).length > 0;
}

async function endedAnswer(at: Date): Promise<string> {
  const { db, pool } = database;
  const id = uuidv7({ msecs: at.getTime() });
  const { userId, walletId } = await createUser(db, { credits: 1 });
  await holdCredits(db, { holdId: id, walletId, credits: 1, kinds: ["adjustment"], now: new Date(), deadline: at, wallNow: at });
  await pool.query(
    `insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, status, hold_id, quoted_credits, charged_credits, lease_owner,
       lease_expires_at, created_at, ended_at) values ($1, $2, payer_of($2), 'gpt-5', $3, '', 'completed', $1, 1, 1, $1, $4, $4, $4)`,
    [id, userId, randomUUID(), at],
  );
  return id;
}

async function userOf(): Promise<string> {
  return (await createUser(database.db)).userId;
}

async function orderAt(at: Date): Promise<string> {
  const id = uuidv7();
  const cents = { amount_cents: 1599, later_cents: 1999, currency: "usd", credits: 300 };
  const agreed = { price_id: "starter_month", ...cents, language: "de", ...orderTexts };
  const userId = await userOf();
  await inTransaction(database.db, (trx) => insertOrder(trx, id, userId, agreed, at));
  return id;
}

const plants: Record<Sweep, Plant> = {
  async signUps(at) {
    const { db } = database;
    const id = uuidv7();
    const signUp = { id, email: `${id}@example.com`, password_hash: id, language: "en", created_at: at };
    await db.insertInto("sign_ups").values(signUp).execute();
    const link = { sign_up_id: id, user_id: null, purpose: "confirm", token_hash: randomBytes(32), used_at: null } as const;
    await db
      .insertInto("email_links")
      .values({ ...link, expires_at: new Date(), created_at: at })
      .execute();
    return () => there(db.selectFrom("sign_ups").select("id").where("id", "=", id));
  },
  async links(at) {
    const { db } = database;
    const id = uuidv7();
    const link = {
      id,
      user_id: await userOf(),
      purpose: "confirm",
      sign_up_id: null,
      token_hash: randomBytes(32),
      used_at: null,
    } as const;
    await db
      .insertInto("email_links")
      .values({ ...link, expires_at: at, created_at: at })
      .execute();
    return () => there(db.selectFrom("email_links").select("id").where("id", "=", id));
  },
  async sessions(at) {
    const { db } = database;
    const id = uuidv7();
    const times = { rotated_at: at, created_at: at, revoked_at: at, expires_at: addMilliseconds(at, 7 * 24 * 60 * minuteMs) };
    const session = { id, user_id: await userOf(), token_hash: randomBytes(32), previous_token_hash: null, user_agent: null };
    await db
      .insertInto("auth_sessions")
      .values({ ...session, ...times })
      .execute();
    return () => there(db.selectFrom("auth_sessions").select("id").where("id", "=", id));
  },
  async pendingSignIns(at) {
    const { db } = database;
    const id = uuidv7();
    const pending = { id, user_id: await userOf(), factor: "password", created_at: at, expires_at: at, used_at: null };
    await db.insertInto("pending_sign_ins").values(pending).execute();
    return () => there(db.selectFrom("pending_sign_ins").select("id").where("id", "=", id));
  },
  async googleAnswers(at) {
    const { db } = database;
    const id = uuidv7();
    const answer = {
      id,
      subject: id,
      email: `${id}@example.com`,
      user_id: null,
      authenticated_at: null,
      expires_at: at,
      used_at: null,
      created_at: at,
    };
    await db.insertInto("google_answers").values(answer).execute();
    return () => there(db.selectFrom("google_answers").select("id").where("id", "=", id));
  },
  async passkeyChallenges(at) {
    const { db } = database;
    const challenge = randomBytes(32);
    const asked = { challenge, purpose: "sign_in", session_id: null, expires_at: at, used_at: null } as const;
    await db.insertInto("passkey_challenges").values(asked).execute();
    return () => there(db.selectFrom("passkey_challenges").select("purpose").where("challenge", "=", challenge));
  },
  async findings(at) {
    const { db } = database;
    const subject = randomUUID();
    const resolved = { resolved_at: at, resolved_by: "hourly" } as const;
    await db
      .insertInto("findings")
      .values({ kind: "stale_hold", subject, billing_account_id: null, details: "{}", first_seen_at: at, last_seen_at: at, ...resolved })
      .execute();
    return () => there(db.selectFrom("findings").select("id").where("subject", "=", subject));
  },
  async paymentChecks(at) {
    const { db } = database;
    const { billing_account_id: id } = await db
      .selectFrom("wallets")
      .select("billing_account_id")
      .where("id", "=", (await createUser(db)).walletId)
      .executeTakeFirstOrThrow();
    const none = { leased_until: null, finished_at: null, result: null };
    await db
      .insertInto("payment_checks")
      .values({ billing_account_id: id, window_began_at: at, ...none })
      .execute();
    return () => there(db.selectFrom("payment_checks").select("billing_account_id as id").where("billing_account_id", "=", id));
  },
  async factorResets(at) {
    const { db } = database;
    const id = uuidv7();
    const times = { asked_at: at, due_at: at, mailed_at: null, ended_at: at };
    await db
      .insertInto("factor_resets")
      .values({ id, user_id: await userOf(), ending: "cancelled", ...times })
      .execute();
    return () => there(db.selectFrom("factor_resets").select("id").where("id", "=", id));
  },
  async abandonedOrders(at) {
    const id = await orderAt(at);
    return () => there(database.db.selectFrom("orders").select("id").where("id", "=", id));
  },
  async unpaidOrders(at) {
    const id = await orderAt(at);
    await inTransaction(database.db, (trx) => noteCompleted(trx, id, { stripe_subscription_id: `sub_${id}` }));
    return () => there(database.db.selectFrom("orders").select("id").where("id", "=", id));
  },
  async supportAccess(at) {
    const { db } = database;
    const user_id = await userOf();
    // The request came last.
    const times = { given_at: addMilliseconds(at, -2 * minuteMs), until: addMilliseconds(at, -minuteMs), ended_at: null, asked_at: at };
    await db
      .insertInto("support_access")
      .values({ user_id, ...times })
      .execute();
    return () => there(db.selectFrom("support_access").select("user_id").where("user_id", "=", user_id));
  },
  async putOffNeeds(at) {
    const { db } = database;
    const entry = randomUUID();
    const values = {
      kind: "findings",
      user_id: null,
      until: at,
      put_off_by: null,
      reason: "It waits for the bank",
      created_at: at,
    } as const;
    await db
      .insertInto("put_off_needs")
      .values({ entry, ...values })
      .execute();
    return () => there(db.selectFrom("put_off_needs").select("entry").where("entry", "=", entry));
  },
  async trialMailboxes(at) {
    const { db } = database;
    const mailbox_hash = randomBytes(32);
    await db.insertInto("trial_mailboxes").values({ mailbox_hash, started_at: at }).execute();
    return () => there(db.selectFrom("trial_mailboxes").select("started_at").where("mailbox_hash", "=", mailbox_hash));
  },
  async attempts(at) {
    const { db } = database;
    const key = `email:${randomUUID()}`;
    await db.insertInto("auth_attempts").values({ key, failures: 1, window_started_at: at, blocked_until: null }).execute();
    return () => there(db.selectFrom("auth_attempts").select("key").where("key", "=", key));
  },
  async answerLogs(at) {
    const { db } = database;
    const id = await endedAnswer(at);
    await db.insertInto("generation_events").values({ generation_id: id, first_event: 1, last_event: 1, frames: "id: 1" }).execute();
    return () => there(db.selectFrom("generation_events").select("first_event").where("generation_id", "=", id));
  },
  async answerKeys(at) {
    const { db } = database;
    const key = randomUUID();
    const row = { user_id: await userOf(), key, generation_id: uuidv7(), created_at: at };
    await db.insertInto("generation_keys").values(row).execute();
    return () => there(db.selectFrom("generation_keys").select("key").where("key", "=", key));
  },
  async deadLetters(at) {
    const { db } = database;
    const id = uuidv7();
    await db
      .insertInto("dead_letters")
      .values({ id, job: "send-mail", payload: "{}", error: "no", attempts: 1, replayed_at: at })
      .execute();
    return () => there(db.selectFrom("dead_letters").select("id").where("id", "=", id));
  },
  async mailBodies(at) {
    const { db } = database;
    const mail = mailAt(at);
    await db.insertInto("mails").values(mail).execute();
    return async () => {
      const row = await db.selectFrom("mails").select("parameters").where("key", "=", mail.key).executeTakeFirstOrThrow();
      return Object.keys(row.parameters).length > 0;
    };
  },
  async mails(at) {
    const { db } = database;
    const mail = mailAt(at);
    await db.insertInto("mails").values(mail).execute();
    return () => there(db.selectFrom("mails").select("id").where("key", "=", mail.key));
  },
  async contactMessages(at) {
    const { db } = database;
    const key = randomUUID();
    const text = {
      name: "Ada",
      email: "ada@example.com",
      category: "bug",
      subject: null,
      message: "It is broken",
      language: "en",
    } as const;
    const row = { ...text, idempotency_key: key, content_hash: randomBytes(32), user_id: null, created_at: at };
    await db.insertInto("contact_messages").values(row).execute();
    return () => there(db.selectFrom("contact_messages").select("id").where("idempotency_key", "=", key));
  },
  async auditEvents(at) {
    const id = uuidv7();
    const { userId } = await createUser(database.db);
    await database.asOwner(
      `insert into audit_events (id, at, action, details) values ('${id}', '${at.toISOString()}', 'session.ended', '{}')`,
      `insert into audit_origins (event_id, user_id, network) values ('${id}', '${userId}', '10.0.0.1')`,
    );
    return () => there(database.db.selectFrom("audit_events").select("id").where("id", "=", id));
  },
  async exportFiles(at) {
    const { db } = database;
    const id = uuidv7();
    const made = { status: "ready", bytes: 1, ready_at: at, expires_at: addMilliseconds(at, keptMs.exportFiles) } as const;
    await db
      .insertInto("data_exports")
      .values({ id, user_id: await userOf(), asked_at: at, ...made })
      .execute();
    return () => there(db.selectFrom("data_exports").select("id").where("id", "=", id).where("file_name", "is not", null));
  },
  async exports(at) {
    const { db } = database;
    const id = uuidv7();
    await db
      .insertInto("data_exports")
      .values({ id, user_id: await userOf(), asked_at: at })
      .execute();
    return () => there(db.selectFrom("data_exports").select("id").where("id", "=", id));
  },
  async unsentFiles(at) {
    const id = uuidv7();
    await database.asOwner(`insert into files (id, user_id, kind, name, content_type, bytes, created_at)
      values ('${id}', '${await userOf()}', 'attachment', 'a.txt', 'text/plain', 1, '${at.toISOString()}')`);
    return () => there(database.db.selectFrom("files").select("id").where("id", "=", id));
  },
  async dictations(at) {
    const { db, pool } = database;
    const id = await endedAnswer(at);
    await db
      .updateTable("generations")
      .set({ options: JSON.stringify({ recording: { fileId: id, durationMs: 1, dictated: true } }) })
      .where("id", "=", id)
      .execute();
    await pool.query("insert into generation_parts (generation_id, place, kind, text) values ($1, 1, 'text', 'Hello')", [id]);
    return () => there(db.selectFrom("generation_parts").select("place").where("generation_id", "=", id));
  },
  async unfinishedFiles(at) {
    const id = uuidv7();
    await database.asOwner(`insert into files (id, user_id, kind, name, bytes, created_at, reserved_at)
      values ('${id}', '${await userOf()}', 'output', 'a.png', 1, now(), '${at.toISOString()}')`);
    return () => there(database.db.selectFrom("files").select("id").where("id", "=", id));
  },
  async stripePayloads(at) {
    const { pool } = database;
    const id = `evt_${randomUUID()}`;
    await pool.query(
      "insert into stripe_events (id, type, livemode, payload, received_at, status) values ($1, 'invoice.paid', false, '{\"a\":1}', $2, 'processed')",
      [id, at],
    );
    return async () => {
      const { rows } = await pool.query<{ payload: object }>("select payload from stripe_events where id = $1", [id]);
      return Object.keys(rows[0]?.payload ?? {}).length > 0;
    };
  },
};

describe("the table of retention limits", () => {
  it("names every table of the database and no other", async () => {
    const { rows } = await database.pool.query<{ schema: string; name: string }>(
      `select relnamespace::regnamespace::text as schema, relname as name from pg_class where relkind in ('r', 'p') and not relispartition
         and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`,
    );
    const inPublic = rows.filter(({ schema }) => schema === "public").map(({ name }) => name);
    expect(inPublic.sort()).toEqual(Object.keys(retention).sort());
    expect(new Set(rows.map(({ schema }) => schema))).toEqual(new Set(["public", queueSchema]));
    expect(queueRetention.rows).toBe("until done");
  });

  it("names a cascading foreign key for every table whose rows are deleted with another row", async () => {
    for (const [table, { rows }] of Object.entries(retention)) {
      if (typeof rows === "string" || !("with" in rows)) continue;
      const { rowCount } = await database.pool.query(
        "select from pg_constraint where contype = 'f' and conrelid = $1::regclass and confrelid = $2::regclass and confdeltype = 'c'",
        [table, rows.with],
      );
      expect(rowCount, table).toBe(1);
    }
  });
});

it("every foreign key to rows that a sweep deletes has an index", async () => {
  const { rows } = await database.pool.query<{ column: string }>(
    `with recursive deleted (oid) as (
         select to_regclass((regexp_matches(prosrc, 'delete from (\\w+)', 'g'))[1])::oid from pg_proc where proname like 'retention\\_%'
         union select conrelid from pg_constraint join deleted on confrelid = deleted.oid where contype = 'f' and confdeltype = 'c')
       select conrelid::regclass || '.' || attname as column
         from pg_constraint join deleted on confrelid = deleted.oid join pg_attribute on attrelid = conrelid and attnum = conkey[1]
         where contype = 'f' and not exists (select from pg_index where indrelid = conrelid and indkey[0] = conkey[1] and indisvalid
           and (indpred is null or pg_get_expr(indpred, indrelid) = format('(%I IS NOT NULL)', attname)))`,
  );
  expect(rows.map(({ column }) => column)).toEqual([]);
});

/** Plants one item on each side of the sweep's limit; two sweeps at once delete the one past it, once. */
async function expectLimitKept(sweep: Sweep): Promise<void> {
  const now = Date.now();
  const past = await plants[sweep](new Date(now - keptMs[sweep] - minuteMs));
  const young = await plants[sweep](new Date(now - keptMs[sweep] + minuteMs));
  const counts = await Promise.all([batch(sweep), batch(sweep)]);
  expect([counts[0] + counts[1], await past(), await young()]).toEqual([1, false, true]);
}

async function expectWaitsKept(): Promise<void> {
  const old = new Date(Date.now() - 400 * 24 * 60 * minuteMs);
  const waiting = { key: "email:waiting", failures: 9, window_started_at: old, blocked_until: addMilliseconds(new Date(), minuteMs) };
  await database.db.insertInto("auth_attempts").values(waiting).execute();
  expect(await batch("attempts")).toBe(0);
}

describe("planted bugs", () => {
  const inEverySweep: [string, (source: string) => string][] = [
    [
      "a limit longer than said",
      (source) =>
        source.replaceAll(
          /interval '(-?)(\d+) (days?|hours)'/g,
          (_, sign, count, unit) => `interval '${sign}${Number(count) + 1} ${unit}'`,
        ),
    ],
    ["a limit in the future", (source) => source.replaceAll("- interval '", "+ interval '").replaceAll("interval '-", "interval '")],
  ];
  it.each(inEverySweep)("are found in every sweep: %s", async (_name, edit) => {
    for (const sweep of sweepNames) {
      await plantBug(database, sweeps[sweep].sql, edit);
      await expect(expectLimitKept(sweep), sweep).rejects.toMatchObject({ name: "AssertionError" });
    }
  });

  it("are found: counters of attempts deleted while somebody waits", async () => {
    await plantBug(database, sweeps.attempts.sql, (source) => source.replace("and coalesce(blocked_until <= now(), true)", ""));
    await expect(expectWaitsKept()).rejects.toMatchObject({ name: "AssertionError" });
  });
});

describe("a sweep", () => {
  it.each(sweepNames)("%s: deletes what is past its limit and nothing else; two sweeps at once delete it once", expectLimitKept);

  it("keeps counters of attempts whose wait is not over", expectWaitsKept);

  it("uses business time for business data, so that the sandbox's clock moves it, and wall time for links", async () => {
    const mail = await plants.mailBodies(new Date());
    const link = await plants.links(new Date());
    await database.db
      .updateTable("business_clock")
      .set({ offset_ms: keptMs.mailBodies + minuteMs })
      .execute();
    expect([await batch("mailBodies"), await batch("links")]).toEqual([1, 0]);
    expect([await mail(), await link()]).toEqual([false, true]);
  });

  it("deletes dead letters past their limit", async () => {
    const { db } = database;
    const at = (kept: number) => new Date(Date.now() - kept);
    const letter = { job: "send-mail", payload: "{}", error: "no", attempts: 1, replayed_at: null };
    const [past, waiting] = [uuidv7(), uuidv7()];
    await db
      .insertInto("dead_letters")
      .values([
        { ...letter, id: past, failed_at: at(keptMs.deadLetters + minuteMs) },
        { ...letter, id: waiting, failed_at: at(keptMs.deadLetters - minuteMs) },
      ])
      .execute();
    await sweepRetention(deps(), new AbortController().signal);
    expect(await db.selectFrom("dead_letters").select("id").execute()).toEqual([{ id: waiting }]);
  });

  it("skips a locked row until the next time and deletes the others", async () => {
    const at = new Date(Date.now() - keptMs.mails - minuteMs);
    const planted = await Promise.all(Array.from({ length: 4 }, () => plants.mails(at)));
    const holder = new pg.Client({ connectionString: database.ownerUrl });
    await holder.connect();
    await holder.query("begin");
    await holder.query("select from mails order by created_at limit 1 for update");
    await sweepRetention(deps(), new AbortController().signal);
    const left = await Promise.all(planted.map((isThere) => isThere()));
    expect(left.filter(Boolean)).toHaveLength(1);
    await holder.query("commit");
    await holder.end();
    await sweepRetention(deps(), new AbortController().signal);
    expect(await Promise.all(planted.map((isThere) => isThere()))).toEqual([false, false, false, false]);
    expect(failures).toEqual([]);
  });

  it("that fails does not stop the others", async () => {
    const planted = await plants.stripePayloads(new Date(Date.now() - keptMs.stripePayloads - minuteMs));
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(
      "create or replace function retention_links(p_limit integer, p_from text) returns table (done integer, reached text) language sql as $$ select 1 / 0, p_from $$",
    );
    await owner.end();
    await sweepRetention(deps(), new AbortController().signal);
    expect(await planted()).toBe(false);
    expect(failures).toEqual([expect.objectContaining({ sweep: "links" })]);
  });

  it(`of ${manyRows} rows holds locks on a hundred at most, and does not delay reads and writes at the same time`, async () => {
    await database.asOwner(
      "create table deleted (transaction xid8, locked_ms double precision)",
      `create function note_deleted() returns trigger language plpgsql security definer as $$ begin
         insert into deleted
           select pg_current_xact_id(), extract(epoch from clock_timestamp() - transaction_timestamp()) * 1000 from gone;
         return null;
       end $$`,
      `create trigger note_deleted after delete on mails referencing old table as gone
         for each statement execute function note_deleted()`,
      "grant select on deleted to tessera_app",
    );
    const at = new Date(Date.now() - keptMs.mails - minuteMs);
    await database.pool.query(
      `insert into mails (key, recipient, template, language, parameters, created_at)
         select 'old:' || n, 'ada@example.com', 'account-exists', 'en', '{"a":"${"x".repeat(500)}"}', $1 from generate_series(1, ${manyRows}) n`,
      [at],
    );
    const waits: number[] = [];
    let done = false;
    const beside = async () => {
      while (!done) {
        const startedAt = performance.now();
        await database.db.insertInto("mails").values(mailAt(new Date())).execute();
        await database.pool.query("update mails set sent_at = now() where key = 'old:' || (1 + floor(random() * $1))::integer", [manyRows]);
        waits.push(performance.now() - startedAt);
      }
    };
    const writers = [beside(), beside()];
    const startedAt = performance.now();
    const swept = await sweepRetention(deps(), new AbortController().signal);
    const sweptMs = performance.now() - startedAt;
    done = true;
    await Promise.all(writers);
    expect(swept.mails?.rows).toBe(manyRows);
    expect(await database.db.selectFrom("mails").select("id").where("key", "like", "old:%").execute()).toEqual([]);
    const { rows: batches } = await database.pool.query<{ rows: number; locked_ms: number }>(
      "select count(*)::integer as rows, max(locked_ms) as locked_ms from deleted group by transaction",
    );
    expect(batches.reduce((sum, { rows }) => sum + rows, 0)).toBe(manyRows);
    expect(Math.max(...batches.map(({ rows }) => rows))).toBeLessThanOrEqual(100);
    // Medians, because on a busy machine a few batches wait for the CPU. All take longer there, but a batch is still a small part of it.
    const shortMs = full ? 100 : sweptMs / 10;
    expect(medianOf(batches.map(({ locked_ms }) => locked_ms))).toBeLessThan(shortMs);
    expect(medianOf(waits)).toBeLessThan(shortMs);
  });
});

it("the application's role can't delete rows before their limit", async () => {
  const young = await Promise.all(sweepNames.map((sweep) => plants[sweep](new Date(Date.now() - keptMs[sweep] + minuteMs))));
  const sums = [
    "credit_expiries",
    "daily_answers",
    "daily_credits",
    "daily_first_texts",
    "daily_people",
    "daily_subscriptions",
    "waiting_answers",
  ];
  const own = [
    "auth_attempts",
    "clip_jobs",
    "conversations",
    "discount_campaigns",
    "email_links",
    "files",
    "model_prices",
    "outbox",
    "put_off_needs",
    "saved_views",
    "sweep_failures",
    ...sums,
  ];
  for (const table of Object.keys(retention).filter((name) => !own.includes(name))) {
    for (const statement of [`delete from ${table}`, `truncate ${table}`])
      await expect(database.pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  }
  for (const sweep of sweepNames)
    await database.pool.query(`select ${sweeps[sweep].sql}(2147483647, null), ${sweeps[sweep].sql}(null, null)`);
  expect(await Promise.all(young.map((isThere) => isThere()))).toEqual(young.map(() => true));
});
