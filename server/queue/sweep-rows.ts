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
/** These are not due, but checked or repaired one after the other (billing/full-check.ts, credits/check-books.ts, billing/checks.ts). */
type Subjects = RowSweep | "account-checks" | "wallet-checks" | "repairs";

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
async function putBehind(db: Db, sweep: Subjects, subject: string, error: unknown): Promise<void> {
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

  /** Another process has the row, which says nothing about other services. */
  taken(error: TakenElsewhere): void {
    this.latest = { error };
  }

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

/** One run over rows, which remembers those that failed. */
export class RowRun {
  readonly done = new Set<string>();
  readonly failed = new Set<string>();
  private readonly outages = new Outages();
  private anySucceeded = false;
  private readonly deps: { db: Db; log: FastifyBaseLogger };
  private readonly sweep: Subjects;
  private readonly failedBefore: ReadonlySet<string>;

  private constructor(deps: { db: Db; log: FastifyBaseLogger }, sweep: Subjects, failedBefore: ReadonlySet<string>) {
    this.deps = deps;
    this.sweep = sweep;
    this.failedBefore = failedBefore;
  }

  static async begin(deps: { db: Db; log: FastifyBaseLogger }, sweep: Subjects): Promise<RowRun> {
    const known = await deps.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", sweep).execute();
    return new RowRun(deps, sweep, new Set(known.map(({ subject }) => subject)));
  }

  /** Those last that failed in an earlier run. */
  inOrder<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
    const behind = (row: Row) => Number(this.failedBefore.has(keyOf(row)));
    return rows.toSorted((left, right) => behind(left) - behind(right));
  }

  /**
   * Returns whether the work resolved to true. A row whose work fails is set aside. An outage of another service is thrown if it is the second
   * in a row, and sets the row aside only if it met one in an earlier run too and other rows succeeded in this one.
   */
  async attempt(key: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      const result = await work();
      this.done.add(key);
      this.anySucceeded = true;
      this.outages.succeeded();
      return result;
    } catch (error) {
      this.failed.add(key);
      const isOutage = failureKind(error) === "outage" && !(this.anySucceeded && this.failedBefore.has(key));
      if (error instanceof TakenElsewhere) {
        this.outages.taken(error);
      } else if (isOutage) {
        await putBehind(this.deps.db, this.sweep, key, error);
        this.outages.add(error);
      } else {
        this.outages.succeeded();
        await setAside(this.deps, this.sweep, key, error);
      }
      return false;
    }
  }

  /** Sets a row aside that is still due. */
  async setStillDue(key: string): Promise<void> {
    this.done.delete(key);
    this.failed.add(key);
    await setAside(this.deps, this.sweep, key, new StillDue("the row is still due after its work succeeded"));
  }

  /** Forgets the failures of rows that succeeded in this run. */
  async forgetDone(): Promise<void> {
    if (this.failedBefore.size > 0) await forget(this.deps.db, this.sweep, [...this.done]);
  }

  /** Throws the latest outage if there was one, so that the caller knows that rows were left for the next run. */
  end(): void {
    this.outages.end();
  }
}

/**
 * Does `work` for every row that `select` finds (at most `sweepPage` at a time, without those set aside), those last that failed before.
 * Returns how often `work` resolved to true. A row is set aside if its work fails, or if it is still due after its work succeeded. An outage of
 * another service is thrown after the second in a row, or at the end. Starts no row once `signal` is aborted.
 */
export async function sweepRows<Row>(
  deps: { db: Db; log: FastifyBaseLogger },
  sweep: RowSweep,
  select: () => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  work: (row: Row) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  const run = await RowRun.begin(deps, sweep);
  let count = 0;
  for (;;) {
    const rows = await select();
    const stillDue = rows.map(keyOf).filter((key) => run.done.has(key));
    for (const key of stillDue) await run.setStillDue(key);
    const fresh = rows.filter((row) => !run.failed.has(keyOf(row)));
    // If all rows of this page are set aside, the next page has the rows behind them.
    if (fresh.length === 0 && stillDue.length === 0) break;
    for (const row of run.inOrder(fresh, keyOf)) {
      if (signal?.aborted) return count;
      count += (await run.attempt(keyOf(row), () => work(row))) ? 1 : 0;
    }
  }
  await run.forgetDone();
  run.end();
  return count;
}
