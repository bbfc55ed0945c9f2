import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Database } from "./types.ts";

export type Db = Kysely<Database>;

/** bigint and numeric counts as numbers: credits and cents stay far below 2^53 and every posting is bounded. */
const int8Oid = 20;
pg.types.setTypeParser(int8Oid, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`integer out of range: ${text}`);
  return value;
});

export function createPool(connectionString: string, size: number, applicationName: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // One slow statement must not hold a connection for good.
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  // An idle connection lost with the server is no crash: the next query opens another.
  pool.on("error", () => {});
  return pool;
}

export function createDatabase(pool: pg.Pool): Db {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}
