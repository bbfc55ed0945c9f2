/**
 * SQL of the queue of clips. PostgreSQL decides for all processes: which job is next, how many clips are being made, and which process
 * looks after which. Every transaction locks a job's row before its answer's. One that ends a job keeps the row locked while it waits for
 * the wallet, so statements about everybody's jobs skip locked rows.
 */
import { sql } from "kysely";
import { clipLimits } from "#domain/clips.ts";
import type { ClipEvent, ProgressEvent } from "../../contract/generations/media.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { ClipJob } from "../../db/types-answers.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/** One process at a time takes jobs from the queue, so that their number stays within its bounds. Any other number of ours would do. */
const queueLock = 7_244_001;

/** What comes after the number of an event. */
function frameRest(event: string, data: ProgressEvent | ClipEvent): string {
  return `\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Writes the job of an answer whose start was written in this transaction. Returns false if the person has too many. */
export async function insertJob(trx: Trx, job: { id: string; userId: string; prompt: string; firstFrame: string }): Promise<boolean> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::integer as open from clip_jobs where user_id = ${job.userId}`.execute(trx);
  if ((rows[0]?.open ?? 0) >= clipLimits.open) return false;
  await sql`insert into clip_jobs (generation_id, user_id, prompt) values (${job.id}, ${job.userId}, ${job.prompt})`.execute(trx);
  await sql`insert into generation_events (generation_id, first_event, last_event, frames) values (${job.id}, 1, 1, ${job.firstFrame})`.execute(
    trx,
  );
  return true;
}

export async function hasJobs(executor: Executor): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`/* prepared */ select exists (select from clip_jobs) as some`.execute(executor);
  return rows[0]?.some ?? false;
}

/** True for a job `j` and its answer `g` if nobody waits for it any more, or it has waited for too long. */
const isUnwanted = (queueMs: number) => sql`(g.stop_requested_at is not null or g.erased_at is not null or g.status <> 'streaming'
  or j.queued_at < clock_timestamp() - ${queueMs} * interval '1 millisecond')`;

/**
 * The waiting jobs with their turns, in which they will be begun: everybody's first clip comes before anybody's second. A job that is
 * unwanted but has not ended yet takes no turn.
 */
const waiting = (queueMs: number) => sql`
  waiting as (
    select j.generation_id, j.queued_at, j.again_at,
        coalesce(w.busy, 0) + row_number() over (partition by j.user_id order by j.queued_at, j.generation_id) as turn
      from clip_jobs j join generations g on g.id = j.generation_id
      left join (select user_id, count(*) as busy from clip_jobs where state <> 'queued' group by user_id) w on w.user_id = j.user_id
      where j.state = 'queued' and not ${isUnwanted(queueMs)})`;

interface QueueTimes {
  leaseMs: number;
  /** How long a job may wait. */
  queueMs: number;
}

/** Takes the next jobs, up to `most`, as far as the bounds allow. What it returns may have been sent to the provider: it is never sent again. */
export async function takeNext(trx: Trx, owner: string, { leaseMs, queueMs }: QueueTimes, most: number): Promise<ClipJob[]> {
  await sql`select pg_advisory_xact_lock(${queueLock})`.execute(trx);
  const { rows } = await sql<ClipJob>`
    with ${waiting(queueMs)}, next as (
      select j.generation_id from waiting w join clip_jobs j on j.generation_id = w.generation_id
        where w.turn <= ${clipLimits.atWorkEach} and (w.again_at is null or w.again_at <= clock_timestamp())
        order by w.turn, w.queued_at, w.generation_id
        limit least(${most}::bigint, greatest(${clipLimits.atWork} - (select count(*) from clip_jobs where state <> 'queued'), 0))
        for update of j skip locked)
    update clip_jobs j set state = 'starting', owner = ${owner}, lease_expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond',
        started_at = clock_timestamp(), again_at = null
      from next, generations g
      where j.generation_id = next.generation_id and j.state = 'queued'
        and g.id = j.generation_id and g.status = 'streaming' and g.stop_requested_at is null and g.erased_at is null
      returning j.*`.execute(trx);
  return rows;
}

/** Takes over jobs whose process has died. */
export async function takeOver(executor: Executor, owner: string, leaseMs: number, most: number): Promise<ClipJob[]> {
  const { rows } = await sql<ClipJob>`
    update clip_jobs set owner = ${owner}, lease_expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      where generation_id in (
        select generation_id from clip_jobs where state <> 'queued' and lease_expires_at < clock_timestamp()
          order by lease_expires_at limit ${most} for update skip locked)
      returning *`.execute(executor);
  return rows;
}

