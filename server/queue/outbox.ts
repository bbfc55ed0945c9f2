import type { Executor } from "../db/transaction.ts";
import type { JobName, JobPayload } from "./jobs.ts";

/**
 * Writes a job into the outbox, in the same transaction as the change that requires the job. It does not connect to the queue:
 * the worker's relay publishes the row, and publishes it again until the job is done. Pass `once` if a job may be requested
 * repeatedly. It names the subject of the job; while a job with the same name and `once` is not done, enqueueing another does
 * nothing.
 */
export async function enqueue<Name extends JobName>(trx: Executor, job: Name, payload: JobPayload<Name>, once?: string): Promise<void> {
  await trx
    .insertInto("outbox")
    .values({ job, payload: JSON.stringify(payload), published_at: null, once: once ?? null })
    .onConflict((conflict) => conflict.columns(["job", "once"]).where("once", "is not", null).doNothing())
    .execute();
}
