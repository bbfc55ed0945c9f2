/**
 * Opens the mailed link of a sign-up. The sign-up becomes an account, with the password chosen there, only in the browser that signed up or
 * with that password. Owning the mailbox is not enough: if a stranger signed up with the address, its owner would adopt the stranger's
 * password with one click.
 */
import { DomainError } from "#domain/errors.ts";
import type { MailedLink } from "../../contract/auth/sign-in.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { counted, giveBackAttempts, networkKeys } from "../attempts/service.ts";
import { openWallet } from "../credits/service.ts";
import { linkTokenHashes, readLinkToken } from "../notifications/links.ts";
import { findClaim } from "./addresses.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { invalidCredentials } from "./callers.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import * as links from "./link-queries.ts";
import { nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";

type FoundLink = NonNullable<Awaited<ReturnType<typeof links.findConfirmationLink>>>;

/** A link whose sign-up still waits to be confirmed. */
interface WaitingLink {
  id: string;
  signUpId: string;
  email: string;
  passwordHash: string | null;
}

function linkInvalid(): DomainError {
  return new DomainError("link_invalid", "This link is no longer valid. Sign in, or sign up again");
}

/** Throws `link_invalid` if the token is not that of a confirmation link. */
async function findLink(executor: Executor, deps: AuthDeps, token: string): Promise<FoundLink> {
  const linkId = readLinkToken(deps.config, token);
  if (linkId === undefined) throw linkInvalid();
  const link = await links.findConfirmationLink(executor, linkTokenHashes(deps.config, linkId));
  if (!link) throw linkInvalid();
  return link;
}

function waitingOf(link: FoundLink): WaitingLink | undefined {
  const { id, sign_up_id: signUpId, sign_up_email: email, password_hash: passwordHash } = link;
  if (signUpId === null || email === null || link.expires_at <= new Date()) return undefined;
  return { id, signUpId, email, passwordHash };
}

/** Throws `link_invalid` if the link's sign-up does not wait to be confirmed any more. */
async function findWaitingLink(executor: Executor, deps: AuthDeps, token: string): Promise<WaitingLink> {
  const waiting = waitingOf(await findLink(executor, deps, token));
  if (!waiting) throw linkInvalid();
  return waiting;
}

/** Throws `link_invalid`. */
export async function lookAtLink(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<MailedLink> {
  const link = await findLink(deps.db, deps, input.token);
  if (link.person_email !== null && !link.banned_at) return { email: link.person_email, state: "used" };
  const waiting = waitingOf(link);
  if (!waiting) throw linkInvalid();
  return { email: waiting.email, state: caller.signUps.includes(waiting.signUpId) ? "here" : "password" };
}

/** Throws `invalid_credentials`, `too_many_attempts` and `sign_in_busy` with retryAfterSeconds. */
async function checkSignUpPassword(deps: AuthDeps, link: WaitingLink, password: string, { network }: Caller): Promise<void> {
  const keys: AttemptKey[] = [`sign-up:${link.signUpId}`, ...networkKeys("address", network)];
  const matches = await counted(deps.db, keys, () => verifyPassword(network, link.passwordHash ?? nobodysHash, password));
  if (!matches) throw invalidCredentials();
  await giveBackAttempts(deps.db, keys);
}

/** Turns the sign-up into a person and ends the address's other sign-ups. Throws `link_invalid` if another one was confirmed first. */
async function claimAddress(trx: Trx, deps: AuthDeps, link: WaitingLink): Promise<queries.Person> {
  await queries.lockAddress(trx, link.email);
  const waiting = await queries.lockWaitingSignUps(trx, link.email);
  const own = waiting.find(({ id }) => id === link.signUpId);
  if (!own?.password_hash) throw linkInvalid();
  if (await findClaim(trx, link.email)) throw linkInvalid();
  const now = deps.clock.now();
  const person = await queries.insertPerson(trx, { ...own, email: link.email }, now);
  await queries.insertPassword(trx, person.id, own.password_hash, now);
  const signUpIds = waiting.map(({ id }) => id);
  const spent = await links.spendLinks(trx, { signUpIds, userId: person.id, linkId: link.id }, new Date());
  if (!spent) throw linkInvalid();
  await queries.endSignUps(trx, signUpIds);
  await queries.forgetSignUpPassword(trx, own.id);
  await openWallet(trx, person.id, now);
  return { ...person, password_hash: own.password_hash };
}

/**
 * Opens the mailed link: confirms the address, makes the account with the sign-up's password and signs in. In the browser that signed up
 * the link is enough. Any other browser has to send the password chosen at the sign-up too. Throws
 * `link_invalid`, `confirmation_password_needed`, and with a password what checking it throws.
 */
export async function confirmEmail(deps: AuthDeps, input: { token: string; password?: string }, caller: Caller): Promise<SignInOutcome> {
  const link = await findWaitingLink(deps.db, deps, input.token);
  if (!caller.signUps.includes(link.signUpId)) {
    if (input.password === undefined)
      throw new DomainError("confirmation_password_needed", "Enter the password you chose when you signed up");
    await checkSignUpPassword(deps, link, input.password, caller);
  }
  return inTransaction(deps.db, async (trx) => {
    const person = await claimAddress(trx, deps, link);
    const { id } = person;
    await recordAct(trx, { actor: id, subject: id, action: "sign_up.confirmed", network: caller.network, details: {} });
    return completeSignIn(trx, deps, { person, factor: "confirmation_link" }, caller);
  });
}

/**
 * The mailbox's owner says that they did not sign up. Removes the address from the sign-up and ends its links. Whoever signed up does not
 * notice: signing in with the sign-up's password responds as before (sign-in.ts). Throws `link_invalid`.
 */
export async function disownSignUp(deps: AuthDeps, input: { token: string }): Promise<void> {
  const link = await findWaitingLink(deps.db, deps, input.token);
  await inTransaction(deps.db, async (trx) => {
    await queries.endSignUps(trx, [link.signUpId]);
    await links.deleteLinks(trx, link.signUpId);
  });
}
