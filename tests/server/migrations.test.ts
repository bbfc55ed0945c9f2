import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createPool } from "#server/db/database.ts";
import { wasMigratedBy } from "#server/db/migrated-by.ts";
import { migrationNames, migrationsFolder } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { assertMigrated, assertRestrictedRole } from "#server/db/verify.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { createJobPublisher } from "#server/queue/connection.ts";
import { full } from "#tests/support/full.ts";
import { createEmptyDatabase, createTestDatabase, runAt, superuserUrlOf } from "#tests/support/postgres.ts";
import { compileCache } from "#tests/support/sources.ts";

const run = promisify(execFile);
let database: Awaited<ReturnType<typeof createEmptyDatabase>>;

async function onOwner<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

async function asSuperuser(...statements: string[]): Promise<void> {
  const url = new URL(inject("postgres").superuserUrl);
  url.pathname = new URL(database.ownerUrl).pathname;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Everything the migrations create, read from PostgreSQL's catalogue, but for the log's partitions, which depend on the time. */
function schema(): Promise<{ line: string }[]> {
  return onOwner(
    `select line from (
     select 'column ' || table_schema || '.' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') as line
       from information_schema.columns where table_schema in ('public', 'bullmq')
     union all select 'index ' || indexdef from pg_indexes where schemaname in ('public', 'bullmq')
     union all select 'function ' || p.oid::regprocedure || ' ' || md5(prosrc) from pg_proc p join pg_namespace n on n.oid = pronamespace where nspname in ('public', 'bullmq')
     union all select 'trigger ' || tgname || ' ' || tgrelid::regclass from pg_trigger where not tgisinternal
     union all select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace::regnamespace::text in ('public', 'bullmq')
     union all select 'right ' || grantee || ' ' || table_schema || '.' || table_name || ' ' || privilege_type from information_schema.role_table_grants
       where grantee = '${applicationRole}') lines where line !~ 'generation_events_[0-9]' order by 1`,
  );
}

async function refusal(work: (pool: pg.Pool) => Promise<void>, url: string): Promise<string> {
  const pool = createPool(url, 1, "tessera test");
  try {
    await work(pool);
    return "";
  } catch (error) {
    return (error as Error).message;
  } finally {
    await pool.end();
  }
}

function command(parameters: readonly string[], environment: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...environment };
  return run(process.execPath, ["server/db/migrate.ts", ...parameters], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout.trim() }),
    (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr.trim() }),
  );
}

/** Begins a test on a database that was never migrated. */
async function empty(): Promise<typeof database> {
  database = await createEmptyDatabase();
  onTestFinished(database.drop);
  return database;
}

/** Begins a test on a copy of the one that was migrated when the test run began, which takes a tenth of the time. */
async function migrated(): Promise<typeof database> {
  database = await createTestDatabase();
  onTestFinished(database.drop);
  return database;
}

