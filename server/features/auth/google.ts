/**
 * Signing in with Google. An address that Google has verified can make an account, but never opens an existing one: its owner first signs
 * in with the password or passkey, and then links Google (google-link.ts).
 */
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { googleMs } from "#domain/periods.ts";
import { checkEmail } from "#domain/rules.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { GoogleAccount } from "../../providers/google.ts";
import { googleRefused } from "../../providers/google.ts";
import { openWallet } from "../credits/service.ts";
import { findClaim } from "./addresses.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { normalizeEmail } from "./callers.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import * as google from "./google-queries.ts";
import * as queries from "./queries.ts";
import { refuseWhileClosed } from "./sign-up.ts";

export function googleExpired(): DomainError {
  return new DomainError("google_expired", "This took too long, or was begun in another browser. Start again");
}

/**
 * Stores what Google said about somebody, for the one call that uses it. `userId` is the signed-in person who asked, if there is one.
 * Returns the row's id. Throws `google_unverified` if Google does not vouch for the address.
 */
export async function keepAnswer(executor: Executor, account: GoogleAccount, userId: string | null): Promise<string> {
  const email = normalizeEmail(account.email);
  if (!account.emailVerified || checkEmail(email) !== undefined)
    throw new DomainError(
      "google_unverified",
      "Google has not verified the address of this account. Verify it there, or sign in another way",
    );
  const id = uuidv7();
  const now = new Date();
  const times = { authenticated_at: account.authenticatedAt, created_at: now, expires_at: addMilliseconds(now, googleMs), used_at: null };
  await google.insertAnswer(executor, { id, subject: account.subject, email, user_id: userId, ...times });
  return id;
}

/** The answer of somebody who is signing in. Throws `google_expired`. */
async function takeAnswer(trx: Trx, id: string | undefined): Promise<google.GoogleAnswer> {
  const answer = id === undefined ? undefined : await google.lockAnswer(trx, id, new Date());
  if (answer?.user_id !== null) throw googleExpired();
  return answer;
}

/** Makes an account without a password. Ends the address's waiting sign-ups, because strangers may have begun them. */
async function join(
  trx: Trx,
  deps: AuthDeps,
  { answer, language }: { answer: google.GoogleAnswer; language: string | undefined },
  { network }: Caller,
): Promise<queries.Person> {
  const now = deps.clock.now();
  const person = await queries.insertPerson(trx, { email: answer.email, language: matchLanguage(language) ?? fallbackLanguage }, now);
  if (!(await google.insertGoogle(trx, person.id, answer, now))) throw new Error("a Google account without an owner could not be linked");
  await openWallet(trx, person.id, now);
  const act = { actor: person.id, subject: person.id, network };
  await recordAct(trx, { ...act, action: "sign_up.confirmed", details: {} });
  await recordAct(trx, { ...act, action: "google.linked", details: { by: "sign_up" } });
  return person;
}

/** Returns the person to sign in. Undefined if the address belongs to an account to which this Google account is not linked. */
async function findOrJoin(
  trx: Trx,
  deps: AuthDeps,
  given: { answer: google.GoogleAnswer; language: string | undefined },
  caller: Caller,
): Promise<queries.Person | undefined> {
  const { subject, email } = given.answer;
  await queries.lockAddress(trx, email);
  // Confirming a sign-up locks these rows first too, so only one of the two makes an account.
  const waiting = await queries.lockWaitingSignUps(trx, email);
  const ownerId = await google.findOwner(trx, subject);
  if (ownerId !== undefined) return queries.findPerson(trx, ownerId);
  if (await findClaim(trx, email)) return undefined;
  refuseWhileClosed(deps);
  const signUpIds = waiting.map(({ id }) => id);
  if (signUpIds.length > 0) await queries.endSignUps(trx, signUpIds);
  return join(trx, deps, given, caller);
}

export interface OwnWayFirst {
  email: string;
}

/**
 * Signs in the owner of the Google account, who may still have to show the second factor, or makes an account for its address. If the
 * address has an account already, returns the address: its owner has to sign in in another way, and can then link the answer. Throws
 * `google_expired`, `google_refused` and `sign_ups_closed`.
 */
export async function finishGoogle(
  deps: AuthDeps,
  { answerId, language }: { answerId: string | undefined; language: string | undefined },
  caller: Caller,
): Promise<SignInOutcome | OwnWayFirst> {
  return inTransaction(deps.db, async (trx) => {
    const answer = await takeAnswer(trx, answerId);
    const person = await findOrJoin(trx, deps, { answer, language }, caller);
    if (!person) return { email: answer.email };
    if (person.banned_at) throw googleRefused();
    await google.spendAnswer(trx, answer.id, new Date());
    return completeSignIn(trx, deps, { person, factor: "google" }, caller);
  });
}
