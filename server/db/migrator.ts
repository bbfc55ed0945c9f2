import { readdir, readFile } from "node:fs/promises";
import { runMigrations } from "bullmq";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import { Migrator, NO_MIGRATIONS } from "kysely/migration";
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

/** The names in order, oldest first. */
export async function migrationNames(): Promise<string[]> {
  return Object.keys(await files.getMigrations()).sort();
}

/** Any number, the same in every release: machines that migrate at once take turns over everything done here. */
const lockKey = 7_340_112;

async function withOwner<T>(ownerUrl: string, work: (db: Kysely<unknown>, client: pg.PoolClient) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 2, application_name: "tessera migrate", connectionTimeoutMillis: 10_000 });
  pool.on("error", () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const client = await pool.connect();
    try {
      await client.query("select pg_advisory_lock($1)", [lockKey]);
      return await work(db, client);
    } finally {
      // Ends the session, and the lock with it.
      client.release(true);
    }
  } finally {
    await db.destroy();
  }
}

const ledgerTables = sql.raw("wallets, grants, ledger_transactions, ledger_entries, holds, hold_parts");
const ledgerFunctions = sql.raw(
  "ledger_post_grant, ledger_hold, ledger_end_hold, ledger_expire_grant, ledger_claw_back, ledger_disagreements, ledger_assert_balanced, ledger_assert_entries, ledger_assert_wallet, ledger_refuse_change, answer_start, answer_end",
);

/** Least privilege: everything the product does itself, and of the ledger only reading and calling its functions. */
async function grantToApplication(db: Kysely<unknown>, role: string): Promise<void> {
  const name = sql.id(role);
  const queue = sql.id(queueSchema);
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const database = sql.id(rows[0]?.name ?? "");
  const statements = [
    sql`grant usage on schema public to ${name}`,
    sql`grant select, insert, update, delete on all tables in schema public to ${name}`,
    sql`revoke insert, update, delete, truncate on ${ledgerTables} from ${name}`,
    sql`grant insert (user_id, created_at) on wallets to ${name}`,
    sql`grant update (frozen_at) on wallets to ${name}`,
    sql`revoke all on migrations, migrations_lock from ${name}`,
    sql`grant select on migrations to ${name}`,
    sql`revoke execute on all functions in schema public from public`,
    sql`grant execute on function ${ledgerFunctions} to ${name}`,
    // BullMQ makes a sequence for each queue as it goes, and a temporary table for every bulk of jobs.
    sql`grant temporary on database ${database} to ${name}`,
    sql`grant usage, create on schema ${queue} to ${name}`,
    sql`grant select, insert, update, delete on all tables in schema ${queue} to ${name}`,
    sql`grant execute on all functions in schema ${queue} to ${name}`,
  ];
  // The sequences BullMQ made as the application belong to it already, and only their owner may grant them.
  const sequences = await sql<{ name: string }>`select relname as name from pg_class
    where relkind = 'S' and relnamespace = ${queueSchema}::regnamespace and pg_get_userbyid(relowner) = current_user`.execute(db);
  for (const sequence of sequences.rows) statements.push(sql`grant usage on sequence ${sql.id(queueSchema, sequence.name)} to ${name}`);
  // In one transaction, so that a running application never sees a right it should not have, or lacks one it needs.
  await db.transaction().execute(async (trx) => {
    for (const statement of statements) await statement.execute(trx);
  });
}

/**
 * Migrates up to the newest, or down until `downTo` is the newest one applied ("none": until nothing is left). All
 * steps are one transaction. Returns the names of the steps taken; throws the first failure, with nothing changed.
 */
export async function migrate(options: { ownerUrl: string; applicationRole: string; downTo?: string }): Promise<string[]> {
  const { downTo } = options;
  if (downTo !== undefined && downTo !== "none" && !(await migrationNames()).includes(downTo)) {
    throw new Error(`there is no migration ${downTo}; there are: none, ${(await migrationNames()).join(", ")}`);
  }
  return withOwner(options.ownerUrl, async (db, client) => {
    const migrator = createMigrator(db);
    if (downTo !== undefined) await assertApplied(migrator, downTo);
    const { error, results = [] } =
      downTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(downTo === "none" ? NO_MIGRATIONS : downTo);
    if (error) throw error;
    if (downTo === undefined) {
      // BullMQ's own tables, when it runs on PostgreSQL; its migrations know no way down but to drop them.
      await runMigrations(client, queueSchema);
      await grantToApplication(db, options.applicationRole);
    } else if (downTo === "none") {
      await sql`drop schema if exists ${sql.id(queueSchema)} cascade`.execute(db);
    }
    return results.map((result) => result.migrationName);
  });
}

/** Going down to a migration that is not applied would go up. */
async function assertApplied(migrator: Migrator, name: string): Promise<void> {
  const applied = (await migrator.getMigrations()).filter((migration) => migration.executedAt).map((migration) => migration.name);
  if (name !== "none" && !applied.includes(name)) throw new Error(`${name} is not applied, so there is no way down to it`);
}
