/**
 * The wallet's use cases. Each takes its executor first and posts one business fact; the ledger's invariants are asserted
 * here on the result, before commit, and by PostgreSQL at the write.
 */
import assert from "node:assert/strict";
import type { GrantKind } from "#domain/credits.ts";
import { isCreditAmount } from "#domain/credits.ts";
import { DomainError } from "#domain/errors.ts";
import type { LedgerPage, Wallet } from "../../contract/billing.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { sqlState } from "../../db/transaction.ts";
import * as queries from "./queries.ts";

export interface GrantInput {
  userId: string;
  kind: GrantKind;
  credits: number;
  expiresAt: Date;
  /** The business fact: `grant:{invoice}:{line}`, `pack:{session}`, `month:{invoice}:{line}:{0…11}`. */
  key: string;
}

function assertAmount(credits: number): void {
  if (!isCreditAmount(credits)) throw new DomainError("invalid_credits", "Credits are a positive whole number");
}

/** The ledger's own refusals by SQLSTATE (migrations/0003). */
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

/** The wallet of a person, made at the first need. */
export async function ensureWallet(executor: Executor, userId: string, now: Date): Promise<string> {
  return (await queries.findWalletId(executor, userId)) ?? queries.insertWallet(executor, userId, now);
}

/** Posts a grant once per key: the same key and content again changes nothing, other content is `idempotency_conflict`. */
export async function postGrant(trx: Trx, input: GrantInput, now: Date): Promise<{ grantId: string; posted: boolean }> {
  assertAmount(input.credits);
  const walletId = await ensureWallet(trx, input.userId, now);
  try {
    const row = await queries.callPostGrant(trx, {
      walletId,
      kind: input.kind,
      credits: input.credits,
      expiresAt: input.expiresAt,
      key: input.key,
      now,
    });
    assert(row.held >= 0);
    return { grantId: row.grant_id, posted: row.posted };
  } catch (error) {
    throw translate(error, input.credits);
  }
}

export interface HoldInput {
  /** The generation's id: one hold each. */
  holdId: string;
  walletId: string;
  credits: number;
  kinds: readonly GrantKind[];
  /** Business time. */
  now: Date;
  /** Wall time; past it the sweeper releases. */
  deadline: Date;
  wallNow: Date;
}

/** Reserves credits, soonest-expiring first. One round trip. Throws `insufficient_credits` with needed and available, `wallet_frozen`, `idempotency_conflict`. */
export async function holdCredits(executor: Executor, input: HoldInput): Promise<{ created: boolean; availableAfter: number }> {
  assertAmount(input.credits);
  try {
    const row = await queries.callHold(executor, { ...input, createdAt: input.wallNow });
    assert(!row.created || row.balance - row.held >= 0, "a hold never overdraws");
    return { created: row.created, availableAfter: row.balance - row.held };
  } catch (error) {
    throw translate(error, input.credits);
  }
}

export interface HoldEnd {
  /** False: it had ended before; the rest tells how. */
  ended: boolean;
  state: "captured" | "released";
  capturedCredits: number;
  availableAfter: number;
}

async function endHold(executor: Executor, holdId: string, captured: number, now: Date, wallNow: Date): Promise<HoldEnd> {
  try {
    const row = await queries.callEndHold(executor, { holdId, captured, key: `capture:${holdId}`, now, endedAt: wallNow });
    assert(row.held >= 0);
    assert(!row.ended || row.captured === captured, "captured what was asked");
    return { ended: row.ended, state: row.state, capturedCredits: row.captured, availableAfter: Math.max(row.balance - row.held, 0) };
  } catch (error) {
    throw translate(error, captured);
  }
}

/** Ends a hold by charging `credits` of it; the rest is released. One round trip. */
export async function captureHold(executor: Executor, holdId: string, credits: number, now: Date, wallNow: Date): Promise<HoldEnd> {
  assertAmount(credits);
  return endHold(executor, holdId, credits, now, wallNow);
}

/** Ends a hold without a charge. */
export async function releaseHold(executor: Executor, holdId: string, now: Date, wallNow: Date): Promise<HoldEnd> {
  return endHold(executor, holdId, 0, now, wallNow);
}

export async function expireGrant(executor: Executor, grantId: string, now: Date): Promise<number> {
  return (await queries.callExpireGrant(executor, grantId, now)).expired;
}

/** Takes granted credits back; what is spent already becomes recorded debt (decisions.md, "Refunds, disputes"). */
export async function clawBack(trx: Trx, input: { grantId: string; credits: number; key: string }, now: Date): Promise<boolean> {
  assertAmount(input.credits);
  try {
    return (await queries.callClawBack(trx, { ...input, now })).posted;
  } catch (error) {
    throw translate(error, input.credits);
  }
}

/** The months of plan credits a person still has, spent or not. */
export async function openPlanGrants(executor: Executor, userId: string) {
  return queries.selectOpenPlanGrants(executor, userId);
}

/** Ends the plan grants a person still has but `keepKeys`: the old month's credits end when the new grant is posted. */
export async function endOlderPlanGrants(trx: Trx, userId: string, keepKeys: readonly string[], now: Date): Promise<void> {
  for (const grant of await queries.selectOpenPlanGrants(trx, userId)) {
    if (!keepKeys.includes(grant.source_key)) await expireGrant(trx, grant.id, now);
  }
}

const batch = 200;

/** Ends every grant whose time has come. Returns how many. */
export async function expireDueGrants(executor: Executor, now: Date): Promise<number> {
  let total = 0;
  for (;;) {
    const due = await queries.selectDueGrants(executor, now, batch);
    for (const grantId of due) await expireGrant(executor, grantId, now);
    total += due.length;
    if (due.length < batch) return total;
  }
}

/** Releases holds past their deadline (invariant 4). Returns their ids. */
export async function releaseOverdueHolds(executor: Executor, now: Date, wallNow: Date): Promise<string[]> {
  const overdue = await queries.selectOverdueHolds(executor, wallNow, batch);
  for (const holdId of overdue) await releaseHold(executor, holdId, now, wallNow);
  return overdue;
}

export async function availableCredits(executor: Executor, userId: string, kinds: readonly GrantKind[], now: Date): Promise<number> {
  return queries.selectAvailable(executor, userId, kinds, now);
}

/** The wallet as its owner sees it. `kinds`: what may be spent now. */
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

/** One page of the history, newest first; `cursor` is the last line's id. */
export async function readLedger(executor: Executor, userId: string, cursor: string | undefined, limit: number): Promise<LedgerPage> {
  const walletId = await queries.findWalletId(executor, userId);
  if (walletId === undefined) return { lines: [], nextCursor: null };
  const rows = await queries.selectLedgerLines(executor, walletId, cursor, limit);
  const lines = rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    credits: row.credits,
    balanceAfter: row.balance_after,
    occurredAt: row.occurred_at.toISOString(),
    modelId: row.model_id,
  }));
  return { lines, nextCursor: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
}

/** Where a recorded balance differs from what the entries say; empty when the books agree (invariant 6). */
export async function findDisagreements(executor: Executor) {
  return queries.selectDisagreements(executor);
}
