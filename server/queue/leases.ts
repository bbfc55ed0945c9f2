import { setInterval as every } from "node:timers/promises";
import { sql } from "kysely";
import type { Executor } from "../db/transaction.ts";

/** The tables with a column `leased_until`, and the key of each. */
const keys = { schedules: "name", mails: "id", data_exports: "id" } as const;

export interface LeasedRow {
  table: keyof typeof keys;
  key: string;
}

/**
 * For some time only one process works on a row: the one that has the lease. PostgreSQL's clock decides, so the lease of a process that
 * was killed ends. Answers have leases of another form, many renewed in one statement (docs/decisions/0027).
 */
export interface Lease {
  /** The instant the lease lasts until, as PostgreSQL writes it. This text shows that the lease is still ours. */
  readonly until: string;
  /** Runs `work` and renews the lease meanwhile. If somebody else has taken it, the signal passed to `work` is aborted. */
  whileHeld<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T>;
  /** Gives the lease back. With `waitMs` nobody takes it before that time is over. Does nothing if somebody else has it. */
  end(waitMs?: number): Promise<void>;
}

/** Runs `work` and calls `renew` every so often. A `renew` that throws is called again after the next interval; false: the lease was lost. */
async function whileRenewing<T>(everyMs: number, renew: () => Promise<boolean>, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const lost = new AbortController();
  const over = new AbortController();
  async function keep(): Promise<void> {
    for await (const _ of every(everyMs, undefined, { signal: over.signal })) {
      if (await renew().catch(() => true)) continue;
      lost.abort(new Error("the lease was lost"));
      return;
    }
  }
  const keeping = keep().catch(() => {});
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await keeping;
  }
}

/** Undefined if somebody else has the lease, or there is no such row. */
export async function takeLease(executor: Executor, { table, key }: LeasedRow, leaseMs: number): Promise<Lease | undefined> {
  const row = sql`${sql.ref(keys[table])} = ${key}`;
  const after = (ms: number) => sql`clock_timestamp() + make_interval(secs => ${ms / 1000})`;
  const own = (until: string) => sql`${row} and leased_until = ${until}::timestamptz`;

  async function write(condition: typeof row): Promise<string | undefined> {
    const { rows } = await sql<{ until: string }>`
      update ${sql.table(table)} set leased_until = ${after(leaseMs)} where ${condition} returning leased_until::text as until`.execute(
      executor,
    );
    return rows[0]?.until;
  }

  const taken = await write(sql`${row} and (leased_until is null or leased_until < clock_timestamp())`);
  if (taken === undefined) return undefined;
  let until = taken;
  async function renew(): Promise<boolean> {
    const renewed = await write(own(until));
    until = renewed ?? until;
    return renewed !== undefined;
  }
  return {
    get until() {
      return until;
    },
    whileHeld: (work) => whileRenewing(leaseMs / 3, renew, work),
    async end(waitMs = 0) {
      const free = waitMs > 0 ? after(waitMs) : sql`null`;
      await sql`update ${sql.table(table)} set leased_until = ${free} where ${own(until)}`.execute(executor);
    },
  };
}
