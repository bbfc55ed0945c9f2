/** A database of its own for every test that asks: copied from the migrated template, reached as the restricted role. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { Db } from "#server/db/database.ts";
import { createDatabase, createPool } from "#server/db/database.ts";

export interface TestServer {
  superuserUrl: string;
  ownerUrl: string;
  applicationUrl: string;
}

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestServer;
  }
}

export const templateName = "tessera_template";
/** Of the folders of PostgreSQL servers the tests start; each holds its `owner`, so that the next run can sweep what was left. */
export const serverFolderPrefix = "tessera-test-server-";

export interface TestDatabase {
  db: Db;
  pool: pg.Pool;
  ownerUrl: string;
  applicationUrl: string;
  drop(): Promise<void>;
}

function onDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgres").superuserUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** `poolSize` connections as the application's role. */
export async function createTestDatabase(poolSize = 10): Promise<TestDatabase> {
  const server = inject("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asSuperuser(`create database ${name} template ${templateName} owner tessera_owner strategy file_copy`);
  const applicationUrl = onDatabase(server.applicationUrl, name);
  const pool = createPool(applicationUrl, poolSize, "tessera test");
  const db = createDatabase(pool);
  return {
    db,
    pool,
    ownerUrl: onDatabase(server.ownerUrl, name),
    applicationUrl,
    async drop() {
      // Ends the pool with it.
      await db.destroy();
      await asSuperuser(`drop database if exists ${name} with (force)`);
    },
  };
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
