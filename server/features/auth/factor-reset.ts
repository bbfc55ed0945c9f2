/**
 * The way back for somebody who lost both their authenticator app and their recovery codes. They show the password and ask; 72 hours later
 * they get a mail with a link that removes the second factor. Until then every open page of the account says so, and anybody with a session,
 * the mail or a code can end the request. So a stranger needs the password, the mailbox, and three days in which the owner notices nothing.
 * Sessions and codes end nothing if they come from what was added lately: a stranger may have added it to keep the owner out (decision 101).
 */
import { v7 as uuidv7 } from "uuid";
import type { AuditDetails } from "#domain/audit.ts";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { disownMs, factorResetLinkMs, factorResetWaitMs } from "#domain/periods.ts";
import type { FactorReset } from "../../contract/auth/factor-reset.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { countAttempts, networkKeys } from "../attempts/service.ts";
import { readLinkToken } from "../notifications/links.ts";
import { queueMail } from "../notifications/service.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { findTotp, lockTotp } from "./factor-queries.ts";
import * as queries from "./factor-reset-queries.ts";
import * as links from "./link-queries.ts";
import { findPending, signInExpired } from "./pending-sign-ins.ts";
import { linkInvalid, makeLink } from "./person-links.ts";
import type { Person } from "./queries.ts";
import { findPerson, findSession } from "./queries.ts";

function present(reset: queries.FactorResetRow): FactorReset {
  const status = reset.mailed_at === null ? "waiting" : "link_sent";
  return { status, askedAt: reset.asked_at.toISOString(), until: reset.due_at.toISOString() };
}

/** True if the request's link has expired. A sweep will end the request. */
const isOver = (reset: queries.FactorResetRow, now: Date) => reset.mailed_at !== null && reset.due_at <= now;

/** The person's request, while it can still remove the factor. */
export async function readFactorReset(executor: Executor, userId: string, now: Date): Promise<FactorReset | null> {
  const reset = await queries.findOpenReset(executor, userId);
  if (!reset || isOver(reset, now)) return null;
  return (await findTotp(executor, userId)) ? present(reset) : null;
}

async function begin(trx: Trx, deps: AuthDeps, person: Person, { network }: Caller): Promise<queries.FactorResetRow> {
  await countAttempts(trx, [`factor-reset:${person.id}`]);
  const now = deps.clock.now();
  const id = uuidv7();
  const dueAt = addMilliseconds(now, factorResetWaitMs);
  const reset = { id, user_id: person.id, asked_at: now, due_at: dueAt, mailed_at: null, ended_at: null, ending: null };
  await queries.insertReset(trx, reset);
  await recordAct(trx, { actor: person.id, subject: person.id, network, action: "factor_reset.asked", details: {} });
  const to = { userId: person.id, recipient: person.email, language: person.language };
  const parameters = { resetId: id, expiresAt: dueAt.toISOString() };
  await queueMail(trx, { ...to, key: `factor-reset-asked:${id}`, template: "factor-reset-asked", parameters }, now);
  return reset;
}

/**
 * Asks from a sign-in that waits for its second factor. Asking again gives the same request. Throws `sign_in_expired`, and
 * `too_many_attempts` with retryAfterSeconds.
 */
