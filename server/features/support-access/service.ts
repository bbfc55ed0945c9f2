/**
 * A person lets the team read their conversations for a while, to be helped (docs/decisions/0095). Without that nobody of the team can. The consent is
 * looked at in the transaction that reads, so one that was taken back before is never used.
 */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { SupportAccessDays } from "#domain/support-access.ts";
import { accessRequestMs, askForAccessAgainMs } from "#domain/support-access.ts";
import type { ReadAnswer, SupportAccess } from "../../contract/support-access.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { SupportAccessRow } from "../../db/types-support-access.ts";
import type { Deps } from "../../deps.ts";
import { announce } from "../../http/live-events.ts";
import { readUpTo } from "../conversations/read-for-team.ts";
import { queueMail } from "../notifications/service.ts";
import { countReading } from "../team/limits.ts";
import type { Clerk } from "../team/service.ts";
import * as queries from "./queries.ts";

type AccessDeps = Pick<Deps, "db" | "clock" | "live" | "log">;

interface Act {
  userId: string;
  reason: string;
}

function shown(row: SupportAccessRow | undefined, now: Date): SupportAccess {
  if (!row) return { until: null, askedAt: null };
  const { asked_at: askedAt, given_at: givenAt, until, ended_at: endedAt } = row;
  const isRunning = endedAt === null && until !== null && until > now;
  const answeredMs = Math.max(givenAt?.getTime() ?? 0, endedAt?.getTime() ?? 0);
  const isOpen = askedAt !== null && askedAt.getTime() > Math.max(answeredMs, now.getTime() - accessRequestMs);
  return { until: isRunning ? until.toISOString() : null, askedAt: isOpen ? askedAt.toISOString() : null };
}

export async function readSupportAccess({ db, clock }: Pick<Deps, "db" | "clock">, userId: string): Promise<SupportAccess> {
  return shown(await queries.selectAccess(db, userId), clock.now());
}

/** From now on for these days, also if an earlier consent would have run longer. */
export async function giveSupportAccess(deps: AccessDeps, person: Clerk, days: SupportAccessDays): Promise<SupportAccess> {
  const { userId, network } = person;
  const access = await inTransaction(deps.db, async (trx) => {
    const now = deps.clock.now();
    const row = await queries.upsertGiven(trx, userId, now, addMilliseconds(now, days * dayMs));
    await recordAct(trx, { actor: userId, subject: userId, action: "support_access.given", network, details: { days } });
    return shown(row, now);
  });
  await announce(deps, userId, "support_access");
  return access;
}

/** Once it has returned nobody of the team reads anything more. Does nothing if there is neither a consent nor a request. */
export async function endSupportAccess(deps: AccessDeps, { userId, network }: Clerk): Promise<SupportAccess> {
  await inTransaction(deps.db, async (trx) => {
    const now = deps.clock.now();
    const { until, askedAt } = shown(await queries.lockAccess(trx, userId), now);
    if (until === null && askedAt === null) return;
    await queries.setEnded(trx, userId, now);
    const action = until === null ? "support_access.refused" : "support_access.ended";
    await recordAct(trx, { actor: userId, subject: userId, action, network, details: {} });
  });
  await announce(deps, userId, "support_access");
  return { until: null, askedAt: null };
}

/** Called when the account is deleted. If it is restored, its owner has to give the consent again. */
export async function dropSupportAccess(trx: Trx, userId: string, now: Date): Promise<void> {
  await queries.setEnded(trx, userId, now);
}

function askedLately(row: SupportAccessRow | undefined, now: Date): DomainError {
  const againAt = (row?.asked_at?.getTime() ?? now.getTime()) + askForAccessAgainMs;
  const retryAfterSeconds = Math.max(Math.ceil((againAt - now.getTime()) / 1_000), 1);
  return new DomainError("rate_limited", "This person was asked within the last day", { retryAfterSeconds });
}

/**
 * Asks the person by mail and in their account. Throws `not_found`, `conflict` if they can't sign in or let the team read already, and `rate_limited`
 * with retryAfterSeconds.
 */
export async function askForSupportAccess(deps: AccessDeps, clerk: Clerk, { userId, reason }: Act): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const now = deps.clock.now();
    const person = await queries.selectAsked(trx, userId);
    if (!person) throw new DomainError("not_found", "There is no such account");
    if (!person.can_sign_in) throw new DomainError("conflict", "The person can't sign in");
    if (await queries.lockRunning(trx, userId, now)) throw new DomainError("conflict", "The person lets the team read already");
    const isAsked = await queries.upsertAsked(trx, userId, now, addMilliseconds(now, -askForAccessAgainMs));
    if (!isAsked) throw askedLately(await queries.selectAccess(trx, userId), now);
    const key = `support-access:${userId}:${now.toISOString()}`;
    const to = { userId, recipient: person.email, language: person.language };
    await queueMail(trx, { ...to, key, template: "support-access-asked", parameters: {} }, now);
    const { userId: actor, network } = clerk;
    await recordAct(trx, { actor, subject: userId, action: "support_access.asked", network, details: {}, reason });
  });
  await announce(deps, userId, "support_access");
}

/**
 * The answer with what led to it, for a team member. It is on the audit log before the text goes out. Throws `support_access_needed` if the
 * person doesn't let the team read at this moment, `not_found`, `answer_gone` if they deleted the text, `too_many_attempts`.
 */
export async function readForTeam(
  deps: Pick<Deps, "db" | "clock">,
  clerk: Clerk,
  { userId, answerId, reason }: Act & { answerId: string },
): Promise<ReadAnswer> {
  return inTransaction(deps.db, async (trx) => {
    await countReading(trx, clerk.userId);
    const until = await queries.lockRunning(trx, userId, deps.clock.now());
    if (!until) throw new DomainError("support_access_needed", "The person doesn't let the team read their conversations");
    const read = await readUpTo(trx, userId, answerId);
    const details = { generationId: answerId };
    await recordAct(trx, { actor: clerk.userId, subject: userId, action: "answer.read", network: clerk.network, details, reason });
    return { until: until.toISOString(), ...read };
  });
}