describe("migrations", () => {
  it("go up, down to nothing and up again to the same schema", async () => {
    const { ownerUrl } = await empty();
    expect(await migrate({ ownerUrl, applicationRole })).toEqual(await migrationNames());
    const first = await schema();
    expect(first.length).toBeGreaterThan(100);
    await migrate({ ownerUrl, applicationRole, downTo: "none" });
    expect((await schema()).filter(({ line }) => !line.includes("migrations"))).toEqual([]);
    await migrate({ ownerUrl, applicationRole });
    expect(await schema()).toEqual(first);
  });

  it("say by which code they were made, for which role, until they go down or other code migrates", async () => {
    const { ownerUrl } = await migrated();
    const asks = (release: string, role = applicationRole) => wasMigratedBy(ownerUrl, { release, applicationRole: role });
    expect(await asks("one")).toBe(false);
    await migrate({ ownerUrl, applicationRole, release: "o'ne" });
    expect([await asks("o'ne"), await asks("two"), await asks("o'ne", "another")]).toEqual([true, false, false]);
    // `npm run migrate` does not say which code it is.
    await migrate({ ownerUrl, applicationRole });
    expect(await asks("o'ne")).toBe(false);
    await migrate({ ownerUrl, applicationRole, release: "two" });
    await migrate({ ownerUrl, applicationRole, downTo: (await migrationNames()).at(-2) ?? "" });
    expect(await asks("two")).toBe(false);
    await migrate({ ownerUrl, applicationRole, downTo: "none" });
    expect(await asks("two")).toBe(false);
  });

  // All of them in `npm run test:full`; the earlier ones don't change any more.
  it("go down one step at a time and up again to the same schema, and never leave a function of ours executable by everybody", async () => {
    const { ownerUrl } = await migrated();
    const whole = await schema();
    const everybodys = () =>
      onOwner(`select p.oid::regprocedure::text as name from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
        where pronamespace = 'public'::regnamespace and grantee = 0 and privilege_type = 'EXECUTE'`);
    expect(await everybodys()).toEqual([]);
    for (const name of (await migrationNames()).toReversed().slice(0, full ? undefined : 5)) {
      await migrate({ ownerUrl, applicationRole, downTo: name });
      expect((await onOwner<{ name: string }>("select name from migrations order by name")).at(-1)).toEqual({ name });
      expect(await everybodys(), name).toEqual([]);
      // The application may still call what the release of that step calls.
      const mayStart = `select bool_and(has_function_privilege('${applicationRole}', oid, 'EXECUTE')) as may from pg_proc where proname = 'answer_start'`;
      expect(await onOwner(mayStart), name).toEqual([{ may: name < "0008" ? null : true }]);
    }
    await expect(migrate({ ownerUrl, applicationRole, downTo: "0999_unknown" })).rejects.toThrow("there is no migration 0999_unknown");
    const newest = (await migrationNames()).at(-1) ?? "";
    await expect(migrate({ ownerUrl, applicationRole, downTo: newest })).rejects.toThrow(`${newest} is not applied`);
    await migrate({ ownerUrl, applicationRole });
    expect(await schema()).toEqual(whole);
    expect(await everybodys()).toEqual([]);
  });

  it("name the invoice of grants that were posted before, begin the history of their subscriptions, and go down with both", async () => {
    const { ownerUrl } = await migrated();
    const before = "0029_identities";
    await migrate({ ownerUrl, applicationRole, downTo: before });
    const earlier = await schema();
    await onOwner("insert into users (id, created_at) values ('00000000-0000-7000-8000-000000000001', now())");
    await onOwner(`insert into wallets (id, user_id, created_at) select id, id, now() from users`);
    for (const key of ["grant:in_1:il_1", "month:in_2:il_2:3", "trial:ada", "grant:of-a-test"])
      await onOwner(`select ledger_post_grant(id, 'plan', 10, now() + interval '1 day', '${key}', now()) from wallets`);
    await onOwner(
      `insert into scheduled_grants (key, user_id, credits, due_at, expires_at) select 'month:in_2:il_2:4', id, 10, now(), now() from users`,
    );
    await onOwner(`insert into user_subscriptions (user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start,
      current_period_end, started_at, updated_at) select id, 'starter', 'month', 'active', 'sub_1', now(), now(), '2026-01-01T00:00:00Z', now() from users`);

    await migrate({ ownerUrl, applicationRole });
    const named = "invoice_id as invoice, invoice_line_id as line";
    expect(
      await onOwner(`select source_key as key, ${named} from grants union select key, ${named} from scheduled_grants order by key`),
    ).toEqual([
      { key: "grant:in_1:il_1", invoice: "in_1", line: "il_1" },
      { key: "grant:of-a-test", invoice: null, line: null },
      { key: "month:in_2:il_2:3", invoice: "in_2", line: "il_2" },
      { key: "month:in_2:il_2:4", invoice: "in_2", line: "il_2" },
      { key: "trial:ada", invoice: null, line: null },
    ]);
    expect(await onOwner("select stripe_subscription_id as id, plan_key as plan, valid_from from subscription_changes")).toEqual([
      { id: "sub_1", plan: "starter", valid_from: new Date("2026-01-01T00:00:00Z") },
    ]);
    await migrate({ ownerUrl, applicationRole, downTo: before });
    expect(await schema()).toEqual(earlier);
    expect(await onOwner("select count(*) from grants")).toEqual([{ count: 4 }]);
  });

  it("leave no discount to others than it was for when they go down: who left, or some plans", async () => {
    const { ownerUrl } = await migrated();
    const insert = (percent: number, from: string, to: string, audience = "'new', null, null") =>
      onOwner(`insert into discount_campaigns (percent, starts_at, ends_at, created_at, audience, ended_days, plan_keys)
        values (${percent}, now() + interval '${from}', now() + interval '${to}', now(), ${audience})`);
    await onOwner("update business_clock set offset_ms = 86400000");
    await insert(10, "-9 days", "-8 days", "'left', 30, null");
    await insert(20, "-1 hour", "9 days", "'left', 30, null");
    await insert(30, "12 hours", "9 days", "'new', null, '{starter}'");
    await insert(40, "5 days", "9 days", "'left', 30, '{starter}'");
    await insert(50, "-1 hour", "9 days");
    await insert(60, "5 days", "9 days");
    await migrate({ ownerUrl, applicationRole, downTo: "0092_discarded_events" });
    const running = "ends_at > now() + interval '1 day 1 second' as running";
    expect(await onOwner(`select percent, ${running} from discount_campaigns order by percent`)).toEqual([
      { percent: 10, running: false },
      { percent: 20, running: false },
      { percent: 30, running: false },
      { percent: 50, running: true },
      { percent: 60, running: true },
    ]);
  });

  it("allow two signatures of a function at the same time, and the application can call both", async () => {
    const { ownerUrl } = await migrated();
    await onOwner("create function ledger_available(p_user uuid) returns bigint language sql as $$ select 0::bigint $$");
    await migrate({ ownerUrl, applicationRole });
    const rights = await onOwner(
      `select has_function_privilege('${applicationRole}', oid, 'EXECUTE') as may from pg_proc where proname = 'ledger_available'`,
    );
    expect(rights).toEqual([{ may: true }, { may: true }]);
  });

  it("from the first release on, drop no function, table or column that the release before may still use", async () => {
    const drops: string[] = [];
    const migrations = await migrationNames();
    for (const name of migrations) {
      const text = await readFile(new URL(`${name}.up.sql`, migrationsFolder), "utf8");
      const declared = [...text.matchAll(/^-- Contracts (\d{4}_\w+):/gm)].map(([, expanded = ""]) => expanded);
      expect(
        declared.every((expanded) => expanded < name && migrations.includes(expanded)),
        name,
      ).toBe(true);
      if (declared.length === 0)
        drops.push(...[...text.matchAll(/\bdrop (?:function|table|column) (?!%)[^;]+/gi)].map(([drop]) => `${name}: ${drop}`));
    }
    // These were made before the first release. A later migration that drops something must name the migration that introduced
    // its replacement ("-- Contracts 0042_name: …"), which must have been in the previous release.
    expect(drops).toEqual([
      "0013_answers_cut_short: drop function answer_end",
      "0015_ledger_debt: drop function ledger_claw_back",
      "0016_answer_moments: drop function answer_start, answer_end",
      "0025_refused_starts: drop function answer_start",
      "0029_identities: drop column password_hash",
      "0029_identities: drop function retention_unconfirmed_accounts",
      "0029_identities: drop column email, drop column mailbox_key, drop column email_verified_at, drop column password_hash",
      "0030_columns_for_keys: drop function ledger_post_grant",
      "0032_turns: drop function generation_erase_log, conversation_erase_answers, answer_start, answer_end",
      "0032_turns: drop column conversation_id",
      "0034_billing_accounts: drop column stripe_customer_id",
    ]);
  });

  it("started by five processes at once are applied once", async () => {
    await empty();
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate({ ownerUrl: database.ownerUrl, applicationRole })));
    expect(results.flat().sort()).toEqual(await migrationNames());
  });

  it("can run again after the queue was used, and the queue still works", async () => {
    await migrated();
    const up = () => migrate({ ownerUrl: database.ownerUrl, applicationRole });
    const publish = async (id: string) => {
      const publisher = createJobPublisher({ databaseUrl: database.applicationUrl, redisUrl: undefined });
      await publisher.publish([{ id, name: "send-mail", payload: {} }]).finally(() => publisher.close());
    };
    await publish("before");
    expect(await up()).toEqual([]);
    await publish("after");
  });

  it("work beside extensions and objects of others, and grant no rights on those", async () => {
    await empty();
    await asSuperuser(
      "create extension pg_buffercache",
      "create extension pg_stat_statements",
      "create table public.others (secret text)",
      "create sequence public.other_numbers",
      "create function public.other() returns text language sql as $$ select 'other' $$",
      "revoke all on function public.other() from public",
      "create schema bullmq authorization tessera_owner",
      "create table bullmq.others (secret text)",
    );
    // The owner of a database may create this extension.
    await onOwner("create extension pgcrypto");
    const up = () => migrate({ ownerUrl: database.ownerUrl, applicationRole });
    expect(await up()).toEqual(await migrationNames());
    expect(await up()).toEqual([]);
    const rights = () =>
      onOwner(`select has_table_privilege('${applicationRole}', c.oid, 'SELECT, INSERT, UPDATE, DELETE') as given from pg_class c
        where c.oid in ('public.others'::regclass, 'public.pg_buffercache'::regclass, 'bullmq.others'::regclass)
        union all select has_function_privilege('${applicationRole}', 'public.other()', 'EXECUTE')
        union all select has_sequence_privilege('${applicationRole}', 'public.other_numbers', 'USAGE')`);
    expect(await rights()).toEqual(Array.from({ length: 5 }, () => ({ given: false })));
    const superuserUrl = new URL(inject("postgres").superuserUrl);
    superuserUrl.pathname = new URL(database.ownerUrl).pathname;
    await migrate({ ownerUrl: superuserUrl.href, applicationRole });
    expect(await rights()).toEqual(Array.from({ length: 5 }, () => ({ given: false })));
    // An extension's functions stay callable by everybody.
    expect(await onOwner(`select has_function_privilege('${applicationRole}', 'public.gen_salt(text)', 'EXECUTE') as given`)).toEqual([
      { given: true },
    ]);
  });

  it("leave nothing behind when any step fails, even the last one", async () => {
    await empty();
    const failing = [
      // Failures in the product's tables, in the queue's, and in the grants.
      ["create table public.mails ()", "drop table public.mails"],
      ["create schema bullmq authorization tessera_owner; create table bullmq.job ()", "drop schema bullmq cascade"],
      [
        `create function public.refuse() returns event_trigger language plpgsql as $$ begin raise exception 'no rights today'; end $$;
         create event trigger refuse on ddl_command_end when tag in ('GRANT') execute function public.refuse()`,
        "drop event trigger refuse; drop function public.refuse()",
      ],
    ] as const;
    const environment = { MIGRATE_DATABASE_URL: database.ownerUrl, DATABASE_URL: database.applicationUrl };
    for (const [obstacle, without] of failing) {
      await asSuperuser(obstacle);
      const before = await schema();
      expect(await command([], environment)).toEqual({
        code: 1,
        output: expect.stringMatching(/^the migration failed and nothing was changed: .+/),
      });
      expect(await schema()).toEqual(before);
      await asSuperuser(without);
    }
    expect(await migrate({ ownerUrl: database.ownerUrl, applicationRole })).toEqual(await migrationNames());
  });

  it("run by the command need the owner's URL; if it is missing, the error says so", async () => {
    await empty();
    expect(await command([], {})).toEqual({
      code: 1,
      output: expect.stringMatching(/^MIGRATE_DATABASE_URL is missing: .*\nDATABASE_URL is missing: .*$/),
    });
    const environment = { MIGRATE_DATABASE_URL: database.ownerUrl, DATABASE_URL: database.applicationUrl };
    expect(await command([], { ...environment, DATABASE_URL: database.ownerUrl })).toEqual({
      code: 1,
      output: expect.stringContaining("same role"),
    });
    expect(await command([], environment)).toEqual({ code: 0, output: (await migrationNames()).map((name) => `up ${name}`).join("\n") });
    expect(await command([], environment)).toEqual({ code: 0, output: "the database is up to date" });
    const down = await command(["--down-to", "0001_accounts"], environment);
    expect(down.output.split("\n").length).toBe((await migrationNames()).length - 1);
  });
});

