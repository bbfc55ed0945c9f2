/**
 * The check of every account: a slice of them each hour, and all of them when an operator asks for it (`npm run reconcile -- --full`). The worker does it in
 * slices, account after account, and goes on where it was interrupted, so that the hourly sweeps run in between.
 */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { Executor } from "../../db/transaction.ts";
import { failureKind } from "../../failures.ts";
import { forget, Outages, setAside } from "../../queue/sweep-rows.ts";
import type { CheckedAccount } from "./check-queries.ts";
import { selectAccountsAfter, selectAccountsToRetry } from "./check-queries.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { examineAccount } from "./examine-account.ts";
import { reconcileSince } from "./reconcile.ts";

const nil = "00000000-0000-0000-0000-000000000000";
/** Stripe lists events for this long. */
const eventsKeptMs = 30 * dayMs;
const sliceMs = 20_000;
const retryMs = 10_000;
const accountsAtOnce = 20;
/** The limits of the hourly slice: customers at Stripe, and accounts that are passed over because Stripe has nothing of them. */
const sliceCustomers = 50;
const sliceAccounts = 5_000;
/** Less than an hour, because sweeps are not on time to the second. */
const sliceEveryMinutes = 50;

/** Asks for the check. If one is under way, it is that one. */
export async function askForFullCheck(executor: Executor, now: Date): Promise<void> {
  await executor
    .updateTable("full_checks")
    .set({ asked_at: now, done_at: null, reached: nil, accounts: 0 })
    .where((or) => or.or([or("asked_at", "is", null), or("done_at", "is not", null)]))
    .execute();
}

export async function readFullCheck(executor: Executor) {
  return executor.selectFrom("full_checks").select(["asked_at", "done_at", "reached", "accounts"]).executeTakeFirstOrThrow();
}

/** How many accounts could not be checked, by this check or an hourly slice, and are tried again. */
export async function countFailedChecks(executor: Executor): Promise<number> {
  const counted = executor.selectFrom("sweep_failures").select((e) => e.fn.countAll<number>().as("count"));
  const { count } = await counted.where("sweep", "=", "account-checks").executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * An account that can't be checked is set aside and tried again after the others, so that it does not hold them up. The second outage in a
 * row is thrown: Stripe is down then, and the check goes on after these accounts when it is back. Returns whether the account was checked.
 */
async function examineOrSetAside(check: Check, account: CheckedAccount, outages: Outages): Promise<boolean> {
  try {
    await examineAccount(check, account);
    outages.succeeded();
    return true;
  } catch (error) {
    if (check.signal?.aborted) throw error;
    await setAside(check.deps, "account-checks", account.id, error);
    if (failureKind(error) === "outage") outages.add(error);
    else outages.succeeded();
    return false;
  }
}

/** Does the same, and then has `mark` record that the account was passed, unless the check was interrupted at it. */
async function examineNext(check: Check, account: CheckedAccount, outages: Outages, mark: () => Promise<unknown>): Promise<void> {
  try {
    await examineOrSetAside(check, account, outages);
  } finally {
    if (!check.signal?.aborted) await mark();
  }
}

/** Tries again the accounts that were set aside and are due. True if none of them is left, false if the time for it ran out before. */
async function retryFailed(check: Check): Promise<boolean> {
  const { db } = check.deps;
  const until = performance.now() + retryMs;
  const outages = new Outages();
  for (;;) {
    const accounts = await selectAccountsToRetry(db, accountsAtOnce);
    if (accounts.length === 0) return true;
    const done: string[] = [];
    try {
      for (const account of accounts) {
        check.signal?.throwIfAborted();
        if (performance.now() >= until) return false;
        if (await examineOrSetAside(check, account, outages)) done.push(account.id);
      }
    } finally {
      await forget(db, "account-checks", done);
    }
  }
}

/** Begins a slice, and returns where the round goes on; undefined if the last one was too recent. Wall time, because it spares Stripe. */
async function beginSlice(executor: Executor): Promise<string | undefined> {
  const { rows } = await sql<{ reached: string }>`update full_checks set sliced_at = clock_timestamp()
    where sliced_at is null or sliced_at <= clock_timestamp() - make_interval(mins => ${sliceEveryMinutes})
    returning round_reached as reached`.execute(executor);
  return rows[0]?.reached;
}

/**
 * The hourly slice of a round over all accounts, new and old: what no event and no payment of the last days leads to is found too, and an hour
 * costs the same however many accounts there are. Returns how many it compared with Stripe, not counting those set aside before.
 */
export async function checkNextSlice(deps: BillingDeps, signal?: AbortSignal, most = sliceCustomers): Promise<number> {
  const check: Check = { deps, by: "hourly", signal };
  const until = performance.now() + sliceMs;
  let reached = await beginSlice(deps.db);
  if (reached === undefined) return 0;
  const outages = new Outages();
  const mark = () => deps.db.updateTable("full_checks").set({ round_reached: reached }).execute();
  let compared = 0;
  let passed = 0;
  while (compared < most && passed < sliceAccounts && performance.now() < until) {
    const accounts = await selectAccountsAfter(deps.db, reached, accountsAtOnce);
    for (const account of accounts) {
      signal?.throwIfAborted();
      if (compared === most || performance.now() >= until) break;
      reached = account.id;
      passed += 1;
      if (account.stripe_customer_id === null && account.former_customers.length === 0) continue;
      await examineNext(check, account, outages, mark);
      compared += 1;
    }
    // The next slice begins the next round.
    if (accounts.length === 0) reached = nil;
    await mark();
    if (accounts.length === 0) break;
  }
  await retryFailed(check);
  return compared;
}

/** Does one slice of the check. Returns true when every account has been checked; one that can't be is left to the hourly slices. */
export async function continueFullCheck(deps: BillingDeps, signal?: AbortSignal, forMs = sliceMs): Promise<boolean> {
  const check: Check = { deps, by: "full", signal };
  const until = performance.now() + forMs;
  const outages = new Outages();
  let { reached, asked_at: askedAt, done_at: doneAt } = await readFullCheck(deps.db);
  if (askedAt === null || doneAt !== null) return true;
  if (reached === nil) await reconcileSince(check, addMilliseconds(deps.clock.now(), -eventsKeptMs));
  do {
    const accounts = await selectAccountsAfter(deps.db, reached, accountsAtOnce);
    for (const account of accounts) {
      signal?.throwIfAborted();
      const mark = () => deps.db.updateTable("full_checks").set({ reached, accounts: sql<number>`accounts + 1` }).execute();
      reached = account.id;
      await examineNext(check, account, outages, mark);
    }
    if (accounts.length === 0) {
      if (!(await retryFailed(check))) return false;
      await deps.db.updateTable("full_checks").set({ done_at: deps.clock.now() }).execute();
      return true;
    }
  } while (performance.now() < until);
  return false;
}
