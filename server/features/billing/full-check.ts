/**
 * The check of every account: a slice of them each hour, and all of them when an operator asks for it (`npm run reconcile -- --full`). The worker does it in
 * slices, account after account, and goes on where it was interrupted, so that the hourly sweeps run in between.
 */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { Executor } from "../../db/transaction.ts";
import { failureKind } from "../../failures.ts";
import { selectAccountsAfter } from "./check-queries.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { examineAccount } from "./examine-account.ts";
import { reconcileSince } from "./reconcile.ts";

const nil = "00000000-0000-0000-0000-000000000000";
/** Stripe lists events for this long. */
const eventsKeptMs = 30 * dayMs;
const sliceMs = 20_000;
const accountsAtOnce = 20;
/** Of the hourly slice: customers at Stripe, and accounts that are passed over because Stripe has nothing of them. */
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

/** An account that can't be checked is logged and passed over. During an outage of Stripe the check waits at its place. */
async function examineOrPass(check: Check, account: Parameters<typeof examineAccount>[1]): Promise<void> {
  try {
    await examineAccount(check, account);
  } catch (error) {
    if (failureKind(error) === "outage" || check.signal?.aborted) throw error;
    check.deps.log.error({ err: error, account: account.id }, "an account could not be checked");
  }
}

/** Where the round goes on; undefined if the last slice was less than an hour ago. Wall time, because it spares Stripe. */
async function beginSlice(executor: Executor): Promise<string | undefined> {
  const { rows } = await sql<{ reached: string }>`update full_checks set sliced_at = clock_timestamp()
    where sliced_at is null or sliced_at <= clock_timestamp() - make_interval(mins => ${sliceEveryMinutes})
    returning round_reached as reached`.execute(executor);
  return rows[0]?.reached;
}

/**
 * The hourly slice of a round over all accounts, new and old: what no event and no payment of the last days leads to is found too, and an hour
 * costs the same however many accounts there are. Returns how many it compared with Stripe.
 */
export async function checkNextSlice(deps: BillingDeps, signal?: AbortSignal, most = sliceCustomers): Promise<number> {
  const check: Check = { deps, by: "hourly", signal };
  const until = performance.now() + sliceMs;
  let reached = await beginSlice(deps.db);
  if (reached === undefined) return 0;
  let compared = 0;
  let passed = 0;
  while (compared < most && passed < sliceAccounts && performance.now() < until) {
    const accounts = await selectAccountsAfter(deps.db, reached, accountsAtOnce);
    for (const account of accounts) {
      signal?.throwIfAborted();
      if (compared === most) break;
      if (account.stripe_customer_id !== null) {
        await examineOrPass(check, account);
        compared += 1;
      }
      passed += 1;
      reached = account.id;
    }
    // The next slice begins the next round.
    if (accounts.length === 0) reached = nil;
    await deps.db.updateTable("full_checks").set({ round_reached: reached }).execute();
    if (accounts.length === 0) break;
  }
  return compared;
}

/** Does one slice of the check. Returns true when every account has been checked. */
export async function continueFullCheck(deps: BillingDeps, signal?: AbortSignal, forMs = sliceMs): Promise<boolean> {
  const check: Check = { deps, by: "full", signal };
  const until = performance.now() + forMs;
  let { reached, asked_at: askedAt, done_at: doneAt } = await readFullCheck(deps.db);
  if (askedAt === null || doneAt !== null) return true;
  if (reached === nil) await reconcileSince(check, addMilliseconds(deps.clock.now(), -eventsKeptMs));
  do {
    const accounts = await selectAccountsAfter(deps.db, reached, accountsAtOnce);
    for (const account of accounts) {
      signal?.throwIfAborted();
      await examineOrPass(check, account);
      reached = account.id;
      await deps.db.updateTable("full_checks").set({ reached, accounts: sql<number>`accounts + 1` }).execute();
    }
    if (accounts.length === 0) {
      await deps.db.updateTable("full_checks").set({ done_at: deps.clock.now() }).execute();
      return true;
    }
  } while (performance.now() < until);
  return false;
}
