/**
 * Finds out whether an address is taken. It is taken by the person who has it. For seven days it is also taken by the person who had it
 * before, because they can reverse the change for so long (undo-email-change.ts).
 */
import { v7 as uuidv7 } from "uuid";
import type { Executor, Trx } from "../../db/transaction.ts";
import { enqueue } from "../../queue/outbox.ts";
import { keepTrialOf } from "../billing/trials.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailTemplate } from "../notifications/templates.ts";
import type { AuthDeps } from "./callers.ts";
import * as links from "./link-queries.ts";
import type { MadeLink } from "./person-links.ts";
import { linkInvalid } from "./person-links.ts";
import * as queries from "./queries.ts";

export interface Claim {
  person: queries.Person;
  /** The link that gives the address back to the person; null if they have it now. */
  undo: MadeLink | null;
}

/** Returns undefined if the address is free. */
export async function findClaim(executor: Executor, email: string): Promise<Claim | undefined> {
  const person = await queries.findPersonByEmail(executor, email);
  // We search in every case, so that a known address takes as long as an unknown one.
  const undo = await links.findUndo(executor, email, new Date());
  if (person) return { person, undo: null };
  const holder = undo?.user_id && (await queries.findPerson(executor, undo.user_id));
  return holder ? { person: holder, undo: { id: undo.id, expiresAt: undo.expires_at } } : undefined;
}

/** Mails a person at their earlier address how to get it back. */
export async function mailUndo(
  trx: Trx,
  deps: AuthDeps,
  { person, email, undo }: { person: queries.Person; email: string; undo: MadeLink },
  template: "email-change-notice" | "email-changed",
): Promise<void> {
  // The same link may be mailed several times, so each mail has a key of its own.
  const mail = { key: `${template}:${uuidv7()}`, userId: person.id, recipient: email, language: person.language };
  const parameters = { linkId: undo.id, expiresAt: undo.expiresAt.toISOString() };
  await queueMail(trx, { ...mail, template, parameters }, deps.clock.now());
}

/**
 * Called when somebody wants an account for an address that is taken. Mails the owner `template`, or how to get the address back if it
 * belonged to their account until recently.
 */
export async function mailClaimant(
  trx: Trx,
  deps: AuthDeps,
  { person, undo, email }: Claim & { email: string },
  template: Extract<MailTemplate, "account-exists" | "email-change-taken">,
): Promise<void> {
  if (undo) return mailUndo(trx, deps, { person, email, undo }, "email-changed");
  const mail = { key: `${template}:${uuidv7()}`, userId: person.id, recipient: email, language: person.language };
  await queueMail(trx, { ...mail, template, parameters: {} }, deps.clock.now());
}

/**
 * Replaces the person's address. Ends the waiting sign-ups of the old and the new address. The caller has locked the person. Throws
 * `link_invalid` if the address is taken by somebody else.
 */
export async function giveAddress(trx: Trx, deps: AuthDeps, person: queries.Person, email: string): Promise<void> {
  // Always in the same order, so that two people who swap addresses don't wait for each other for ever.
  const both = [person.email, email].toSorted();
  for (const address of both) await queries.lockAddress(trx, address);
  const claim = await findClaim(trx, email);
  if (claim && claim.person.id !== person.id) throw linkInvalid();
  for (const address of both) {
    const waiting = await queries.lockWaitingSignUps(trx, address);
    const signUpIds = waiting.map(({ id }) => id);
    if (signUpIds.length > 0) await queries.endSignUps(trx, signUpIds);
  }
  await queries.setEmail(trx, person.id, email, deps.clock.now());
  await keepTrialOf(trx, deps, person.id, email);
  await enqueue(trx, "update-customer", { userId: person.id });
}
