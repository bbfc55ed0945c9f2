/**
 * The wallet's use cases. Each takes its executor first and posts one business fact. Assertions check the ledger's invariants on the
 * result, before the commit; PostgreSQL checks them at the write.
 */

import assert from "node:assert/strict";
import type { ClawbackReason, GrantKind } from "#domain/credits.ts";
import { isCreditAmount } from "#domain/credits.ts";
import { DomainError } from "#domain/errors.ts";
import type { Wallet } from "../../contract/credits/wallet.ts";
import { findPayer } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { sqlState } from "../../failures.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import * as queries from "./queries.ts";

export interface GrantInput {
  /** The billing account. */
  payerId: string;
  kind: GrantKind;
  credits: number;
  expiresAt: Date;
  /** The business fact: `grant:{invoice}:{line}`, `pack:{session}`, `month:{invoice}:{line}:{0…11}`. */
  key: string;
  /** The columns by which we find the grant later. The key only ensures that it is posted once. */
  source?: Partial<queries.GrantSource>;
}

const noSource: queries.GrantSource = { invoiceId: null, invoiceLineId: null, chargeId: null, packKey: null, invoiceMonth: null };

function assertAmount(credits: number): void {
  if (!isCreditAmount(credits)) throw new DomainError("invalid_credits", "Credits are a positive whole number");
}

/** Turns a refusal of the ledger's functions, which is an SQLSTATE of its own, into a DomainError. Returns other errors as they are. */
export function translate(error: unknown, needed: number): unknown {
  const detail = Number((error as { detail?: string }).detail ?? 0);
  switch (sqlState(error)) {
    case "TS402":
      return new DomainError("insufficient_credits", `This needs ${needed} credits; ${detail} are available`, {
        needed,
        available: detail,
      });
    case "TS423":
      return new DomainError("wallet_frozen", "The wallet is frozen while a payment is disputed");
    case "TS409":
      return new DomainError("idempotency_conflict", "The same key was used for something else");
    case "TS400":
      return new DomainError("invalid_credits", "Credits are a positive whole number");
    default:
      return error;
  }
}

/** Returns the wallet of the account that pays for a person, and makes it if there is none. */
export async function openWallet(executor: Executor, userId: string, now: Date): Promise<string> {
  const payerId = await findPayer(executor, userId);
  if (payerId === undefined) throw new Error("a person without a billing account");
  return queries.ensureWallet(executor, payerId, now);
}

/** Posts a grant once per key: the same key and content again changes nothing, other content is `idempotency_conflict`. */
export async function postGrant(trx: Trx, input: GrantInput, now: Date): Promise<{ grantId: string; posted: boolean }> {
  assertAmount(input.credits);
  const walletId = await queries.ensureWallet(trx, input.payerId, now);
  try {
    const row = await queries.callPostGrant(trx, {
      walletId,
      kind: input.kind,
      credits: input.credits,
      expiresAt: input.expiresAt,
      key: input.key,
      source: { ...noSource, ...input.source },
      now,
    });
    assert(row.held >= 0);
    return { grantId: row.grant_id, posted: row.posted };
  } catch (error) {
    throw translate(error, input.credits);
  }
}

/** Ends a hold without a charge. Returns false if it had ended before. */
async function releaseHold(executor: Executor, holdId: string, now: Date, wallNow: Date): Promise<boolean> {
  const row = await queries.callEndHold(executor, { holdId, captured: 0, key: `capture:${holdId}`, now, endedAt: wallNow });
  assert(row.held >= 0);
  return row.ended;
}

export async function expireGrant(executor: Executor, grantId: string, now: Date): Promise<number> {
  return (await queries.callExpireGrant(executor, grantId, now)).expired;
}

/**
 * Takes credits of a grant back because its money went back. `inAll` is what all returns together ask for, so that repeating it takes
 * nothing twice. What had expired is not taken; what was spent becomes debt. Returns how many credits this call took.
 */
export async function clawBack(
  trx: Trx,
  clawback: { grantId: string; inAll: number; reason: ClawbackReason; key: string },
  now: Date,
): Promise<number> {
  return (await queries.callClawBack(trx, { ...clawback, now })).taken;
}

/** Gives clawed-back credits back, because their money did not go back after all. Returns how many. */
export async function restoreCredits(trx: Trx, restored: { grantId: string; credits: number; key: string }, now: Date): Promise<number> {
  return (await queries.callRestore(trx, { ...restored, now })).given;
}

/** A frozen wallet keeps its credits, and none can be spent. */
export async function setWalletFrozen(trx: Trx, payerId: string, frozen: boolean, now: Date): Promise<void> {
  await queries.setFrozen(trx, await queries.ensureWallet(trx, payerId, now), frozen, now);
}

