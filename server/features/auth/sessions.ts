/** Opens sessions, continues them by rotating the refresh token, and ends them. Uses wall time. */

import { v7 as uuidv7 } from "uuid";
import { dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announce } from "../../http/live-events.ts";
import { hashToken } from "../../http/secret-keys.ts";
import type { Caller } from "./callers.ts";
import * as queries from "./queries.ts";
import type { RefreshToken } from "./tokens.ts";
import { readRefreshToken, refreshTokenHashes, writeRefreshToken } from "./tokens.ts";

/** A sign-in lasts this long after its last refresh. */
const sessionMs = 30 * dayMs;
/** No sign-in lasts longer than this, however often it is used (docs/decisions/0035). */
const longestSessionMs = 180 * dayMs;
/**
 * For this long we answer the previous refresh token with the same successor again, and for longer if nobody has used the successor yet
 * (docs/decisions/0006). So several tabs may refresh at the same time, and a client that did not receive the response stays signed in.
 */
const refreshGraceMs = 45_000;

function expiryAt(now: Date, openedAt: Date): Date {
  return new Date(Math.min(now.getTime() + sessionMs, openedAt.getTime() + longestSessionMs));
}

/** A sign-in as the routes hand it out. */
export interface SignIn {
  user: queries.Person;
  sessionId: string;
  refreshToken: string;
  /** The counter of the refresh token. */
  counter: number;
}

type SessionDeps = Pick<Deps, "config" | "db" | "live" | "log">;

export async function openSession(
  trx: Trx,
  deps: Pick<Deps, "config">,
  { user, wayAddedAt }: { user: queries.Person; wayAddedAt: Date | null },
  { userAgent, timeZone }: Pick<Caller, "userAgent" | "timeZone">,
): Promise<SignIn> {
  const now = new Date();
  const sessionId = uuidv7();
  const refreshToken = writeRefreshToken(deps.config, { sessionId, counter: 0 });
  await queries.insertSession(trx, {
    id: sessionId,
    user_id: user.id,
    token_hash: hashToken(refreshToken),
    previous_token_hash: null,
    rotated_at: now,
    expires_at: expiryAt(now, now),
    revoked_at: null,
    created_at: now,
    proved_at: now,
    user_agent: userAgent?.slice(0, 300) ?? null,
    time_zone: timeZone,
    received_counter: 0,
    way_added_at: wayAddedAt,
  });
  return { user, sessionId, refreshToken, counter: 0 };
}

type Continuation = { outcome: "continued"; signIn: SignIn } | { outcome: "reused"; userId: string } | { outcome: "over" | "deleted" };

interface Presented {
  read: RefreshToken;
  caller: Pick<Caller, "network" | "timeZone">;
}

async function continueSession(trx: Trx, deps: Pick<Deps, "config">, { read, caller }: Presented): Promise<Continuation> {
  const now = new Date();
  const session = await queries.lockSession(trx, read.sessionId);
  const user = session && (await queries.findPerson(trx, session.user_id));
  if (!session || !user) return { outcome: "over" };
  if (user.delete_at) return { outcome: "deleted" };
  if (session.revoked_at || session.expires_at <= now || user.banned_at) return { outcome: "over" };
  const presented = refreshTokenHashes(deps.config, read);
  if (presented.some((hash) => hash.equals(session.token_hash))) {
    const counter = session.counter + 1;
    const refreshToken = writeRefreshToken(deps.config, { sessionId: session.id, counter });
    await queries.rotateSession(trx, session, {
      counter,
      tokenHash: hashToken(refreshToken),
      now,
      expiresAt: expiryAt(now, session.created_at),
      timeZone: caller.timeZone,
    });
    return { outcome: "continued", signIn: { user, sessionId: session.id, refreshToken, counter } };
  }
  const isPredecessor = presented.some((hash) => session.previous_token_hash !== null && hash.equals(session.previous_token_hash));
  const isReceived = session.received_counter === null || session.received_counter >= session.counter;
  if (isPredecessor && (!isReceived || now.getTime() - session.rotated_at.getTime() <= refreshGraceMs)) {
    const { id: sessionId, counter } = session;
    return {
      outcome: "continued",
      signIn: { user, sessionId, counter, refreshToken: writeRefreshToken(deps.config, { sessionId, counter }) },
    };
  }
  await queries.revokeSession(trx, session.id, now);
  // We don't know whether the person or a thief used the token again.
  const event = { actor: null, subject: user.id, network: caller.network, details: { reason: "token_reused" } } as const;
  await recordAct(trx, { ...event, action: "session.ended" });
  return { outcome: "reused", userId: session.user_id };
}

/**
 * Exchanges a refresh token for its successor. Throws `session_expired`. If the person has deleted their account it throws `account_deleted`,
 * and the device then removes what it stored about them. Reuse after the grace ends the sign-in.
 */
export async function refreshSession(deps: SessionDeps, token: string, caller: Presented["caller"]): Promise<SignIn> {
  const read = readRefreshToken(deps.config, token);
  const result = read ? await inTransaction(deps.db, (trx) => continueSession(trx, deps, { read, caller })) : { outcome: "over" as const };
  if (result.outcome === "continued") return result.signIn;
  if (result.outcome === "reused") {
    deps.log.warn({ userId: result.userId, sessionId: read?.sessionId }, "refresh token reused; sign-in ended");
    // Open connections check their session now. If this announcement is lost, they do so within a minute.
    await announce(deps, result.userId, "session");
  }
  if (result.outcome === "deleted") throw new DomainError("account_deleted", "This account was deleted. Sign in to restore it");
  throw new DomainError("session_expired", "Your session has ended. Sign in again");
}

/** Ends the sign-in of a refresh token. Does nothing if there is none. */
export async function endSession(deps: SessionDeps, token: string, { network }: Pick<Caller, "network">): Promise<void> {
  const presented = readRefreshToken(deps.config, token);
  if (!presented) return;
  const userId = await inTransaction(deps.db, async (trx) => {
    const ended = await queries.revokeSession(trx, presented.sessionId, new Date());
    if (ended !== undefined)
      await recordAct(trx, { actor: ended, subject: ended, action: "session.ended", network, details: { reason: "signed_out" } });
    return ended;
  });
  if (userId !== undefined) await announce(deps, userId, "session");
}

/** Ends all of the person's sign-ins. The caller announces "session" after the commit. */
export async function endAllSessions(trx: Trx, userId: string): Promise<void> {
  await queries.revokeSessionsOf(trx, userId, {}, new Date());
}