describe("the start", () => {
  it("refuses a database that is not migrated, and one migrated by a newer release", async () => {
    await empty();
    expect(await refusal(assertMigrated, database.applicationUrl)).toMatch(/^DATABASE_URL: .*npm run migrate/);
    await migrate({ ownerUrl: database.ownerUrl, applicationRole });
    expect(await refusal(assertMigrated, database.applicationUrl)).toBe("");
    await onOwner("insert into migrations (name, timestamp) values ('0999_later', now()::text)");
    expect(await refusal(assertMigrated, database.applicationUrl)).toContain("newer release (0999_later)");
    await onOwner("delete from migrations where name in ('0999_later', '0006_work')");
    expect(await refusal(assertMigrated, database.applicationUrl)).toContain("lacks 0006_work");
  });

  it("refuses a role that could rewrite the ledger or the audit log", async () => {
    const { ownerUrl, applicationUrl } = await migrated();
    expect(await refusal(assertRestrictedRole, applicationUrl)).toBe("");
    expect(await refusal(assertRestrictedRole, ownerUrl)).toContain("owns audit_events");
    for (const right of ["update", "update (amount)", "delete", "truncate"]) {
      await onOwner(`grant ${right} on ledger_entries to ${applicationRole}`);
      expect(await refusal(assertRestrictedRole, applicationUrl), right).toContain("may change ledger_entries");
      await onOwner(`revoke ${right} on ledger_entries from ${applicationRole}`);
    }
    expect(await refusal(assertRestrictedRole, applicationUrl)).toBe("");
    await onOwner(`grant delete on audit_events to ${applicationRole}`);
    expect(await refusal(assertRestrictedRole, applicationUrl)).toContain("may change audit_events");
    await onOwner(`revoke delete on audit_events from ${applicationRole}`);
    await onOwner(`grant delete on ledger_transactions to ${applicationRole}`);
    expect(await refusal(assertRestrictedRole, applicationUrl)).toContain("may change ledger_transactions");
  });

  it("says in one line that the database cannot be reached", async () => {
    const line = await refusal(assertMigrated, "postgres://nobody:x@127.0.0.1:1/none");
    expect(line).toMatch(/^DATABASE_URL: the database cannot be reached \(.+\)/);
    expect(line).not.toContain("\n");
  });

  it("says which limits to look at if the database has no free connection", async () => {
    await migrated();
    const limitTo = (connections: number) =>
      runAt(superuserUrlOf(database), [`alter database ${new URL(database.ownerUrl).pathname.slice(1)} connection limit ${connections}`]);
    await limitTo(0);
    expect(await refusal(assertMigrated, database.applicationUrl)).toMatch(/^DATABASE_URL: .* \(53300\); raise its max_connections, or /);
    await limitTo(-1);
  });
});

describe("the application's role", () => {
  it("may neither write the ledger nor call its internal functions", async () => {
    await migrated();
    const pool = createPool(database.applicationUrl, 1, "tessera test");
    const refused = [
      "update ledger_entries set amount = 1",
      "delete from ledger_transactions",
      "truncate ledger_entries",
      "insert into grants (wallet_id) values (null)",
      "update wallets set balance = 1",
      "update holds set state = 'released'",
      "select ledger_settle_debt(null, now())",
      "create table public.own ()",
      "update migrations set name = 'x'",
    ];
    try {
      for (const statement of refused) await expect(pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    } finally {
      await pool.end();
    }
  });
});
