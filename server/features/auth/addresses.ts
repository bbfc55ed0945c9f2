/**
 * Whose an address is. Besides the person who has it, that is for seven days somebody who had it before: a change of address can be
 * reversed for so long (undo-email-change.ts), and until then nobody else gets the earlier address.
 */
import { v7 as uuidv7 } from "uuid";
import type { Executor, Trx } from "../../db/transaction.ts";
import { enqueue } from "../../queue/outbox.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailTemplate } from "../notifications/templates.ts";
import type { AuthDeps } from "./callers.ts";
import * as links from "./link-queries.ts";
import type { MadeLink } from "./person-links.ts";
import { linkInvalid } from "./person-links.ts";
import * as queries from "./queries.ts";

export interface Claim {
  person: queries.Person;
  /** With what the person can have the address back; null if they have it. */
  undo: MadeLink | null;
}

/** Undefined for an address that is free. */
export async function findClaim(executor: Executor, email: string): Promise<Claim | undefined> {
  const person = await queries.findPersonByEmail(executor, email);
  // Looked for in every case, so that a known address costs what an unknown one does.
  const undo = await links.findUndo(executor, email, new Date());
  if (person) return { person, undo: null };
  const holder = undo?.user_id && (await queries.findPerson(executor, undo.user_id));
  return holder ? { person: holder, undo: { id: undo.id, expiresAt: undo.expires_at } } : undefined;
}

/** Tells the earlier address of a person how to get it back. */
export async function mailUndo(
  trx: Trx,
  deps: AuthDeps,
  { person, email, undo }: { person: queries.Person; email: string; undo: MadeLink },
  template: "email-change-notice" | "email-changed",
): Promise<void> {
  // One link may be mailed again and again.
  const mail = { key: `${template}:${uuidv7()}`, userId: person.id, recipient: email, language: person.language };
  const parameters = { linkId: undo.id, expiresAt: undo.expiresAt.toISOString() };
  await queueMail(trx, { ...mail, template, parameters }, deps.clock.now());
}

/**
 * Tells an address that somebody wanted for an account that it has one, in the words of `template`; or, if it had one until lately, how
 * to have it back.
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
 * Gives the person this address instead of theirs. Sign-ups that wait with either of the two end. The caller has locked the person.
 * Throws `link_invalid` if the address is somebody else's.
 */
export async function giveAddress(trx: Trx, deps: AuthDeps, person: queries.Person, email: string): Promise<void> {
  // In one order for everybody, so that two people who swap addresses don't wait for each other.
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
  await enqueue(trx, "update-customer", { userId: person.id });
}
