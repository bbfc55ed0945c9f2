/**
 * What happens when the days in which an account can be restored are over: its customer at Stripe goes first, and then everything that is the
 * person's, batch by batch, by a function of the owner that touches nobody whose time is not over. A receipt, the ledger and the audit log stay
 * and lead to nobody. All of it may be broken off anywhere and done again.
 */
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import { inBatches, longestBatchMs } from "../../queue/paced-batches.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { endCustomer } from "../billing/leaving.ts";
import * as queries from "./queries.ts";

type ErasingDeps = Pick<Deps, "db" | "payments" | "clock" | "log" | "live">;

async function eraseAccount(deps: ErasingDeps, userId: string, signal: AbortSignal): Promise<boolean> {
  await endCustomer(deps, userId);
  await queries.forgetMailErrors(deps.db, userId);
  const paced = await inBatches((limit) => queries.eraseBatch(deps.db, userId, limit), signal);
  if (signal.aborted) throw new TakenElsewhere("the rest of the account is deleted by the next run");
  deps.log.info(paced, "an account was deleted");
  if (paced.longestMs > longestBatchMs) deps.log.warn(paced, "a batch of a deleted account took long");
  return true;
}

/** Erases the accounts whose time is over by `now`. Returns how many. While Stripe is down it leaves those that have a customer for later. */
export async function eraseDueAccounts(deps: ErasingDeps, now: Date, signal: AbortSignal = new AbortController().signal): Promise<number> {
  return sweepRows(
    deps,
    "account-deletions",
    () => queries.selectDue(deps.db, now, sweepPage),
    (userId) => userId,
    (userId) => eraseAccount(deps, userId, signal),
    signal,
  );
}
