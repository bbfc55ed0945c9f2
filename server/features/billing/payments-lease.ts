/** A check of an account's payments and a refund by the team never run at the same time. */
import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import { takeLease } from "../../queue/leases.ts";

const leaseMs = 10_000;

export async function ensureLeaseRow(executor: Executor, payerId: string): Promise<void> {
  await sql`insert into payment_checks (billing_account_id) values (${payerId}) on conflict do nothing`.execute(executor);
}

/** Runs `work` with a lease on the account's payments. Returns undefined without running it if somebody else has the lease. */
export async function whileAlone<T>(executor: Executor, payerId: string, work: () => Promise<T>): Promise<{ result: T } | undefined> {
  const lease = await takeLease(executor, { table: "payment_checks", key: payerId }, leaseMs);
  if (!lease) return undefined;
  try {
    return { result: await lease.whileHeld(work) };
  } finally {
    await lease.end();
  }
}