/** Returns the jobs that this process still looks after. One whose row is locked keeps its lease, and nobody takes it over meanwhile. */
export async function renewLeases(executor: Executor, owner: string, ids: readonly string[], leaseMs: number): Promise<Set<string>> {
  const { rows } = await sql<{ generation_id: string }>`
    with free as (
      select generation_id from clip_jobs where owner = ${owner} and generation_id = any (${ids}::uuid[]) for update skip locked),
    renewed as (
      update clip_jobs j set lease_expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        from free where j.generation_id = free.generation_id)
    select generation_id from clip_jobs where owner = ${owner} and generation_id = any (${ids}::uuid[])`.execute(executor);
  return new Set(rows.map(({ generation_id: id }) => id));
}

/** Gives the job up, so that another process may go on with it at once. */
export async function releaseJob(executor: Executor, owner: string, id: string, pauseMs = 0): Promise<void> {
  await sql`update clip_jobs set lease_expires_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    where generation_id = ${id} and owner = ${owner}`.execute(executor);
}

/** Puts the job back into the queue. Only for a refusal that says that the provider has not begun. */
export async function putBack(executor: Executor, owner: string, id: string, pauseMs: number): Promise<void> {
  await sql`update clip_jobs set state = 'queued', owner = null, lease_expires_at = null, started_at = null, refusals = refusals + 1,
      again_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    where generation_id = ${id} and owner = ${owner} and state = 'starting'`.execute(executor);
}

export interface Begun {
  requestId: string;
  progress: ProgressEvent;
}

/** Keeps the provider's name for the job. Nothing of it is told before that. Returns false if another process has the job. */
export async function markWorking(executor: Executor, owner: string, id: string, { requestId, progress }: Begun): Promise<boolean> {
  const { rows } = await sql`
    with begun as (
      update clip_jobs set state = 'working', request_id = ${requestId}, events = events + 1
        where generation_id = ${id} and owner = ${owner} and state = 'starting' returning events)
    insert into generation_events (generation_id, first_event, last_event, frames)
      select ${id}::uuid, events, events, 'id: ' || events || ${frameRest("progress", progress)} from begun returning 1`.execute(executor);
  return rows.length > 0;
}

/** Tells how far the job is. */
export async function tellProgress(executor: Executor, owner: string, id: string, progress: ProgressEvent): Promise<void> {
  await sql`
    with told as (
      update clip_jobs set percent = coalesce(${progress.percent}, percent), events = events + 1
        where generation_id = ${id} and owner = ${owner} returning events)
    insert into generation_events (generation_id, first_event, last_event, frames)
      select ${id}::uuid, events, events, 'id: ' || events || ${frameRest("progress", progress)} from told`.execute(executor);
}

/** Tells those who wait their places, where they have changed. Returns how many it told. */
export async function tellPlaces(executor: Executor, queueMs: number): Promise<number> {
  const { rows } = await sql`
    with ${waiting(queueMs)}, placed as (
      select generation_id, row_number() over (order by turn, queued_at, generation_id)::integer as place from waiting),
    free as (
      select j.generation_id, placed.place from placed join clip_jobs j on j.generation_id = placed.generation_id
        where j.state = 'queued' and placed.place <= ${clipLimits.toldPlaces} and placed.place is distinct from j.told_place
        for update of j skip locked),
    told as (
      update clip_jobs j set told_place = free.place, events = events + 1 from free
        where j.generation_id = free.generation_id and j.state = 'queued' and free.place is distinct from j.told_place
        returning j.generation_id, j.events, free.place)
    insert into generation_events (generation_id, first_event, last_event, frames)
      select generation_id, events, events, 'id: ' || events || E'\\nevent: progress\\ndata: {"state":"queued","place":' || place ||
          E',"percent":null,"startedAt":null}\\n\\n' from told returning 1`.execute(executor);
  return rows.length;
}

/** Jobs in the queue that nobody waits for any more, or that have waited for too long, without those that are set aside. */
export async function selectUnwanted(executor: Executor, queueMs: number, limit: number): Promise<{ id: string; stopped: boolean }[]> {
  const { rows } = await sql<{ id: string; stopped: boolean }>`
    select j.generation_id as id, g.stop_requested_at is not null or g.erased_at is not null as stopped
      from clip_jobs j join generations g on g.id = j.generation_id
      where j.state = 'queued' and ${isUnwanted(queueMs)} and ${notSetAside("unwanted-clips", sql`j.generation_id`)}
      order by j.queued_at limit ${limit}`.execute(executor);
  return rows;
}

/** Deletes the job, if it waits (`owner` null) or is this process's. Returns how many events its answer has, or undefined. */
export async function deleteJob(trx: Trx, id: string, owner: string | null): Promise<number | undefined> {
  const its = owner === null ? sql`state = 'queued'` : sql`owner = ${owner}`;
  const { rows } = await sql<{ events: number }>`
    delete from clip_jobs where generation_id = ${id} and ${its} returning events`.execute(trx);
  return rows[0]?.events;
}

/** How long ago the job was begun, by PostgreSQL's clock. */
export async function selectAgeMs(executor: Executor, id: string): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select (extract(epoch from clock_timestamp() - started_at) * 1000)::float8 as age from clip_jobs where generation_id = ${id}`.execute(
    executor,
  );
  return Number(rows[0]?.age ?? 0);
}
