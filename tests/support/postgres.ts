/** Creates a database for a test: a copy of the migrated template, used with the restricted role. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import pg from "pg";
import { inject } from "vitest";
import type { Db } from "#server/db/database.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { databaseName } from "#server/embedded/postgres.ts";

export interface TestServer {
  superuserUrl: string;
  ownerUrl: string;
  applicationUrl: string;
  /** The data folder of a stopped server with a migrated database: see copyCluster. */
  preparedFolder: string;
  /** Products whose folders are in here end with the test run. */
  productsFolder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestServer;
  }
}

/** Begins the name of each test server's folder. The file `owner` in it names the test run, so that a later run can clean up. */
export const serverFolderPrefix = "tessera-test-server-";

export interface TestDatabase {
  db: Db;
  pool: pg.Pool;
  ownerUrl: string;
  applicationUrl: string;
  /** Runs statements as the owner: the application's role may not delete most rows. */
  asOwner(...statements: string[]): Promise<void>;
  drop(): Promise<void>;
}

/** Copies a stopped server's data folder into `to` and keeps the files' owner. */
export async function copyCluster(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", `${from}/.`, to]);
}

function onDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

export async function runAt(connectionString: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A pool of one connection, which is opened for the first statement. If it is lost, the next statement opens another. */
function createConnection(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on("error", () => {});
  return pool;
}

let superuser: pg.Pool | undefined;

/** A connection costs more than most statements, so all files of a process share one. It keeps no process alive. */
async function asSuperuser(statement: string): Promise<void> {
  superuser ??= createConnection(inject("postgres").superuserUrl);
  await superuser.query(statement);
}

/** `pool` has up to `poolSize` connections and uses the application's role. */
export async function createTestDatabase(poolSize = 10): Promise<TestDatabase> {
  const server = inject("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asSuperuser(`create database ${name} template ${databaseName} owner tessera_owner strategy file_copy`);
  const applicationUrl = onDatabase(server.applicationUrl, name);
  const pool = createPool(applicationUrl, poolSize, "tessera test");
  // Hundreds of transactions of a test may wait for a connection, for longer than a request may.
  pool.options.connectionTimeoutMillis = 0;
  const db = createDatabase(pool);
  const ownerUrl = onDatabase(server.ownerUrl, name);
  const owner = createConnection(ownerUrl);
  return {
    db,
    pool,
    ownerUrl,
    applicationUrl,
    async asOwner(...statements) {
      for (const statement of statements) await owner.query(statement);
    },
    async drop() {
      if (!owner.ending) await owner.end();
      // Ends the pool only if a statement went through `db`. Those who are still connected cost the drop 100 ms.
      await db.destroy();
      if (!pool.ending) await pool.end();
      await asSuperuser(`drop database if exists ${name} with (force)`);
    },
  };
}

/** For what only a superuser may do in the test's database. */
export function superuserUrlOf({ ownerUrl }: Pick<TestDatabase, "ownerUrl">): string {
  return onDatabase(inject("postgres").superuserUrl, new URL(ownerUrl).pathname.slice(1));
}

/** A database that was never migrated. */
export async function createEmptyDatabase(): Promise<Pick<TestDatabase, "ownerUrl" | "applicationUrl" | "drop">> {
  const server = inject("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asSuperuser(`create database ${name} owner tessera_owner`);
  return {
    ownerUrl: onDatabase(server.ownerUrl, name),
    applicationUrl: onDatabase(server.applicationUrl, name),
    drop: () => asSuperuser(`drop database if exists ${name} with (force)`),
  };
}
