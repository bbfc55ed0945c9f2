/**
 * The relay publishes outbox rows to BullMQ. The job's id is the row's id. A row is published again every 20 s until its job is
 * done, and also when the queue comes back after an outage, so that nothing is lost if the queue loses its data. A job that
 * failed is published again after its back-off. Any number of relays can run, because each takes rows with SKIP LOCKED.
 */

import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "#server/db/database.ts";
import type { Executor } from "#server/db/transaction.ts";
import type { Logger } from "#server/deps.ts";
import { faultPoint } from "#server/fault-points.ts";
import type { DispatchedJob, JobPublisher } from "#server/queue/connection.ts";
import type { JobKind, JobName } from "#server/queue/jobs.ts";
import { jobKinds, kindOfJob } from "#server/queue/jobs.ts";

const pollMs = 250;
const batchSize = 200;
/**
 * A published job that is not done after this time is published again; BullMQ ignores the id of a job it still has. If
 * PostgreSQL was unreachable when a job ended, this is also when the job is retried.
 */
const redriveMs = 20_000;
const retryAfterOutageMs = 1_000;

export interface Relay {
  /** Reads the outbox now instead of at the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

/** Asked first, because most polls find nothing: one read of the index costs far less than an update for each kind of job. */
async function isAnyDue(db: Db): Promise<boolean> {
  const result = await sql<{ due: boolean }>`/* prepared */
    select exists (select from outbox where redrive_at <= clock_timestamp()) as due`.execute(db);
  return result.rows[0]?.due ?? false;
}

/**
 * Takes due rows of one kind, and rows whose job name is unknown. Each job's rows are read by themselves through the index, so that a long
 * backlog of one kind (after a day without Stripe, for example) neither delays the others nor makes reading them slower. `names` skips through
 * the index from one job's name to the next. An array, because a subquery could be joined by reading the whole table.
 */
export async function takeDue(db: Executor, kind: JobKind): Promise<DispatchedJob[]> {
  const others = (Object.keys(kindOfJob) as JobName[]).filter((job) => kindOfJob[job] !== kind);
  const result = await sql<{ id: string; job: string; payload: unknown }>`
    with recursive names (job) as (select min(job) from outbox
      union all select (select min(o.job) from outbox o where o.job > n.job) from names n where n.job is not null)
    update outbox set published_at = clock_timestamp(), publications = publications + 1,
        redrive_at = clock_timestamp() + make_interval(secs => ${redriveMs / 1000})
      where id = any (array(select due.id from names n cross join lateral (select o.id, o.redrive_at from outbox o
          where o.job = n.job and o.redrive_at <= clock_timestamp() order by o.redrive_at limit ${batchSize} for update skip locked) due
        where n.job <> all (${others}) order by due.redrive_at limit ${batchSize}))
      returning id, job, payload`.execute(db);
  return result.rows.map((row) => ({ id: row.id, name: row.job, payload: row.payload }));
}

/** Called if the queue is unreachable: the rows are due again soon, and the failed publication does not count as an attempt. */
async function putBack(db: Db, jobs: readonly DispatchedJob[]): Promise<void> {
  await sql`update outbox set publications = publications - 1, redrive_at = clock_timestamp() + make_interval(secs => ${retryAfterOutageMs / 1000})
    where id = any (${jobs.map((job) => job.id)})`.execute(db);
}

/** Makes every published row due again, because the queue may have lost its jobs. Rows that failed before keep their back-off. */
async function redrivePublished(db: Db): Promise<void> {
  await sql`update outbox set redrive_at = clock_timestamp()
    where published_at is not null and failures = 0 and redrive_at > clock_timestamp()`.execute(db);
}

/** Publishes the jobs. Returns true if the batch was full, so that more rows may be due. */
async function publishOrPutBack(db: Db, publisher: JobPublisher, log: Logger, jobs: readonly DispatchedJob[]): Promise<boolean> {
  if (jobs.length === 0) return false;
  try {
    await publisher.publish(jobs);
    faultPoint("job-published");
  } catch (error) {
    log.warn({ err: error, jobs: jobs.length }, "queue is unreachable, jobs wait in the outbox");
    await putBack(db, jobs);
    return false;
  }
  return jobs.length === batchSize;
}

/** Calls `onRead` after each successful read of the outbox. */
export function startRelay(db: Db, publisher: JobPublisher, log: Logger, onRead: () => void = () => {}): Relay {
  const stopping = new AbortController();
  let wakeUp: AbortController | undefined;
  let woken = false;
  let mayBeLost = false;

  /** Returns true if more rows may be due at once. */
  async function relayOnce(): Promise<boolean> {
    if (mayBeLost) {
      mayBeLost = false;
      await redrivePublished(db).catch((error: unknown) => {
        mayBeLost = true;
        throw error;
      });
    }
    const due = await isAnyDue(db);
    onRead();
    if (!due) return false;
    let more = false;
    for (const kind of jobKinds) {
      const jobs = await takeDue(db, kind);
      onRead();
      more = (await publishOrPutBack(db, publisher, log, jobs)) || more;
    }
    return more;
  }

  async function pause(milliseconds: number): Promise<void> {
    if (woken) return;
    wakeUp = new AbortController();
    await delay(milliseconds, undefined, { signal: AbortSignal.any([wakeUp.signal, stopping.signal]) }).catch(() => {});
    wakeUp = undefined;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        if (!(await relayOnce())) await pause(pollMs);
      } catch (error) {
        log.warn({ err: error }, "relay could not read the outbox");
        // Jobs that ended meanwhile could not write their result either.
        mayBeLost = true;
        await pause(retryAfterOutageMs);
      }
    }
  }

  function wake(): void {
    woken = true;
    wakeUp?.abort();
  }
  publisher.onReached(() => {
    mayBeLost = true;
    wake();
  });
  const running = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
