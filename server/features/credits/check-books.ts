/**
 * The hourly check of the books (invariant 6), a few wallets at a time: the wallets that moved since the last check, then the next
 * ones of a round over all wallets, each for a limited time. So a run costs the same however large the ledger is. The round finds
 * balances that somebody changed without a transaction of the ledger. A wallet that can't be checked is set aside, and tried again by the next runs.
 */
import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { sqlState } from "../../failures.ts";
import { setAside } from "../../queue/sweep-rows.ts";
import { recordFinding, resolveGone } from "../findings/service.ts";

type CheckDeps = Pick<Deps, "db" | "log" | "clock">;

export interface Disagreement {
  kind: "grant" | "wallet" | "held" | "part" | "settled" | "transaction";
  id: string;
  recorded: number;
  rebuilt: number;
}

const nil = "00000000-0000-0000-0000-000000000000";
const transactionsAtOnce = 500;
const walletsAtOnce = 100;
/** Under this name wallets that could not be checked are set aside. */
const asideName = "wallet-checks";
/** A run tries at most this many of them again: more than it has the time for. */
const asideAtOnce = 10_000;
/** How long each part of a run may take. A single statement takes far less. */
const runMs = 10_000;
/** A transaction takes its id before it waits for the wallet, and may commit after later ids. We wait this long, so that we don't miss it. */
const settleSeconds = 60;

async function disagreementsIn(executor: Executor, walletIds: readonly string[]): Promise<Disagreement[]> {
  const result = await sql<Disagreement>`select * from ledger_disagreements_in(${walletIds}::uuid[])`.execute(executor);
  return result.rows;
}

const queryCanceled = "57014";

/**
 * If a wallet can't be rebuilt within the statement time-out, we log it and go on with the next. Otherwise every check would end at this
 * wallet. `checked` gets the wallets that could be rebuilt.
 */
async function rebuild(deps: CheckDeps, walletIds: readonly string[], checked: string[]): Promise<Disagreement[]> {
  try {
    const found = await disagreementsIn(deps.db, walletIds);
    checked.push(...walletIds);
    return found;
  } catch (error) {
    if (sqlState(error) !== queryCanceled) throw error;
    if (walletIds.length === 1) {
      deps.log.error({ walletId: walletIds[0] }, "a wallet could not be checked in time");
      return [];
    }
  }
  const found: Disagreement[] = [];
  for (const walletId of walletIds) found.push(...(await rebuild(deps, [walletId], checked)));
  return found;
}

async function payerOfWallet(executor: Executor, walletId: string): Promise<string | null> {
  const row = await executor.selectFrom("wallets").select("billing_account_id").where("id", "=", walletId).executeTakeFirst();
  return row?.billing_account_id ?? null;
}

/** Logs the disagreements and writes them down, each with its wallet. */
async function report(deps: CheckDeps, walletIds: readonly string[]): Promise<string[]> {
  const subjects: string[] = [];
  for (const walletId of walletIds) {
    const payerId = await payerOfWallet(deps.db, walletId);
    for (const { kind, id, recorded, rebuilt } of await rebuild(deps, [walletId], [])) {
      const subject = `${kind}:${id}`;
      subjects.push(subject);
      const details = { walletId, recorded, rebuilt };
      await recordFinding(deps.db, { kind: "books_disagree", subject, payerId, details }, null, deps.clock.now());
    }
  }
  return subjects;
}

/** Recomputes the wallets' balances. Logs, writes down and returns those that differ from their entries. */
export async function checkWallets(deps: CheckDeps, walletIds: readonly string[]): Promise<Disagreement[]> {
  const checked: string[] = [];
  const disagreements = await rebuild(deps, walletIds, checked);
  if (disagreements.length > 0) deps.log.error({ disagreements: disagreements.slice(0, 20) }, "the ledger and its balances disagree");
  const subjects = disagreements.length > 0 ? await report(deps, checked) : [];
  await resolveGone(deps.db, ["books_disagree"], checked, subjects, deps.clock.now());
  return disagreements;
}

async function readMark(executor: Executor, name: "recent" | "round"): Promise<string> {
  const row = await executor.selectFrom("ledger_checks").select("reached").where("name", "=", name).executeTakeFirstOrThrow();
  return row.reached;
}

/** Returns where the mark is: at `to`, or where another worker has moved it meanwhile. */
async function moveMark(executor: Executor, name: "recent" | "round", from: string, to: string): Promise<string> {
  const { numUpdatedRows } = await executor
    .updateTable("ledger_checks")
    .set({ reached: to })
    .where("name", "=", name)
    .where("reached", "=", from)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? to : readMark(executor, name);
}

