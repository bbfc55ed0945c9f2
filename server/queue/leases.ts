import { setInterval as every } from "node:timers/promises";
import { sql } from "kysely";
import type { Executor } from "../db/transaction.ts";

/** The tables with a column `leased_until`, and the key of each. */
const keys = { schedules: "name", mails: "id", data_exports: "id", payment_checks: "billing_account_id" } as const;

export interface LeasedRow {
  table: keyof typeof keys;
  key: string;
}

/**
 * While a process has the lease of a row, no other process works on that row. PostgreSQL's clock decides when a lease ends, so a killed
 * process loses its lease. Answers have leases of their own, many of which are renewed with one statement (docs/decisions/0027).
 */
export interface Lease {
  /** When the lease ends, as PostgreSQL writes it. While the row has this text the lease is ours. */
  readonly until: string;
  /** Runs `work` and renews the lease meanwhile. If another process has taken it, the signal passed to `work` is aborted. */
  whileHeld<T>(work: (lost: AbortSignal) => Promise<T>): Promise<T>;
  /** Gives the lease back. With `waitMs` no process can take it before that time is over. Does nothing if another process has it. */
  end(waitMs?: number): Promise<void>;
}

/** Runs `work` and calls `renew` every `everyMs`, also after it has thrown. If `renew` returns false, the lease is lost. */
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

/** Returns undefined if another process has the lease, or there is no such row. */
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
