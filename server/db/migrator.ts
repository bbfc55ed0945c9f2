import { readFile } from "node:fs/promises";
import { runMigrations } from "bullmq";
import type { Transaction } from "kysely";
import { CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import { Migrator, NO_MIGRATIONS } from "kysely/migration";
import pg from "pg";
import { grantAfterMigratingDown, grantToApplication } from "./grants.ts";
import { commentOf } from "./migrated-by.ts";
import { migrationNames, migrationsFolder } from "./migrations.ts";
import { queueSchema } from "./queue-schema.ts";

const files: MigrationProvider = {
  async getMigrations() {
    const names = await migrationNames();
    const run = (file: string) => async (db: Kysely<unknown>) => {
      await sql.raw(await readFile(new URL(file, migrationsFolder), "utf8")).execute(db);
    };
    return Object.fromEntries(
      names.map((name): [string, Migration] => [name, { up: run(`${name}.up.sql`), down: run(`${name}.down.sql`) }]),
    );
  },
};

function createMigrator(db: Kysely<unknown>): Migrator {
  return new Migrator({ db, provider: files, migrationTableName: "migrations", migrationLockTableName: "migrations_lock" });
}

/**
 * An arbitrary number that must stay the same in every release: machines that migrate at the same time wait for each other on
 * this lock.
 */
const lockKey = 7_340_112;

/** Runs everything in one transaction on one connection: if anything fails, nothing is changed. */
async function withOwner<T>(ownerUrl: string, work: (trx: Transaction<unknown>) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 1, application_name: "tessera migrate", connectionTimeoutMillis: 10_000 });
  pool.on("error", () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await db.connection().execute(async (connection) => {
      // Taken before the transaction begins, so that the transaction sees what the previous machine committed. It is released when the
      // session ends.
      await sql`select pg_advisory_lock(${lockKey})`.execute(connection);
      return connection.transaction().execute(work);
    });
  } finally {
    await db.destroy();
  }
}

/** Runs BullMQ's migrations inside our transaction. BullMQ would begin and end its own, so those statements are left out. */
async function migrateQueue(trx: Transaction<unknown>): Promise<void> {
  const ownTransaction = /^(begin|commit|rollback)$/i;
  await runMigrations(
    {
      // BullMQ's queries return the rows that BullMQ expects, but our types can't express that.
      query: async <R>(text: string, values: readonly unknown[] = []) =>
        ownTransaction.test(text) ? { rows: [] } : trx.executeQuery<R>(CompiledQuery.raw(text, [...values])),
    },
    queueSchema,
  );
  await sql`set local search_path to default`.execute(trx);
}

interface Migrating {
  ownerUrl: string;
  applicationRole: string;
  downTo?: string;
  /** Identifies the code, so that it need not migrate again. */
  release?: string | undefined;
}

async function comment(trx: Transaction<unknown>, text: string | undefined): Promise<void> {
  await sql`comment on table migrations is ${text === undefined ? sql`null` : sql.lit(text)}`.execute(trx);
}

/**
 * Migrates up to the newest migration, or down until `downTo` is the newest one applied ("none" removes all). Everything,
 * including the queue's own tables and the rights of the application's role, happens in one transaction. Returns the names of
 * the migrations run. Throws the first failure, with nothing changed.
 */
export async function migrate({ ownerUrl, applicationRole, downTo, release }: Migrating): Promise<string[]> {
  if (downTo !== undefined && downTo !== "none" && !(await migrationNames()).includes(downTo)) {
    throw new Error(`there is no migration ${downTo}; there are: none, ${(await migrationNames()).join(", ")}`);
  }
  return withOwner(ownerUrl, async (trx) => {
    const migrator = createMigrator(trx);
    if (downTo !== undefined) await assertApplied(migrator, downTo);
    const { error, results = [] } =
      downTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(downTo === "none" ? NO_MIGRATIONS : downTo);
    if (error) throw error;
    if (downTo === undefined) {
      await migrateQueue(trx);
      await grantToApplication(trx, applicationRole);
      await comment(trx, release && commentOf({ release, applicationRole }));
    } else {
      await grantAfterMigratingDown(trx, applicationRole);
      // BullMQ has no down migrations, so its schema is dropped.
      if (downTo === "none") await sql`drop schema if exists ${sql.id(queueSchema)} cascade`.execute(trx);
      else await comment(trx, undefined);
    }
    return results.map((result) => result.migrationName);
  });
}

/** Throws if the migration is not applied, because migrating "down" to it would migrate up. */
async function assertApplied(migrator: Migrator, name: string): Promise<void> {
  const applied = (await migrator.getMigrations()).filter((migration) => migration.executedAt).map((migration) => migration.name);
  if (name !== "none" && !applied.includes(name)) throw new Error(`${name} is not applied, so the database cannot be migrated down to it`);
}
