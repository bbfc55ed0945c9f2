/**
 * Opens the link that was mailed to a new address. It changes the address only in the browser that asked for the change, or with the
 * account's password. Owning the mailbox is not enough: if the person mistyped the address, a stranger would get the account. It signs
 * nobody in.
 */
import { DomainError } from "#domain/errors.ts";
import { undoEmailMs } from "#domain/periods.ts";
import type { EmailChangeLink } from "../../contract/auth/email-change.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { counted, giveBackAttempts, networkKeys } from "../attempts/service.ts";
import { giveAddress, mailUndo } from "./addresses.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { invalidCredentials } from "./callers.ts";
import * as links from "./link-queries.ts";
import { verifyPassword } from "./passwords.ts";
import type { AddressLink } from "./person-links.ts";
import { linkInvalid, makeLink, openAddressLink, spendLink } from "./person-links.ts";
import * as queries from "./queries.ts";

const open = (deps: AuthDeps, token: string, { network }: Caller) => openAddressLink(deps, { token, purpose: "change-email", network });

function stateOf(link: AddressLink, caller: Caller): EmailChangeLink["state"] {
  if (caller.emailChanges.includes(link.id)) return "here";
  return link.password_hash === null ? "elsewhere" : "password";
}

/** Changes nothing. Throws `link_invalid`, and `too_many_attempts` with retryAfterSeconds. */
export async function lookAtEmailChange(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<EmailChangeLink> {
  const link = await open(deps, input.token, caller);
  return { email: link.address, state: stateOf(link, caller) };
}

/** Throws `invalid_credentials`, `too_many_attempts` and `sign_in_busy` with retryAfterSeconds. */
async function checkPassword(deps: AuthDeps, link: AddressLink, password: string, { network }: Caller): Promise<void> {
  const keys: AttemptKey[] = [`email-change-guess:${link.user_id}`, ...networkKeys("address", network)];
  const hash = link.password_hash;
  const matches = hash !== null && (await counted(deps.db, keys, () => verifyPassword(network, hash, password)));
  if (!matches) throw invalidCredentials();
  await giveBackAttempts(deps.db, keys);
}

async function change(trx: Trx, deps: AuthDeps, link: AddressLink, { network }: Caller): Promise<void> {
  await links.lockPerson(trx, link.user_id);
  await spendLink(trx, link.id);
  const person = await queries.findPerson(trx, link.user_id);
  // A password changed since we checked it ends the link too.
  if (!person || person.delete_at || person.password_hash !== link.password_hash) throw linkInvalid();
  await giveAddress(trx, deps, person, link.address);
  // These links were mailed to the old address. Opening a used one would show its owner the new address.
  await links.deletePersonLinks(trx, person.id, ["confirm", "recover"]);
  await recordAct(trx, { actor: person.id, subject: person.id, action: "email.changed", network, details: {} });
  const undo = await makeLink(trx, deps, { userId: person.id, purpose: "undo-email", address: person.email, lifeMs: undoEmailMs });
  await mailUndo(trx, deps, { person, email: person.email, undo }, "email-changed");
}

/**
 * Gives the link's address to the person. Throws `link_invalid`, also if the address is taken by somebody else now,
 * `confirmation_password_needed` and, with a password, what checking it throws.
 */
export async function confirmEmailChange(
  deps: AuthDeps,
  input: { token: string; password?: string },
  caller: Caller,
): Promise<{ email: string }> {
  const link = await open(deps, input.token, caller);
  if (stateOf(link, caller) !== "here") {
    if (input.password === undefined)
      throw new DomainError("confirmation_password_needed", "Enter your password, or open the link in the browser that asked for it");
    await checkPassword(deps, link, input.password, caller);
  }
  await inTransaction(deps.db, (trx) => change(trx, deps, link, caller));
  await announce(deps, link.user_id, "users");
  return { email: link.address };
}
