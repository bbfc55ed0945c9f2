/**
 * A new password for somebody who forgot theirs. They choose it through a mailed link. In the browser that asked for the link this also signs
 * in. In any other browser the person then signs in with the new password, so that a link alone never gives a session.
 */
import { v7 as uuidv7 } from "uuid";
import { recoveryMs } from "#domain/periods.ts";
import { checkEmail } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { countAttempts } from "../attempts/service.ts";
import { queueMail } from "../notifications/service.ts";
import { findClaim, mailUndo } from "./addresses.ts";
import { inEvenTime, mailKeys, mayMail } from "./asked-mails.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { assertRules, normalizeEmail } from "./callers.ts";
import { replacePassword } from "./change-password.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { findTotp } from "./factor-queries.ts";
import * as links from "./link-queries.ts";
import { checkNewPassword } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";
import { linkInvalid, makeLink, openLink, spendLink } from "./person-links.ts";
import type * as queries from "./queries.ts";

/** `outcome` is null if another browser asked for the link. */
interface Reset {
  person: queries.Person;
  hasSecondFactor: boolean;
  outcome: SignInOutcome | null;
}

async function mailLink(trx: Trx, deps: AuthDeps, { linkId, email }: { linkId: string; email: string }, caller: Caller): Promise<void> {
  if (!(await mayMail(trx, email, caller))) return;
  const claim = await findClaim(trx, email);
  if (!claim || claim.person.banned_at) return;
  const { person, undo } = claim;
  // The address belonged to this person until recently. Somebody else may have changed it, so we mail how to reverse that.
  if (undo) return mailUndo(trx, deps, { person, email, undo }, "email-changed");
  await links.lockPerson(trx, person.id);
  await links.deleteUnusedLinks(trx, person.id, "recover");
  await makeLink(trx, deps, { id: linkId, userId: person.id, purpose: "recover", lifeMs: recoveryMs });
  const mail = { key: `recover:${linkId}`, userId: person.id, recipient: person.email, language: person.language };
  await queueMail(trx, { ...mail, template: "password-reset", parameters: { linkId } }, deps.clock.now());
}

/**
 * Mails the person with this address a link for choosing a new password; earlier links stop working. The response is the same for every
 * address, after the same time. Returns an id for the browser to keep, even if no link was mailed. Throws `validation_failed`,
 * and `too_many_attempts` with retryAfterSeconds.
 */
export async function requestRecovery(deps: AuthDeps, input: { email: string }, caller: Caller): Promise<string> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  await countAttempts(deps.db, mailKeys(caller), deps.settings.current);
  const linkId = uuidv7();
  await inEvenTime(inTransaction(deps.db, (trx) => mailLink(trx, deps, { linkId, email }, caller)));
  return linkId;
}

const open = (deps: AuthDeps, token: string, { network }: Caller) => openLink(deps, { token, purpose: "recover", network });

/** Returns whose password the link changes. Throws `link_invalid`, and `too_many_attempts` with retryAfterSeconds. */
export async function lookAtRecovery(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<{ email: string }> {
  const { email } = await open(deps, input.token, caller);
  return { email };
}

async function applyLink(
  trx: Trx,
  deps: AuthDeps,
  { link, passwordHash }: { link: links.PersonLink; passwordHash: string },
  caller: Caller,
): Promise<Reset> {
  await links.lockPerson(trx, link.user_id);
  await spendLink(trx, link.id);
  const change = { passwordHash, proof: "mailed_link", key: link.id, network: caller.network } as const;
  const person = await replacePassword(trx, deps, link.user_id, change);
  if (!person) throw linkInvalid();
  const hasSecondFactor = (await findTotp(trx, person.id)) !== undefined;
  const signsIn = caller.recoveries.includes(link.id);
  return {
    person,
    hasSecondFactor,
    outcome: signsIn ? await completeSignIn(trx, deps, { person, factor: "recovery_link" }, caller) : null,
  };
}

/**
 * Sets the new password of a mailed link's person, ends all of their sessions and tells them by mail. Signs in only in the browser that asked
 * for the link, and only after the second factor, if the person has one (complete-sign-in.ts). Throws `validation_failed`, `sign_in_busy` with
 * retryAfterSeconds, and what lookAtRecovery throws.
 */
export async function resetPassword(deps: AuthDeps, input: { token: string; password: string }, caller: Caller): Promise<Reset> {
  const link = await open(deps, input.token, caller);
  assertRules({ password: checkNewPassword(input.password, link.email) });
  const passwordHash = await hashPassword(caller.network, input.password);
  const result = await inTransaction(deps.db, (trx) => applyLink(trx, deps, { link, passwordHash }, caller));
  await announce(deps, link.user_id, "session");
  return result;
}