interface Page {
  walletIds: string[];
  /** Where the next page begins; undefined at the end of the part. */
  next: string | undefined;
}

async function recentPage(executor: Executor, mark: string): Promise<Page> {
  const rows = await executor
    .selectFrom("ledger_transactions")
    .select(["id", "wallet_id"])
    .where("id", ">", mark)
    .where("recorded_at", "<", sql<Date>`clock_timestamp() - make_interval(secs => ${settleSeconds})`)
    .orderBy("id")
    .limit(transactionsAtOnce)
    .execute();
  return { walletIds: [...new Set(rows.map((row) => row.wallet_id))], next: rows.at(-1)?.id };
}

async function roundPage(executor: Executor, mark: string): Promise<Page> {
  const rows = await executor.selectFrom("wallets").select("id").where("id", ">", mark).orderBy("id").limit(walletsAtOnce).execute();
  return { walletIds: rows.map((row) => row.id), next: rows.at(-1)?.id };
}

/** Another check of the same wallets. */
type WalletCheck = (walletIds: readonly string[]) => Promise<unknown>;

interface Run {
  deps: CheckDeps;
  signal: AbortSignal;
  /** Run in this order, each even if the one before has failed. */
  checks: readonly ((walletIds: readonly string[]) => Promise<Disagreement[]>)[];
}

/**
 * Runs one check of the wallets. If it fails, each wallet is checked alone, and those at which it fails are set aside. Throws if that can't
 * be written down, because then the mark must not move on, or if the run was aborted.
 */
async function checkOrSetAside(run: Run, check: Run["checks"][number], walletIds: readonly string[]): Promise<Disagreement[]> {
  try {
    return await check(walletIds);
  } catch (error) {
    if (run.signal.aborted) throw error;
    const [walletId, ...others] = walletIds;
    if (walletId !== undefined && others.length === 0) {
      await setAside(run.deps, asideName, walletId, error);
      return [];
    }
  }
  const found: Disagreement[] = [];
  for (const walletId of walletIds) found.push(...(await checkOrSetAside(run, check, [walletId])));
  return found;
}

/** Checks page after page for `runMs`, or until the run is aborted. Returns the balances that disagree. */
async function checkPart(
  run: Run,
  name: "recent" | "round",
  page: (executor: Executor, mark: string) => Promise<Page>,
): Promise<Disagreement[]> {
  const { deps, signal, checks } = run;
  const until = performance.now() + runMs;
  const found: Disagreement[] = [];
  let mark = await readMark(deps.db, name);
  do {
    const { walletIds, next } = await page(deps.db, mark);
    if (next === undefined) {
      if (name === "round") await moveMark(deps.db, name, mark, nil);
      break;
    }
    for (let start = 0; start < walletIds.length; start += walletsAtOnce) {
      const some = walletIds.slice(start, start + walletsAtOnce);
      for (const check of checks) found.push(...(await checkOrSetAside(run, check, some)));
    }
    mark = await moveMark(deps.db, name, mark, next);
  } while (performance.now() < until && !signal.aborted);
  return found;
}

/** Checks those again that were set aside, for `runMs`. They are remembered until each check has succeeded. */
async function checkSetAside({ deps, signal, checks }: Run): Promise<Disagreement[]> {
  const until = performance.now() + runMs;
  const found: Disagreement[] = [];
  const failures = deps.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", asideName);
  const due = await failures.where("retry_at", "<=", sql<Date>`clock_timestamp()`).orderBy("retry_at").limit(asideAtOnce).execute();
  for (const { subject: walletId } of due) {
    if (performance.now() >= until || signal.aborted) break;
    try {
      for (const check of checks) found.push(...(await check([walletId])));
      await deps.db.deleteFrom("sweep_failures").where("sweep", "=", asideName).where("subject", "=", walletId).execute();
    } catch (error) {
      if (signal.aborted) throw error;
      await setAside(deps, asideName, walletId, error);
    }
  }
  return found;
}

/** One run. Returns the balances that differ from their entries. An error in one part doesn't stop the others. */
export async function checkBooks(deps: CheckDeps, signal: AbortSignal, alsoCheck: WalletCheck = async () => {}): Promise<Disagreement[]> {
  const also = async (walletIds: readonly string[]) => {
    await alsoCheck(walletIds);
    return [];
  };
  const run: Run = { deps, signal, checks: [(walletIds) => checkWallets(deps, walletIds), also] };
  const parts = [checkPart(run, "recent", recentPage), checkPart(run, "round", roundPage)];
  await Promise.allSettled(parts);
  parts.push(checkSetAside(run));
  await Promise.allSettled(parts);
  return (await Promise.all(parts)).flat();
}
