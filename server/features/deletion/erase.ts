/**
 * Erases an account once it can't be restored any more. First its Stripe customer is deleted, then the person's rows, batch by batch, by a
 * function of the database's owner that refuses people whose time is not over. Receipts, the ledger and the audit log stay and no longer
 * lead to anybody. It may be interrupted anywhere and run again.
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

/** Erases the accounts whose time is over at `now`. Returns how many. While Stripe is down, accounts with a Stripe customer wait. */
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
