/** What the checks share: the hourly one, the full one and a person's own (examine-account.ts). */
import type { Checker, Finding } from "#domain/findings.ts";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import { Outages } from "../../queue/sweep-rows.ts";
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
 * Runs the repairs one by one. A failed one is logged and tried again in the next hour; a lasting outage ends the run. Returns how many
 * changed something.
 */
export async function repairEach(
  { deps, signal }: Check,
  subjects: Iterable<string>,
  repair: (subject: string) => Promise<boolean>,
): Promise<number> {
  const outages = new Outages();
  let repaired = 0;
  for (const subject of subjects) {
    signal?.throwIfAborted();
    try {
      repaired += (await repair(subject)) ? 1 : 0;
      outages.succeeded();
    } catch (error) {
      deps.log.error({ err: error, subject }, "a check could not repair this");
      if (failureKind(error) === "outage") outages.add(error);
      else outages.succeeded();
    }
  }
  return repaired;
}