/** Below zero: the account's debt. */
export async function balanceOf(executor: Executor, payerId: string): Promise<number> {
  return queries.selectBalance(executor, payerId);
}

/** The account's open plan grants, including those without credits left. */
export async function openPlanGrants(executor: Executor, payerId: string) {
  return queries.selectOpenPlanGrants(executor, payerId);
}

/** Ends the account's open plan grants except `keepId`, because the old month's credits end when the new grant is posted. */
export async function endOlderPlanGrants(trx: Trx, payerId: string, keepId: string, now: Date): Promise<void> {
  for (const grant of await queries.selectOpenPlanGrants(trx, payerId)) {
    if (grant.id !== keepId) await expireGrant(trx, grant.id, now);
  }
}

/** Ends every grant whose expiry has passed. Returns how many. */
export async function expireDueGrants(deps: Pick<Deps, "db" | "log" | "live">, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "expired-grants",
    () => queries.selectDueGrants(deps.db, now, sweepPage),
    ({ id }) => id,
    async (grant) => {
      await expireGrant(deps.db, grant.id, now);
      await announceToMembers(deps, grant.payer_id, "wallets");
      return true;
    },
    signal,
  );
}

/** Releases holds past their deadline (invariant 4) and records `wallNow` as their end. Returns how many. */
export async function releaseOverdueHolds(
  deps: Pick<Deps, "db" | "log" | "live" | "clock">,
  wallNow: Date,
  signal?: AbortSignal,
): Promise<number> {
  return sweepRows(
    deps,
    "overdue-holds",
    () => queries.selectOverdueHolds(deps.db, sweepPage),
    ({ id }) => id,
    async (hold) => {
      const ended = await releaseHold(deps.db, hold.id, deps.clock.now(), wallNow);
      await announceToMembers(deps, hold.payer_id, "wallets");
      return ended;
    },
    signal,
  );
}

/** The sweep releases overdue holds within seconds. If one is still there after this time, the sweep could not release it. */
const staleAfterSeconds = 600;
const staleAtOnce = 100;

/** Ends the holds that are long overdue, of the account or, without one, of all. */
export async function releaseStaleHolds(
  deps: Pick<Deps, "db" | "log" | "live" | "clock">,
  payerId?: string,
): Promise<{ holdId: string; payerId: string; credits: number; isReleased: boolean }[]> {
  const stale = await queries.selectStaleHolds(deps.db, staleAfterSeconds, staleAtOnce, payerId);
  const ended: { holdId: string; payerId: string; credits: number; isReleased: boolean }[] = [];
  for (const hold of stale) {
    const isReleased = await releaseHold(deps.db, hold.id, deps.clock.now(), hold.read_at).catch((error: unknown) => {
      deps.log.error({ err: error, hold: hold.id }, "a hold past its deadline could not be released");
      return false;
    });
    if (isReleased) await announceToMembers(deps, hold.payer_id, "wallets");
    ended.push({ holdId: hold.id, payerId: hold.payer_id, credits: hold.amount - hold.settled, isReleased });
  }
  return ended;
}

export async function availableCredits(executor: Executor, userId: string, kinds: readonly GrantKind[], now: Date): Promise<number> {
  return queries.selectAvailable(executor, userId, kinds, now);
}

/** Whether an answer was ever charged to the account that pays for the person. */
export async function hasSpent(executor: Executor, userId: string): Promise<boolean> {
  return queries.selectHasSpent(executor, userId);
}

/** Reads the wallet that pays for the person. `kinds` are the kinds of grants that may be spent now. */
export async function readWallet(executor: Executor, userId: string, kinds: readonly GrantKind[], now: Date): Promise<Wallet> {
  const wallet = await queries.selectWallet(executor, userId);
  if (!wallet) return { balance: 0, held: 0, available: 0, frozen: false, grants: [], serverTime: now.toISOString() };
  const grants = await queries.selectOpenGrants(executor, wallet.id);
  return {
    balance: wallet.balance,
    held: wallet.held,
    available: await queries.selectAvailable(executor, userId, kinds, now),
    frozen: wallet.frozen_at !== null,
    grants: grants.map((grant) => ({
      id: grant.id,
      kind: grant.kind,
      credits: grant.credits,
      remaining: grant.remaining,
      held: grant.held,
      expiresAt: grant.expires_at.toISOString(),
      createdAt: grant.created_at.toISOString(),
    })),
    serverTime: now.toISOString(),
  };
}

/** Returns the balances that differ from their entries; an empty list if the books agree (invariant 6). */
export async function findDisagreements(executor: Executor) {
  return queries.selectDisagreements(executor);
}
