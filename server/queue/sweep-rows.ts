/**
 * Work that time makes due, row by row: a row that fails for reasons of its own is set aside with a line in the log and
 * tried again later and later; the others go on, and so does the sandbox's clock, which no such row holds up.
 */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import type { Logger } from "../deps.ts";
import { failureKind } from "../failures.ts";

export type RowSweep = "expired-grants" | "scheduled-grants" | "grace-periods" | "overdue-holds" | "orphaned-answers";

/** Of one page. */
export const sweepPage = 200;
const firstRetrySeconds = 10;
const lastRetrySeconds = 3_600;

/** What the rows of a sweep are known by. */
const keyTypes: Readonly<Record<RowSweep, "text" | "uuid">> = {
  "expired-grants": "uuid",
  "scheduled-grants": "text",
  "grace-periods": "text",
  "overdue-holds": "uuid",
  "orphaned-answers": "uuid",
};

/** A condition on the row's key: it is not set aside now. The keys that are come as one list, so that the sweep's own index serves. */
export function notSetAside(sweep: RowSweep, key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${key} <> all (array(
    select subject::${sql.raw(keyTypes[sweep])} from sweep_failures where sweep = ${sweep} and retry_at > clock_timestamp()))`;
}

/** The work of a row ended well, and the row is due as before: nothing would come of doing it again and again. */
class StillDue extends Error {
  override readonly name = "StillDue";
}

async function setAside(deps: { db: Db; log: Logger }, sweep: RowSweep, subject: string, error: unknown): Promise<void> {
  const message = String(error).slice(0, 2_000);
  const { rows } = await sql<{ failures: number; retry_at: Date }>`
    insert into sweep_failures as known (sweep, subject, failures, retry_at, error)
      values (${sweep}, ${subject}, 1, clock_timestamp() + make_interval(secs => ${firstRetrySeconds}), ${message})
      on conflict (sweep, subject) do update set failures = known.failures + 1, error = excluded.error,
        retry_at = clock_timestamp() + make_interval(secs => least(${firstRetrySeconds} * power(2, least(known.failures, 20)), ${lastRetrySeconds}))
      returning failures, retry_at`.execute(deps.db);
  // A row that is merely still due is told of once.
  if (!(error instanceof StillDue) || rows[0]?.failures === 1)
    deps.log.error({ err: error, sweep, subject, ...rows[0] }, "a row of a sweep failed and is set aside");
}

/** What went well after all, and what nobody asks for any more: a row that is still due is tried at least once an hour. */
async function forget(db: Db, sweep: RowSweep, done: readonly string[]): Promise<void> {
  await sql`delete from sweep_failures where sweep = ${sweep}
    and (subject = any (${done}) or retry_at < clock_timestamp() - interval '1 day')`.execute(db);
}

/** Others that are away (an outage) are asked for one more row, and then left until the sweep's next turn: they may take half a minute each. */
export class Outages {
  private inARow = 0;
  private latest: { error: unknown } | undefined;

  succeeded(): void {
    this.inARow = 0;
  }

  /** Throws the second in a row. */
  add(error: unknown): void {
    this.latest = { error };
    this.inARow += 1;
    if (this.inARow === 2) throw error;
  }

  /** Throws where there was one: what it kept from being done is left for the next turn. */
  end(): void {
    if (this.latest) throw this.latest.error;
  }
}

/**
 * Does `work` for every row that `select` finds (at most `sweepPage` at a time, without those set aside). Returns for how
 * many it was true. A row whose work fails, or which is due after it as before, is set aside. In an outage of others nothing
 * is, and the outage is thrown: at the second in a row, or at the end. No row is begun once `signal` is aborted.
 */
export async function sweepRows<Row>(
  deps: { db: Db; log: Logger },
  sweep: RowSweep,
  select: () => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
  work: (row: Row) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  const failedBefore = await deps.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", sweep).execute();
  const done = new Set<string>();
  const failed = new Set<string>();
  const outages = new Outages();
  let count = 0;

  async function workOn(row: Row): Promise<void> {
    const key = keyOf(row);
    try {
      count += (await work(row)) ? 1 : 0;
      done.add(key);
      outages.succeeded();
    } catch (error) {
      failed.add(key);
      if (failureKind(error) === "outage") return outages.add(error);
      outages.succeeded();
      await setAside(deps, sweep, key, error);
    }
  }

  for (;;) {
    const rows = await select();
    const stillDue = rows.map(keyOf).filter((key) => done.delete(key));
    for (const key of stillDue) {
      failed.add(key);
      await setAside(deps, sweep, key, new StillDue("its work was done, and it is due as before"));
    }
    const fresh = rows.filter((row) => !failed.has(keyOf(row)));
    // Those behind the ones just set aside come with the next look.
    if (fresh.length === 0 && stillDue.length === 0) break;
    for (const row of fresh) {
      if (signal?.aborted) return count;
      await workOn(row);
    }
  }
  outages.end();
  if (failedBefore.length > 0) await forget(deps.db, sweep, [...done]);
  return count;
}
