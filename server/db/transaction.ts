import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { Transaction } from "kysely";
import { sqlState } from "../failures.ts";
import type { Db } from "./database.ts";
import type { Database } from "./types.ts";

export type Trx = Transaction<Database>;
/** What a query runs on: a transaction or the database itself. */
export type Executor = Db | Trx;

/** SQLSTATE of serialization_failure and deadlock_detected: nothing was written, so the work can be run again. */
const retryable = new Set(["40001", "40P01"]);
const attempts = 5;

interface Scope {
  open: boolean;
  /** Set if the work called another service. The transaction then fails with this error even if the work caught it. */
  fault?: Error;
}
const scopes = new AsyncLocalStorage<Scope>();

/**
 * Throws while a transaction of `inTransaction` is open. Clients of other services call it before they send anything: a
 * transaction that waits for another service keeps its locks and its connection, and PostgreSQL ends it after 30 s.
 */
export function refuseWithinTransaction(service: string): void {
  const scope = scopes.getStore();
  if (!scope?.open) return;
  scope.fault = new Error(`${service} was called within a transaction`);
  throw scope.fault;
}

async function runScoped<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
  try {
    const result = await scopes.run(scope, work);
    if (scope.fault) throw scope.fault;
    return result;
  } catch (error) {
    throw scope.fault ?? error;
  } finally {
    scope.open = false;
  }
}

/**
 * Runs `work` in one READ COMMITTED transaction. After a serialization failure or a deadlock it runs `work` again, up to five
 * times in all, so `work` must have no effect outside the transaction.
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let failure: { reason: unknown } | undefined;
    try {
      return await db.transaction().execute((trx) =>
        runScoped({ open: true }, () => work(trx)).catch((reason: unknown) => {
          failure = { reason };
          throw reason;
        }),
      );
    } catch (thrown) {
      // If the connection was lost, the rollback fails too. Throw the first error, because it names the cause.
      const error = failure ? failure.reason : thrown;
      if (attempt === attempts || !retryable.has(sqlState(error) ?? "")) throw error;
      await delay(Math.random() * 2 ** attempt * 5);
    }
  }
}
