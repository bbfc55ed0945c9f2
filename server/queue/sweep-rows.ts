/**
 * Does due work row by row. If a row fails for a reason of its own, it is set aside: the failure is logged and the row is
 * retried after a growing delay. The other rows and the sandbox's clock do not wait for it. A row at which another service failed is
 * remembered, stays due and comes last in the next run; if the service fails at it again while it answers for others, it is set aside too.
 */
import type { FastifyBaseLogger } from "fastify";
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { failureKind, TakenElsewhere } from "../failures.ts";

export type RowSweep =
  | "expired-grants"
  | "scheduled-grants"
  | "grace-periods"
  | "overdue-holds"
  | "orphaned-answers"
  | "trials"
  | "renewal-notices"
  | "factor-resets"
  | "account-deletions"
  | "unwanted-clips"
  | "unused-pictures"
  | "model-endings";
/** Accounts and wallets are not due, but checked one after the other (billing/full-check.ts, credits/check-books.ts). */
type Subjects = RowSweep | "account-checks" | "wallet-checks";

/** Rows read at once. */
export const sweepPage = 200;
const firstRetrySeconds = 10;
const lastRetrySeconds = 3_600;
const longestMessage = 2_000;

/** The type of each sweep's keys. */
const keyTypes: Readonly<Record<RowSweep, "text" | "uuid">> = {
  "expired-grants": "uuid",
  "scheduled-grants": "text",
  "grace-periods": "text",
  trials: "uuid",
  "renewal-notices": "text",
  "factor-resets": "uuid",
  "overdue-holds": "uuid",
  "orphaned-answers": "uuid",
  "account-deletions": "uuid",
  "unwanted-clips": "uuid",
  "unused-pictures": "uuid",
  "model-endings": "text",
};

/**
 * SQL condition: the row with this key is not set aside at the moment. The subquery is uncorrelated and returns one array, so
 * that PostgreSQL can still use the sweep's own index.
 */
export function notSetAside(sweep: RowSweep, key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${key} <> all (array(
    select subject::${sql.raw(keyTypes[sweep])} from sweep_failures where sweep = ${sweep} and retry_at > clock_timestamp()))`;
}

/** A row's work succeeded, yet the row is still due. Doing the work again at once would repeat that endlessly. */
class StillDue extends Error {
  override readonly name = "StillDue";
}

/** Remembers the failure. Until `retry_at` the row counts as not due. */
export async function setAside(deps: { db: Db; log: FastifyBaseLogger }, sweep: Subjects, subject: string, error: unknown): Promise<void> {
  const message = String(error).slice(0, longestMessage);
  const { rows } = await sql<{ failures: number; retry_at: Date }>`
    insert into sweep_failures as known (sweep, subject, failures, retry_at, error)
      values (${sweep}, ${subject}, 1, clock_timestamp() + make_interval(secs => ${firstRetrySeconds}), ${message})
      on conflict (sweep, subject) do update set failures = known.failures + 1, error = excluded.error,
        retry_at = clock_timestamp() + make_interval(secs => least(${firstRetrySeconds} * power(2, least(known.failures, 20)), ${lastRetrySeconds}))
      returning failures, retry_at`.execute(deps.db);
  // A row that is only still due is logged once.
  if (!(error instanceof StillDue) || rows[0]?.failures === 1)
    deps.log.error({ err: error, sweep, subject, ...rows[0] }, "a row of a sweep failed and was set aside");
}

/** Remembers that another service failed at the row, which stays due. */
async function putBehind(db: Db, sweep: RowSweep, subject: string, error: unknown): Promise<void> {
  await sql`insert into sweep_failures (sweep, subject, failures, retry_at, error)
    values (${sweep}, ${subject}, 1, clock_timestamp(), ${String(error).slice(0, longestMessage)})
    on conflict (sweep, subject) do nothing`.execute(db);
}

/**
 * Deletes the failures of rows that have succeeded, and failures whose retry was due over a day ago: a row that is still due is
 * retried at least hourly, so those rows are no longer due.
 */
export async function forget(db: Db, sweep: Subjects, done: readonly string[]): Promise<void> {
  await sql`delete from sweep_failures where sweep = ${sweep}
    and (subject = any (${done}) or retry_at < clock_timestamp() - interval '1 day')`.execute(db);
}

/**
 * Counts outages of other services during a sweep. After the first outage the sweep tries one more row. After a second one in a
 * row it stops until its next run, because each such attempt can take half a minute.
 */
export class Outages {
  private inARow = 0;
  private latest: { error: unknown } | undefined;

  succeeded(): void {
    this.inARow = 0;
  }

  /** Records an outage, and throws it if it is the second in a row. */
  add(error: unknown): void {
    this.latest = { error };
    this.inARow += 1;
    if (this.inARow === 2) throw error;
  }

  /** Throws the latest outage if there was one, so that the caller knows that rows were left for the next run. */
  end(): void {
    if (this.latest) throw this.latest.error;
  }
}

/**
 * Does `work` for every row that `select` finds (at most `sweepPage` at a time, without those set aside), those last that failed before.
 * Returns how often `work` resolved to true. A row is set aside if its work fails, or if it is still due after its work succeeded. An outage of
 * another service is thrown after the second in a row, or at the end, and sets a row aside only if it met one in an earlier run too and
 * other rows succeeded in this one. Starts no row once `signal` is aborted.
 */
export async function sweepRows<Row>(
  deps: { db: Db; log: FastifyBaseLogger },
  sweep: RowSweep,
  select: () => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  work: (row: Row) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  const known = await deps.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", sweep).execute();
  const failedBefore = new Set(known.map(({ subject }) => subject));
  const done = new Set<string>();
  const failed = new Set<string>();
  const outages = new Outages();
  let anySucceeded = false;
  let count = 0;

  async function workOn(row: Row): Promise<void> {
    const key = keyOf(row);
    try {
      count += (await work(row)) ? 1 : 0;
      done.add(key);
      anySucceeded = true;
      outages.succeeded();
    } catch (error) {
      failed.add(key);
      if (failureKind(error) === "outage" && !(anySucceeded && failedBefore.has(key))) {
        // A row that another worker has, or whose rest this one leaves because it stops, has not failed.
        if (!(error instanceof TakenElsewhere)) await putBehind(deps.db, sweep, key, error);
        return outages.add(error);
      }
      outages.succeeded();
      await setAside(deps, sweep, key, error);
    }
  }

  for (;;) {
    const rows = await select();
    const stillDue = rows.map(keyOf).filter((key) => done.delete(key));
    for (const key of stillDue) {
      failed.add(key);
      await setAside(deps, sweep, key, new StillDue("the row is still due after its work succeeded"));
    }
    const fresh = rows.filter((row) => !failed.has(keyOf(row)));
    // If all rows of this page are set aside, the next page has the rows behind them.
    if (fresh.length === 0 && stillDue.length === 0) break;
    const behind = (row: Row) => Number(failedBefore.has(keyOf(row)));
    for (const row of fresh.toSorted((left, right) => behind(left) - behind(right))) {
      if (signal?.aborted) return count;
      await workOn(row);
    }
  }
  if (failedBefore.size > 0) await forget(deps.db, sweep, [...done]);
  outages.end();
  return count;
}