export async function askForFactorReset(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<FactorReset> {
  const { person } = await findPending(deps.db, deps, { token: input.token, waitsFor: "second factor" }, caller);
  const { reset, isNew } = await inTransaction(deps.db, async (trx) => {
    // Two calls at the same time run one after the other.
    if (!(await lockTotp(trx, person.id))) throw signInExpired();
    const now = deps.clock.now();
    const open = await queries.findOpenReset(trx, person.id);
    if (open && !isOver(open, now)) return { reset: open, isNew: false };
    if (open) await expire(trx, person.id, now);
    return { reset: await begin(trx, deps, person, caller), isNew: true };
  });
  if (isNew) await announce(deps, person.id, "factor_resets");
  return present(reset);
}

async function expire(trx: Trx, userId: string, now: Date): Promise<void> {
  await queries.endReset(trx, userId, "expired", now);
  await links.deleteUnusedLinks(trx, userId, "reset-factors");
}

type CancelledBy = AuditDetails["factor_reset.cancelled"]["by"];

interface Canceller {
  userId: string;
  network: string;
  /** The session that asks, if one does. */
  sessionId?: string;
}

/** True if the factor, or what the session was opened with, is so new that its owner can still say that it is a stranger's. */
async function isByNewWay(trx: Trx, { clock }: Pick<AuthDeps, "clock">, { userId, sessionId }: Canceller): Promise<boolean> {
  const newSince = addMilliseconds(clock.now(), -disownMs);
  const session = sessionId === undefined ? undefined : await findSession(trx, sessionId);
  return [(await findTotp(trx, userId))?.created_at, session?.way_added_at].some((at) => at != null && at > newSince);
}

/** Returns whether it ended a request. The caller announces it after the commit. */
export async function cancelReset(trx: Trx, deps: Pick<AuthDeps, "clock">, asker: Canceller, by: CancelledBy): Promise<boolean> {
  const { userId, network } = asker;
  if (by !== "mailed_link" && (await isByNewWay(trx, deps, asker))) return false;
  if (!(await queries.endReset(trx, userId, "cancelled", deps.clock.now()))) return false;
  await links.deleteUnusedLinks(trx, userId, "reset-factors");
  // We don't know who opened the mailed link.
  const actor = by === "mailed_link" ? null : userId;
  await recordAct(trx, { actor, subject: userId, network, action: "factor_reset.cancelled", details: { by } });
  return true;
}

/** For somebody who is signed in. Does nothing if there is no request. Throws `way_too_new`. */
export async function cancelOwnReset(deps: AuthDeps, asker: Required<Canceller>): Promise<void> {
  const cancelled = await inTransaction(deps.db, async (trx) => {
    const isCancelled = await cancelReset(trx, deps, asker, "session");
    if (!isCancelled && (await readFactorReset(trx, asker.userId, deps.clock.now())))
      throw new DomainError(
        "way_too_new",
        "The way you signed in, or the second factor, is new. Use the link in the mail about this request",
      );
    return isCancelled;
  });
  if (cancelled) await announce(deps, asker.userId, "factor_resets");
}

/** Cancels with the token of the mail about the request. Does nothing if that request has ended. Throws `link_invalid`, `too_many_attempts`. */
export async function cancelMailedReset(deps: AuthDeps, { token }: { token: string }, { network }: Caller): Promise<void> {
  await countAttempts(deps.db, networkKeys("link-address", network));
  const id = readLinkToken(deps.config, token);
  const reset = id === undefined ? undefined : await queries.findReset(deps.db, id);
  if (!reset) throw linkInvalid();
  if (reset.ended_at !== null) return;
  const asker = { userId: reset.user_id, network };
  const cancelled = await inTransaction(deps.db, (trx) => cancelReset(trx, deps, asker, "mailed_link"));
  if (cancelled) await announce(deps, reset.user_id, "factor_resets");
}

async function mailLink(trx: Trx, deps: AuthDeps, reset: queries.FactorResetRow, person: Person, now: Date): Promise<void> {
  const { id: linkId } = await makeLink(trx, deps, { userId: person.id, purpose: "reset-factors", lifeMs: factorResetLinkMs });
  const dueAt = addMilliseconds(now, factorResetLinkMs);
  await queries.markMailed(trx, reset.id, { mailedAt: now, dueAt });
  await recordAct(trx, { actor: null, subject: person.id, network: null, action: "factor_reset.mailed", details: {} });
  const to = { userId: person.id, recipient: person.email, language: person.language };
  const parameters = { linkId, expiresAt: dueAt.toISOString() };
  await queueMail(trx, { ...to, key: `factor-reset-link:${reset.id}`, template: "factor-reset-link", parameters }, now);
}

/** Mails the link of a request that has waited long enough. Ends a request whose link has expired, or whose factor is off. */
async function advance(deps: AuthDeps, { id, user_id: userId }: queries.FactorResetRow, now: Date): Promise<boolean> {
  const moved = await inTransaction(deps.db, async (trx) => {
    const reset = await queries.lockDueReset(trx, id, now);
    if (!reset) return false;
    const person = await findPerson(trx, userId);
    const hasFactor = (await findTotp(trx, userId)) !== undefined;
    if (reset.mailed_at === null && person && !person.banned_at && hasFactor) await mailLink(trx, deps, reset, person, now);
    else await expire(trx, userId, now);
    return true;
  });
  if (moved) await announce(deps, userId, "factor_resets");
  return moved;
}

/** Does the next step of every request for which it is due at `now` (business time). Returns how many. */
export async function advanceFactorResets(deps: AuthDeps, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "factor-resets",
    () => queries.selectDueResets(deps.db, now, sweepPage),
    ({ id }) => id,
    (reset) => advance(deps, reset, now),
    signal,
  );
}
