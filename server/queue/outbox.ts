import type { Executor } from "../db/transaction.ts";
import type { JobName, JobPayload } from "./jobs.ts";

/**
 * Writes a job into the outbox, in the transaction that makes it necessary. No queue connection is touched: the worker's
 * relay publishes the row, and publishes it again until it is done. `once` names what the job is about, where somebody may
 * ask again and again: while a job of that name and `once` is not done, another changes nothing.
 */
export async function enqueue<Name extends JobName>(trx: Executor, job: Name, payload: JobPayload<Name>, once?: string): Promise<void> {
  await trx
    .insertInto("outbox")
    .values({ job, payload: JSON.stringify(payload), published_at: null, once: once ?? null })
    .onConflict((conflict) => conflict.columns(["job", "once"]).where("once", "is not", null).doNothing())
    .execute();
}
