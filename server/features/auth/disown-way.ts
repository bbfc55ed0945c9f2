/**
 * The way back for somebody to whose account a stranger added a passkey, an authenticator app or a Google account. The mail about it has a
 * link that removes it, for seven days, with all that was added after it (decision 101). The link then leads to a new password and does
 * no more: it signs nobody in, and a second factor that was there before is still asked for.
 */
import { disownMs } from "#domain/periods.ts";
import type { DisownLink } from "../../contract/auth/disown.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { linkToken } from "../notifications/links.ts";
import { giveAddress } from "./addresses.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import * as links from "./link-queries.ts";
import type { AddressLink, MadeLink } from "./person-links.ts";
import { linkInvalid, makeLink, openAddressLink, spendLink } from "./person-links.ts";
import * as queries from "./queries.ts";
import { makeRecovery, shutOut } from "./shut-out.ts";
import { waysSince } from "./ways-in.ts";

/** Makes the link for the mail about a way that was added at `addedAt`, in business time. */
export async function makeDisownLink(trx: Trx, deps: AuthDeps, person: queries.Person, addedAt: Date): Promise<MadeLink> {
  const { id: userId, email: address } = person;
  return makeLink(trx, deps, { userId, purpose: "disown-way", address, waysSince: addedAt, lifeMs: disownMs });
}

/**
 * Refuses a link whose mailbox neither has the account's address nor can still reverse the change that took it away: the mailbox may belong
 * to a stranger who had given the account that address for a while. Throws `link_invalid`.
 */
async function refuseLostMailbox(executor: Executor, { user_id: userId, address }: AddressLink, email: string): Promise<void> {
  if (email === address) return;
  const undo = await links.findUndo(executor, address, new Date());
  if (undo?.user_id !== userId) throw linkInvalid();
}

async function open(deps: AuthDeps, token: string, { network }: Caller): Promise<AddressLink & { ways_since: Date }> {
  const link = await openAddressLink(deps, { token, purpose: "disown-way", network });
  if (link.ways_since === null) throw new Error("a link that removes ways to sign in does not say since when");
  await refuseLostMailbox(deps.db, link, link.email);
  return { ...link, ways_since: link.ways_since };
}

/** What the link removes. Changes nothing. Throws `link_invalid`, and `too_many_attempts` with retryAfterSeconds. */
export async function lookAtDisown(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<DisownLink> {
  const link = await open(deps, input.token, caller);
  return { email: link.address, ways: await waysSince(deps.db, link.user_id, link.ways_since) };
}

/** Returns the id of a link for a new password. */
async function disown(trx: Trx, deps: AuthDeps, link: AddressLink, { network }: Caller): Promise<string> {
  const { user_id: userId } = link;
  await links.lockPerson(trx, userId);
  await spendLink(trx, link.id);
  const person = await queries.findPerson(trx, userId);
  if (!person) throw linkInvalid();
  // A stranger who also changed the address would otherwise have the next password mailed to theirs.
  await refuseLostMailbox(trx, link, person.email);
  if (person.email !== link.address) await giveAddress(trx, deps, person, link.address);
  await shutOut(trx, deps, person);
  const removed = await links.removeWaysInSince(trx, link.id);
  await links.deleteUndoLinks(trx, userId, link);
  await recordAct(trx, { actor: userId, subject: userId, action: "ways.disowned", network, details: { removed } });
  return (await makeRecovery(trx, deps, userId)).id;
}

/**
 * Removes the way and all that were added after it, ends the password and all sessions, and reverses a change of address made since. Returns
 * the token for choosing a new password (recovery.ts). Throws what lookAtDisown throws.
 */
export async function disownWay(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<{ email: string; token: string }> {
  const link = await open(deps, input.token, caller);
  const recoveryId = await inTransaction(deps.db, (trx) => disown(trx, deps, link, caller));
  await announce(deps, link.user_id, "session");
  return { email: link.address, token: linkToken(deps.config, recoveryId) };
}
