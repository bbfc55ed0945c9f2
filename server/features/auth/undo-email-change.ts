/**
 * The way back for somebody whose account was taken over. A link mailed to their earlier address gives the account back. The intruder who
 * changed the address may know the password, be signed in and have added ways to sign in, so all of these end.
 */
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { linkToken } from "../notifications/links.ts";
import { giveAddress } from "./addresses.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import * as links from "./link-queries.ts";
import type { AddressLink } from "./person-links.ts";
import { linkInvalid, openAddressLink, spendLink } from "./person-links.ts";
import * as queries from "./queries.ts";
import { makeRecovery, shutOut } from "./shut-out.ts";

const open = (deps: AuthDeps, token: string, { network }: Caller) => openAddressLink(deps, { token, purpose: "undo-email", network });

/** Returns the address that the link gives back. Changes nothing. Throws `link_invalid`, and `too_many_attempts` with retryAfterSeconds. */
export async function lookAtUndo(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<{ email: string }> {
  const { address } = await open(deps, input.token, caller);
  return { email: address };
}

/** Returns the id of a link for a new password. */
async function undo(trx: Trx, deps: AuthDeps, link: AddressLink, { network }: Caller): Promise<string> {
  const { user_id: userId } = link;
  await links.lockPerson(trx, userId);
  await spendLink(trx, link.id);
  const person = await queries.findPerson(trx, userId);
  if (!person) throw linkInvalid();
  await giveAddress(trx, deps, person, link.address);
  await shutOut(trx, deps, person);
  const removed = await links.removeWaysInSince(trx, link.id);
  // Links that reverse later changes are deleted. Links to still earlier addresses stay, because an earlier owner's claim comes first.
  await links.deleteUndoLinks(trx, userId, link);
  await recordAct(trx, { actor: userId, subject: userId, action: "email.restored", network, details: { removed } });
  return (await makeRecovery(trx, deps, userId)).id;
}

/**
 * Gives the person their earlier address back, whether or not the change was already made. Ends the password, all sessions and the ways to
 * sign in that were added since. Returns the token for choosing a new password (recovery.ts). Throws what lookAtUndo throws.
 */
export async function undoEmailChange(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<{ email: string; token: string }> {
  const link = await open(deps, input.token, caller);
  const recoveryId = await inTransaction(deps.db, (trx) => undo(trx, deps, link, caller));
  await announce(deps, link.user_id, "session");
  return { email: link.address, token: linkToken(deps.config, recoveryId) };
}
