/**
 * The relay: outbox rows → BullMQ. A row is published under its own id, again every 20 s until it is done and whenever
 * the queue comes back from an outage (so a lost queue loses nothing), and later after a failure. Any number of relays may
 * run: rows are taken with SKIP LOCKED.
 */

import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "#server/db/database.ts";
import type { Logger } from "#server/deps.ts";
import { faultPoint } from "#server/fault-points.ts";
import type { DispatchedJob, JobPublisher } from "#server/queue/connection.ts";
import type { JobKind, JobName } from "#server/queue/jobs.ts";
import { jobKinds, kindOfJob } from "#server/queue/jobs.ts";

const pollMs = 250;
const batchSize = 200;
/**
 * A published job that is not done by then is published again; BullMQ ignores an id it still has. With it, what nobody could
 * write down while PostgreSQL was away is taken up within 30 s.
 */
const redriveMs = 20_000;
const retryAfterOutageMs = 1_000;

export interface Relay {
  /** Look now instead of at the next poll. */
  wake(): void;
  stop(): Promise<void>;
}

/** Of one kind and of no known kind, so that a long line of one kind (Stripe was away for a day) keeps none of the others waiting. */
async function takeDue(db: Db, kind: JobKind): Promise<DispatchedJob[]> {
  const others = (Object.keys(kindOfJob) as JobName[]).filter((job) => kindOfJob[job] !== kind);
  const result = await sql<{ id: string; job: string; payload: unknown }>`
    update outbox set published_at = clock_timestamp(), publications = publications + 1,
        redrive_at = clock_timestamp() + make_interval(secs => ${redriveMs / 1000})
      where id in (select id from outbox where redrive_at <= clock_timestamp() and job <> all (${others}) order by redrive_at limit ${batchSize} for update skip locked)
      returning id, job, payload`.execute(db);
  return result.rows.map((row) => ({ id: row.id, name: row.job, payload: row.payload }));
}

/** The queue is away: the rows are due again soon, and the failed publication does not count as an attempt. */
async function putBack(db: Db, jobs: readonly DispatchedJob[]): Promise<void> {
  await sql`update outbox set publications = publications - 1, redrive_at = clock_timestamp() + make_interval(secs => ${retryAfterOutageMs / 1000})
    where id = any (${jobs.map((job) => job.id)})`.execute(db);
}

/** What was handed out may be lost: all of it is due again. What failed for reasons of its own keeps its back-off. */
async function redrivePublished(db: Db): Promise<void> {
  await sql`update outbox set redrive_at = clock_timestamp()
    where published_at is not null and failures = 0 and redrive_at > clock_timestamp()`.execute(db);
}

/** True where there may be more at once. */
async function handOut(db: Db, publisher: JobPublisher, log: Logger, jobs: readonly DispatchedJob[]): Promise<boolean> {
  if (jobs.length === 0) return false;
  try {
    await publisher.publish(jobs);
    faultPoint("job-published");
  } catch (error) {
    log.warn({ err: error, jobs: jobs.length }, "queue away, jobs wait in the outbox");
    await putBack(db, jobs);
    return false;
  }
  return jobs.length === batchSize;
}

/** `onRead` hears of every look at the outbox that succeeded. */
export function startRelay(db: Db, publisher: JobPublisher, log: Logger, onRead: () => void = () => {}): Relay {
  const stopping = new AbortController();
  let wakeUp: AbortController | undefined;
  let woken = false;
  let mayBeLost = false;

  /** True where there may be more at once. */
  async function relayOnce(): Promise<boolean> {
    if (mayBeLost) {
      mayBeLost = false;
      await redrivePublished(db).catch((error: unknown) => {
        mayBeLost = true;
        throw error;
      });
    }
    let more = false;
    for (const kind of jobKinds) {
      const jobs = await takeDue(db, kind);
      onRead();
      more = (await handOut(db, publisher, log, jobs)) || more;
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
        // Nor could anybody write down what became of the jobs under way.
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
