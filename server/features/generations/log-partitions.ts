/** Makes and drops the partitions of the answers' log. PostgreSQL decides which are due (migrations/0033); the worker calls this every hour. */
import { sql } from "kysely";
import type { Deps } from "../../deps.ts";

/** Calls the function until no partition is due. Each call is a transaction for one partition, and fails if it waits 100 ms for a lock. */
async function callUntilDone(
  { db }: Pick<Deps, "db">,
  name: "answer_log_add_partition" | "answer_log_drop_partition",
  signal: AbortSignal,
): Promise<string[]> {
  const partitions: string[] = [];
  while (!signal.aborted) {
    const { rows } = await sql<{ partition: string | null }>`select ${sql.ref(name)}() as partition`.execute(db);
    const partition = rows[0]?.partition;
    if (!partition) break;
    partitions.push(partition);
  }
  return partitions;
}

/** Makes the partitions of the next days. Events without a partition go to the default one. Returns the names of the new partitions. */
export async function addLogPartitions(deps: Pick<Deps, "db">, signal: AbortSignal): Promise<string[]> {
  return callUntilDone(deps, "answer_log_add_partition", signal);
}

/** Drops the partitions whose events are past their limit. Returns their names. */
export async function dropLogPartitions(deps: Pick<Deps, "db">, signal: AbortSignal): Promise<string[]> {
  return callUntilDone(deps, "answer_log_drop_partition", signal);
}
