import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { isConnectionLost } from "../failures.ts";
import type { Database } from "./types.ts";
import { WatchedPool } from "./watched-pool.ts";

export type Db = Kysely<Database>;

/** bigint and numeric counts as numbers: credits and cents stay far below 2^53 and every posting is bounded. */
const int8Oid = 20;
pg.types.setTypeParser(int8Oid, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`integer out of range: ${text}`);
  return value;
});

export function createPool(connectionString: string, size: number, applicationName: string): pg.Pool {
  const pool = new WatchedPool({
    connectionString,
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // One slow statement must not hold a connection for good.
    statement_timeout: 15_000,
    // Nor one whose end PostgreSQL could not tell us.
    query_timeout: 20_000,
    keepAlive: true,
    idle_in_transaction_session_timeout: 30_000,
  });
  // An idle connection lost with the server is no crash: the next query opens another.
  pool.on("error", () => {});
  // Nor is one lost between two statements of a transaction, while no query of it listens: the next one fails.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** A statement that begins with this is parsed and planned once per connection: the ledger's hot path. */
const preparedMark = "/* prepared */";
const statementNames = new Map<string, string>();

function statementName(text: string): string {
  const name = statementNames.get(text) ?? `prepared_${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

class PreparingClient implements PostgresPoolClient {
  private readonly client: pg.PoolClient;
  /** A statement was given up: PostgreSQL may still be at it, and nobody else may get this connection. */
  private unsound = false;

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof text !== "string") throw new Error("cursors are not used");
    const statement = text.startsWith(preparedMark)
      ? { name: statementName(text), text, values: [...values] }
      : { text, values: [...values] };
    const result = this.client.query(statement) as unknown as Promise<PostgresQueryResult<R>>;
    result.catch((error: unknown) => {
      this.unsound ||= isConnectionLost(error);
    });
    return result;
  }

  release(destroy?: boolean): void {
    this.client.release(destroy || this.unsound);
  }
}

export function createDatabase(pool: pg.Pool): Db {
  const prepared: PostgresPool = {
    options: pool.options,
    connect: async () => new PreparingClient(await pool.connect()),
    end: () => pool.end(),
  };
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: prepared }) });
}
