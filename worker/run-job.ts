/**
 * Runs one job: checks the payload, runs the job's processor and then deletes or updates its outbox row. Processors are
 * idempotent, because a job runs again after a crash. The outbox row decides whether a job is done; BullMQ only dispatches it.
 */
import { sql } from "kysely";
import { Value } from "typebox/value";
import { PermanentFailure } from "#domain/errors.ts";
import { inTransaction } from "#server/db/transaction.ts";
import type { Deps } from "#server/deps.ts";
import { failureKind } from "#server/failures.ts";
import { faultPoint } from "#server/fault-points.ts";
import type { DispatchedJob } from "#server/queue/connection.ts";
import type { JobName, JobPayload } from "#server/queue/jobs.ts";
import { isJobName, jobs } from "#server/queue/jobs.ts";

export type Processor<Name extends JobName> = (deps: Deps, payload: JobPayload<Name>) => Promise<void>;
export type Processors = { readonly [Name in JobName]: Processor<Name> };

/** After this many failures of its own (about three minutes) a job becomes a dead letter. Outages of other services don't count. */
const maximumAttempts = 10;
const firstBackoffMs = 250;
const maximumBackoffMs = 60_000;

export function backoffMs(attempt: number): number {
  return Math.min(maximumBackoffMs, firstBackoffMs * 2 ** Math.max(0, attempt - 1));
}

async function settleFailure(deps: Deps, job: DispatchedJob, error: unknown): Promise<void> {
  const kind = failureKind(error);
  const outage = kind === "outage";
  const row = await deps.db
    .updateTable("outbox")
    .set((update) => ({ failures: update("failures", "+", outage ? 0 : 1) }))
    .where("id", "=", job.id)
    .returning(["publications", "failures", "payload"])
    .executeTakeFirst();
  if (!row) return;
  const attempts = row.publications;
  const dead = kind === "refusal" || (!outage && row.failures >= maximumAttempts);
  const details = { err: error, job: job.name, id: job.id, attempts };
  if (!dead) {
    deps.log.warn(details, "job failed, will be tried again");
    const waitMs = backoffMs(outage ? attempts : row.failures);
    await sql`update outbox set redrive_at = clock_timestamp() + make_interval(secs => ${waitMs / 1000}) where id = ${job.id}`.execute(
      deps.db,
    );
    return;
  }
  deps.log.error(details, "job failed for good");
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  await inTransaction(deps.db, async (trx) => {
    await trx
      .insertInto("dead_letters")
      .values({
        id: job.id,
        job: job.name,
        payload: JSON.stringify(row.payload),
        error: message.slice(0, 8_000),
        attempts,
        replayed_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .column("id")
          .doUpdateSet({ error: message.slice(0, 8_000), attempts, replayed_at: null, failed_at: sql`clock_timestamp()` }),
      )
      .execute();
    await trx.deleteFrom("outbox").where("id", "=", job.id).execute();
  });
}

async function process<Name extends JobName>(deps: Deps, processors: Processors, name: Name, payload: unknown): Promise<void> {
  const schema = jobs[name];
  if (!Value.Check(schema, payload)) throw new PermanentFailure(`payload of ${name} does not fit its schema`);
  await processors[name](deps, payload as JobPayload<Name>);
}

export async function runJob(deps: Deps, processors: Processors, job: DispatchedJob): Promise<void> {
  const startedAt = performance.now();
  try {
    if (!isJobName(job.name)) throw new PermanentFailure(`no processor for ${job.name}`);
    await process(deps, processors, job.name, job.payload);
  } catch (error) {
    await settleFailure(deps, job, error);
    return;
  }
  if (job.name === "process-stripe-event") faultPoint("event-committed");
  await deps.db.deleteFrom("outbox").where("id", "=", job.id).execute();
  deps.log.info({ job: job.name, id: job.id, durationMs: Math.round(performance.now() - startedAt) }, "job done");
}
