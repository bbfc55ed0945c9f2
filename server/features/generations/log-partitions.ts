/** The partitions of the answers' log: PostgreSQL decides which are due (migrations/0033), the worker asks every hour. */
import { sql } from "kysely";
import type { Deps } from "../../deps.ts";

/** Until none is due: each call is a transaction that makes or drops one. One that has to wait for a lock fails after 100 ms. */
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

/** Those of the next days. Without one, events go to the default partition. Returns the names of the new ones. */
export async function addLogPartitions(deps: Pick<Deps, "db">, signal: AbortSignal): Promise<string[]> {
  return callUntilDone(deps, "answer_log_add_partition", signal);
}

/** Those whose events are past their limit. Returns their names. */
export async function dropLogPartitions(deps: Pick<Deps, "db">, signal: AbortSignal): Promise<string[]> {
  return callUntilDone(deps, "answer_log_drop_partition", signal);
}
