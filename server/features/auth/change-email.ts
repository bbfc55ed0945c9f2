/**
 * A signed-in person asks for another email address. They get it when they open the link mailed to it (confirm-email-change.ts). We mail
 * the present address at once, with a link that stops or reverses the change (undo-email-change.ts). The response does not reveal whether
 * the new address is taken; only the mail does.
 */
import { DomainError } from "#domain/errors.ts";
import { emailChangeMs, undoEmailMs } from "#domain/periods.ts";
import { checkEmail } from "#domain/rules.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { countAttempts } from "../attempts/service.ts";
import { queueMail } from "../notifications/service.ts";
import { findClaim, mailClaimant, mailUndo } from "./addresses.ts";
import { inEvenTime, mailKeys, mayMail } from "./asked-mails.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { assertRules, normalizeEmail } from "./callers.ts";
import * as links from "./link-queries.ts";
import { makeLink } from "./person-links.ts";
import * as queries from "./queries.ts";

export interface AskedAddress {
  email: string;
  /** When the link in the mail expires. */
  expiresAt: Date;
}

/** The new address that is not confirmed yet. */
export async function findAskedAddress(executor: Executor, userId: string): Promise<AskedAddress | null> {
  const link = await links.findAskedAddress(executor, userId, new Date());
  return link?.address ? { email: link.address, expiresAt: link.expires_at } : null;
}

async function lockedPerson(trx: Trx, userId: string): Promise<queries.Person> {
  await links.lockPerson(trx, userId);
  const person = await queries.findPerson(trx, userId);
  if (!person) throw new DomainError("unauthenticated", "Sign in to continue");
  return person;
}

/** Mails the new address a link or, if it is taken, that it has an account already. Earlier links stop working. */
async function mailNewAddress(trx: Trx, deps: AuthDeps, person: queries.Person, email: string, caller: Caller): Promise<string> {
  await links.deleteUnusedLinks(trx, person.id, "change-email");
  const { id } = await makeLink(trx, deps, { userId: person.id, purpose: "change-email", address: email, lifeMs: emailChangeMs });
  const claim = await findClaim(trx, email);
  if (!(await mayMail(trx, email, caller))) return id;
  if (claim && claim.person.id !== person.id) {
    await mailClaimant(trx, deps, { ...claim, email }, "email-change-taken");
    return id;
  }
  const mail = { key: `email-change:${id}`, userId: person.id, recipient: email, language: person.language };
  await queueMail(trx, { ...mail, template: "email-change-confirm", parameters: { linkId: id } }, deps.clock.now());
  return id;
}

async function ask(trx: Trx, deps: AuthDeps, { userId, email }: { userId: string; email: string }, caller: Caller): Promise<string> {
  const person = await lockedPerson(trx, userId);
  assertRules({ email: person.email === email ? "This is your address already" : undefined });
  const linkId = await mailNewAddress(trx, deps, person, email, caller);
  const undo = await makeLink(trx, deps, { userId, purpose: "undo-email", address: person.email, lifeMs: undoEmailMs });
  await mailUndo(trx, deps, { person, email: person.email, undo }, "email-change-notice");
  await recordAct(trx, { actor: userId, subject: userId, action: "email_change.asked", network: caller.network, details: {} });
  return linkId;
}

/** Counts the mails that one person asks for, from all networks together. */
async function countAsked(deps: AuthDeps, userId: string, caller: Caller): Promise<void> {
  await countAttempts(deps.db, [`email-change:${userId}`, ...mailKeys(caller)], deps.settings.current);
}

/**
 * Asks for another address and forgets one that was asked for before. The response is the same for every address, after the same time.
 * Returns the link's id, which the browser keeps. Throws `validation_failed`, and `too_many_attempts` with retryAfterSeconds.
 */
export async function askForEmailChange(
  deps: AuthDeps,
  { userId, email: typed }: { userId: string; email: string },
  caller: Caller,
): Promise<string> {
  const email = normalizeEmail(typed);
  assertRules({ email: checkEmail(email) });
  await countAsked(deps, userId, caller);
  const linkId = await inEvenTime(inTransaction(deps.db, (trx) => ask(trx, deps, { userId, email }, caller)));
  await announce(deps, userId, "users");
  return linkId;
}

/**
 * Mails the new address again, with a new link. Returns the link's id, which the browser keeps. Throws `not_found` if no address waits to be
 * confirmed, and `too_many_attempts` with retryAfterSeconds.
 */
export async function resendEmailChange(deps: AuthDeps, userId: string, caller: Caller): Promise<string> {
  await countAsked(deps, userId, caller);
  const again = async (trx: Trx) => {
    const person = await lockedPerson(trx, userId);
    const asked = await findAskedAddress(trx, userId);
    if (!asked) throw new DomainError("not_found", "No new address waits to be confirmed");
    return mailNewAddress(trx, deps, person, asked.email, caller);
  };
  const linkId = await inEvenTime(inTransaction(deps.db, again));
  await announce(deps, userId, "users");
  return linkId;
}

/** Cancels the change. The link mailed to the present address still works, because the owner may not be the one who asked. */
export async function cancelEmailChange(deps: AuthDeps, userId: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await links.lockPerson(trx, userId);
    await links.deleteUnusedLinks(trx, userId, "change-email");
  });
  await announce(deps, userId, "users");
}
