/** Jobs that failed for good. They wait until somebody who has mended the cause puts them back. */
import { sql } from "kysely";
import type { Executor } from "../db/transaction.ts";

/** Those that wait, the oldest first. */
export async function listDeadLetters(executor: Executor, limit: number) {
  return executor
    .selectFrom("dead_letters")
    .select(["id", "job", "failed_at", "attempts", "error"])
    .where("replayed_at", "is", null)
    .orderBy("failed_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

async function replay(executor: Executor, which: { id: string } | { job: string }): Promise<number> {
  const condition = "id" in which ? sql`id = ${which.id}` : sql`job = ${which.job}`;
  const result = await sql`with letters as (
      update dead_letters set replayed_at = clock_timestamp() where replayed_at is null and ${condition} returning id, job, payload)
    insert into outbox (id, job, payload) select id, job, payload from letters`.execute(executor);
  return Number(result.numAffectedRows ?? 0n);
}

/** Puts a dead letter back into the outbox, under its own id. False: there is none, or it was put back already. */
export async function replayDeadLetter(executor: Executor, id: string): Promise<boolean> {
  return (await replay(executor, { id })) > 0;
}

/** Every one of a job. Returns how many. */
export async function replayDeadLetters(executor: Executor, job: string): Promise<number> {
  return replay(executor, { job });
}
