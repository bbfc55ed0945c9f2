/** What an admin does to the sign-in of a person: ban them, allow them again, end their sessions, give the account back to its owner. */
import { DomainError } from "#domain/errors.ts";
import { givenBackMs } from "#domain/periods.ts";
import type { AddedWay } from "../../contract/auth/disown.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { queueMail } from "../notifications/service.ts";
import { countTeamMail } from "../team/limits.ts";
import type { Clerk } from "../team/service.ts";
import { refuseLastAdmin } from "../team/service.ts";
import { giveAddress } from "./addresses.ts";
import type { AuthDeps } from "./callers.ts";
import * as links from "./link-queries.ts";
import { findPerson, revokeSessionsOf } from "./queries.ts";
import { makeRecovery, shutOut } from "./shut-out.ts";
import { setBannedAt } from "./team-queries.ts";
import { removeWaysSince, waysSince } from "./ways-in.ts";

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

/** What giving the account back may remove, and the address that it puts back and mails; null: the present one. */
export async function readTakenOver(executor: Executor, userId: string): Promise<{ ways: AddedWay[]; earlierEmail: string | null }> {
  const person = await findPerson(executor, userId);
  if (!person) throw notFound();
  const earlierEmail = await links.findEarlierAddress(executor, userId, person.email, new Date());
  return { ways: await waysSince(executor, userId, new Date(0)), earlierEmail: earlierEmail ?? null };
}

/**
 * For somebody whose account was taken over. Ends the password and all sessions, removes the ways to sign in that were added from the day `since`
 * on (UTC; null: none), puts an address back whose change can still be reversed, and mails it a link for a new password. Throws `own_account`,
 * `conflict` if the person is banned, and `too_many_attempts`.
 */
export async function giveAccountBack(
  deps: AuthDeps,
  clerk: Clerk,
  { userId, reason, since }: Act & { since: string | null },
): Promise<void> {
  if (userId === clerk.userId) throw new DomainError("own_account", "You can't do this to your own account");
  await inTransaction(deps.db, async (trx) => {
    await links.lockPerson(trx, userId);
    const person = await findPerson(trx, userId);
    if (!person) throw notFound();
    if (person.banned_at) throw new DomainError("conflict", "The account is banned");
    await countTeamMail(trx, clerk.userId, userId);
    const earlier = await links.findEarlierAddress(trx, userId, person.email, new Date());
    if (earlier !== undefined) await giveAddress(trx, deps, person, earlier);
    const recipient = earlier ?? person.email;
    const sessions = await shutOut(trx, deps, person);
    const removed = since === null ? 0 : await removeWaysSince(trx, userId, new Date(since));
    await links.deleteLinksOfOthers(trx, userId, recipient);
    const details = { sessions, removed, addressRestored: earlier !== undefined };
    await recordAct(trx, { actor: clerk.userId, subject: userId, action: "account.given_back", network: clerk.network, details, reason });
    const link = await makeRecovery(trx, deps, userId, givenBackMs);
    const mail = { key: `account-given-back:${link.id}`, userId, recipient, language: person.language };
    const parameters = { linkId: link.id, expiresAt: link.expiresAt.toISOString() };
    await queueMail(trx, { ...mail, template: "account-given-back", parameters }, deps.clock.now());
  });
  await announce(deps, userId, "session");
}
