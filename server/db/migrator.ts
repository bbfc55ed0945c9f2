import { readdir, readFile } from "node:fs/promises";
import { runMigrations } from "bullmq";
import type { Transaction } from "kysely";
import { CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import { Migrator, NO_MIGRATIONS } from "kysely/migration";
import pg from "pg";
import { queueSchema } from "../queue/schema.ts";
import { grantToApplication, grantWhatIsLeft } from "./grants.ts";

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

/** One transaction on one connection: whatever fails, nothing is changed. */
async function withOwner<T>(ownerUrl: string, work: (trx: Transaction<unknown>) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 1, application_name: "tessera migrate", connectionTimeoutMillis: 10_000 });
  pool.on("error", () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await db.connection().execute(async (connection) => {
      // Before the transaction, so that it sees what the machine before has done. The session's end lets go of it.
      await sql`select pg_advisory_lock(${lockKey})`.execute(connection);
      return connection.transaction().execute(work);
    });
  } finally {
    await db.destroy();
  }
}

/** BullMQ's migrations as part of ours: it begins and ends a transaction of its own, and on this connection one is open. */
async function migrateQueue(trx: Transaction<unknown>): Promise<void> {
  const ownTransaction = /^(begin|commit|rollback)$/i;
  await runMigrations(
    {
      // What it asks for has the rows it expects; our type can't say so.
      query: async <R>(text: string, values: readonly unknown[] = []) =>
        ownTransaction.test(text) ? { rows: [] } : trx.executeQuery<R>(CompiledQuery.raw(text, [...values])),
    },
    queueSchema,
  );
  await sql`set local search_path to default`.execute(trx);
}

/**
 * Migrates up to the newest, or down until `downTo` is the newest one applied ("none": until nothing is left). All of it,
 * the queue's own tables and the rights of the application's role included, is one transaction. Returns the names of the
 * steps taken; throws the first failure, with nothing changed.
 */
export async function migrate(options: { ownerUrl: string; applicationRole: string; downTo?: string }): Promise<string[]> {
  const { downTo } = options;
  if (downTo !== undefined && downTo !== "none" && !(await migrationNames()).includes(downTo)) {
    throw new Error(`there is no migration ${downTo}; there are: none, ${(await migrationNames()).join(", ")}`);
  }
  return withOwner(options.ownerUrl, async (trx) => {
    const migrator = createMigrator(trx);
    if (downTo !== undefined) await assertApplied(migrator, downTo);
    const { error, results = [] } =
      downTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(downTo === "none" ? NO_MIGRATIONS : downTo);
    if (error) throw error;
    if (downTo === undefined) {
      await migrateQueue(trx);
      await grantToApplication(trx, options.applicationRole);
    } else {
      await grantWhatIsLeft(trx, options.applicationRole);
      // BullMQ's migrations know no way down but to drop its tables.
      if (downTo === "none") await sql`drop schema if exists ${sql.id(queueSchema)} cascade`.execute(trx);
    }
    return results.map((result) => result.migrationName);
  });
}

/** Going down to a migration that is not applied would go up. */
async function assertApplied(migrator: Migrator, name: string): Promise<void> {
  const applied = (await migrator.getMigrations()).filter((migration) => migration.executedAt).map((migration) => migration.name);
  if (name !== "none" && !applied.includes(name)) throw new Error(`${name} is not applied, so there is no way down to it`);
}
