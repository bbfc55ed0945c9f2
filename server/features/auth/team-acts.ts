/** What an admin does to the sign-in of a person: ban them, allow them again, end their sessions. */
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { AuthDeps } from "./callers.ts";
import { revokeSessionsOf } from "./queries.ts";
import type { Clerk } from "./team.ts";
import { refuseLastAdmin } from "./team.ts";
import { setBannedAt } from "./team-queries.ts";

interface Act {
  userId: string;
  reason: string;
}

const notFound = () => new DomainError("not_found", "There is no such account");

/**
 * A banned person is signed out and can't sign in; their plan goes on until somebody cancels it. Throws `own_account` and `last_admin`, and
 * `conflict` if somebody has done it already.
 */
export async function setBanned(deps: AuthDeps, clerk: Clerk, { userId, reason }: Act, banned: boolean): Promise<void> {
  if (userId === clerk.userId) throw new DomainError("own_account", "You can't do this to your own account");
  await inTransaction(deps.db, async (trx) => {
    if (banned) await refuseLastAdmin(trx, userId);
    const changed = await setBannedAt(trx, userId, banned ? deps.clock.now() : null);
    if (changed === undefined) throw notFound();
    if (!changed) throw new DomainError("conflict", banned ? "The account is banned already" : "The account is not banned");
    if (banned) await revokeSessionsOf(trx, userId, {}, new Date());
    const action = banned ? "account.banned" : "account.unbanned";
    await recordAct(trx, { actor: clerk.userId, subject: userId, action, network: clerk.network, details: {}, reason });
  });
  await announce(deps, userId, "session");
}

/** Ends all sign-ins of the person. Returns how many. */
export async function signOutEverywhere(deps: AuthDeps, clerk: Clerk, { userId, reason }: Act): Promise<number> {
  const sessions = await inTransaction(deps.db, async (trx) => {
    const ended = await revokeSessionsOf(trx, userId, {}, new Date());
    const details = { reason: "by_operator", sessions: ended } as const;
    if (ended > 0)
      await recordAct(trx, { actor: clerk.userId, subject: userId, action: "session.ended", network: clerk.network, details, reason });
    return ended;
  });
  await announce(deps, userId, "session");
  return sessions;
}
