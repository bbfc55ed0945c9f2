import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { isConnectionLost } from "../failures.ts";
import type { Database } from "./types.ts";
import { WatchedPool } from "./watched-pool.ts";

export type Db = Kysely<Database>;

/** Returns bigint columns as numbers: credits and cents stay far below 2^53, because every posting is bounded. */
const int8Oid = 20;
pg.types.setTypeParser(int8Oid, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`integer out of range: ${text}`);
  return value;
});

/** `min`: this many connections stay open once they were needed, even when idle. */
export function createPool(connectionString: string, size: number, applicationName: string, min = 0): pg.Pool {
  const pool = new WatchedPool({
    connectionString,
    min,
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // A slow statement must not hold a connection for ever.
    statement_timeout: 15_000,
    // The same if PostgreSQL ended the statement but its answer never arrived.
    query_timeout: 20_000,
    keepAlive: true,
    idle_in_transaction_session_timeout: 30_000,
  });
  // Without a listener, losing an idle connection would crash the process. The next query opens a new one.
  pool.on("error", () => {});
  // The same for a connection lost between two statements of a transaction, when no query is listening: the next statement fails.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** PostgreSQL parses and plans a statement that begins with this once per connection. The ledger's hot path uses it. */
const preparedMark = "/* prepared */";
const statementNames = new Map<string, string>();

function statementName(text: string): string {
  const name = statementNames.get(text) ?? `prepared_${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

type Answer = (error: Error | undefined, result: pg.ResultBuilder) => void;

/** pg sends its own query objects as they are. It copies anything else first, property by property. */
class Statement extends pg.Query {
  readonly name: string | undefined;

  constructor(text: string, values: readonly unknown[], answer: Answer) {
    super(text, [...values], answer);
    this.name = text.startsWith(preparedMark) ? statementName(text) : undefined;
  }
}

class PreparingClient implements PostgresPoolClient {
  private readonly client: pg.PoolClient;
  /** We lost or gave up a statement. PostgreSQL may still be running it, so this connection must not go back to the pool. */
  private broken = false;

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof text !== "string") throw new Error("cursors are not supported");
    return new Promise((resolve, reject) => {
      const answer: Answer = (error, result) => {
        if (!error) return resolve(result as unknown as PostgresQueryResult<R>);
        this.broken ||= isConnectionLost(error);
        reject(error);
      };
      this.client.query(new Statement(text, values, answer));
    });
  }

  release(destroy?: boolean): void {
    this.client.release(destroy || this.broken);
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
