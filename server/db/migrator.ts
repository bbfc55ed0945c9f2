import { readdir, readFile } from "node:fs/promises";
import { createPostgresBackend, Queue } from "bullmq";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import { Migrator } from "kysely/migration";
import pg from "pg";
import { queueSchema } from "../queue/schema.ts";

export const migrationsFolder = new URL("../../migrations/", import.meta.url);

/** `migrations/0001_name.up.sql` and its `.down.sql`. */
const files: MigrationProvider = {
  async getMigrations() {
    const names = (await readdir(migrationsFolder))
      .filter((file) => file.endsWith(".up.sql"))
      .map((file) => file.replace(/\.up\.sql$/, ""));
    const run = (file: string) => async (db: Kysely<unknown>) => {
      await sql.raw(await readFile(new URL(file, migrationsFolder), "utf8")).execute(db);
    };
    return Object.fromEntries(
      names.sort().map((name): [string, Migration] => [name, { up: run(`${name}.up.sql`), down: run(`${name}.down.sql`) }]),
    );
  },
};

function createMigrator(db: Kysely<unknown>): Migrator {
  return new Migrator({ db, provider: files, migrationTableName: "migrations", migrationLockTableName: "migrations_lock" });
}

async function withOwner<T>(ownerUrl: string, work: (db: Kysely<unknown>) => Promise<T>): Promise<T> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: ownerUrl, max: 2 }) }) });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Least privilege: everything the product does itself, and of the ledger only reading and calling its functions. */
async function grantToApplication(db: Kysely<unknown>, role: string): Promise<void> {
  const name = sql.id(role);
  await sql`grant usage on schema public to ${name}`.execute(db);
  await sql`grant select, insert, update, delete on all tables in schema public to ${name}`.execute(db);
  await sql`revoke insert, update, delete, truncate on wallets, grants, ledger_transactions, ledger_entries, holds, hold_parts from ${name}`.execute(
    db,
  );
  await sql`grant insert (user_id, created_at) on wallets to ${name}`.execute(db);
  await sql`grant update (frozen_at) on wallets to ${name}`.execute(db);
  await sql`revoke all on migrations, migrations_lock from ${name}`.execute(db);
  await sql`grant select on migrations to ${name}`.execute(db);
  await sql`revoke execute on all functions in schema public from public`.execute(db);
  await sql`grant execute on function ledger_post_grant, ledger_hold, ledger_end_hold, ledger_expire_grant, ledger_claw_back, ledger_disagreements,
    ledger_assert_balanced, ledger_assert_entries, ledger_assert_wallet, ledger_refuse_change to ${name}`.execute(db);
  await sql`grant usage on schema ${sql.id(queueSchema)} to ${name}`.execute(db);
  await sql`grant select, insert, update, delete on all tables in schema ${sql.id(queueSchema)} to ${name}`.execute(db);
  await sql`grant usage on all sequences in schema ${sql.id(queueSchema)} to ${name}`.execute(db);
  await sql`grant execute on all functions in schema ${sql.id(queueSchema)} to ${name}`.execute(db);
}

/** BullMQ brings its schema up to date itself, under its own lock, as the owner. */
async function migrateQueue(ownerUrl: string): Promise<void> {
  const queue = new Queue(
    "migrate",
    { connection: { connectionString: ownerUrl, schema: queueSchema, migrate: true, max: 1 } as never },
    createPostgresBackend as never,
  );
  queue.on("error", () => {});
  try {
    await queue.waitUntilReady();
  } finally {
    await queue.close();
  }
}

/** Migrates up to the newest, or down to and excluding `target`. Throws the first failure; each file is one transaction. */
export async function migrate(options: { ownerUrl: string; applicationRole: string; downTo?: string }): Promise<string[]> {
  const applied = await withOwner(options.ownerUrl, async (db) => {
    const migrator = createMigrator(db);
    const { error, results = [] } =
      options.downTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(options.downTo);
    if (error) throw error;
    return results.map((result) => result.migrationName);
  });
  if (options.downTo === undefined) {
    await migrateQueue(options.ownerUrl);
    await withOwner(options.ownerUrl, (db) => grantToApplication(db, options.applicationRole));
  }
  return applied;
}
