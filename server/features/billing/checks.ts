/** What the checks share: the hourly one, the full one and a person's own (examine-account.ts). */
import type { Checker, Finding } from "#domain/findings.ts";
import type { Deps } from "../../deps.ts";
import { RowRun } from "../../queue/sweep-rows.ts";
import { recordFinding } from "../findings/service.ts";

export type BillingDeps = Pick<Deps, "db" | "pool" | "payments" | "clock" | "log" | "live" | "config">;

/** One run of a check. When `signal` is aborted it ends before the next repair or page. */
export interface Check {
  deps: BillingDeps;
  by: Checker;
  signal?: AbortSignal | undefined;
}

/** Writes the finding down and returns it. */
export async function report({ deps, by }: Check, finding: Finding): Promise<Finding> {
  await recordFinding(deps.db, finding, finding.isRepaired ? by : null, deps.clock.now());
  return finding;
}

/**
 * Runs the repairs one by one, those last that failed in an earlier run. A failed one is logged and tried again in the next hour; a lasting
 * outage ends the run. Returns how many changed something.
 */
export async function repairEach(
  { deps, signal }: Check,
  subjects: Iterable<string>,
  repair: (subject: string) => Promise<boolean>,
): Promise<number> {
  const run = await RowRun.begin(deps, "repairs");
  let repaired = 0;
  for (const subject of run.inOrder([...subjects], (each) => each)) {
    signal?.throwIfAborted();
    const isRepaired = await run.attempt(subject, () =>
      repair(subject).catch((error: unknown) => {
        deps.log.error({ err: error, subject }, "a check could not repair this");
        throw error;
      }),
    );
    repaired += isRepaired ? 1 : 0;
  }
  await run.forgetDone();
  return repaired;
}
