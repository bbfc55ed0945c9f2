/**
 * Accounts begin here. Nobody owns an address before they have opened a link mailed to it, so somebody else may have signed
 * up with it first, or may do so at any moment. A password therefore rests with its own sign-up's links and becomes the
 * account's only when one of them is opened, by somebody who shows that the sign-up was theirs: by the browser that began it
 * or by its password. To own the mailbox alone is not enough, or a stranger's password would be adopted with one click.
 * An account without a password is one nobody has claimed yet.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Selectable } from "kysely";
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { checkEmail, checkPassword, mailboxKey } from "#domain/rules.ts";
import type { MailedLink } from "../../contract/auth.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { EmailLinks, UserRow } from "../../db/types-accounts.ts";
import { clientSite } from "../../http/client-network.ts";
import { hashToken } from "../../http/secret-keys.ts";
import { ensureWallet } from "../credits/service.ts";
import { linkToken, readLinkToken } from "../notifications/links.ts";
import { queueMail } from "../notifications/service.ts";
import type { AttemptKey } from "./attempts.ts";
import { countAttempts, counted, giveBackAttempts, networkKeys, takeAttempt } from "./attempts.ts";
import type { AuthDeps, Caller } from "./credentials.ts";
import { assertRules, invalidCredentials, normalizeEmail, roleOf } from "./credentials.ts";
import { hashPassword, nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";
import type { SignIn } from "./sessions.ts";
import { openSession } from "./sessions.ts";

const confirmationMs = dayMs;

/** Far above what writing takes, so that an answer's time does not tell how much there was to write. */
const evenAnswerMs = 60;

async function inEvenTime(work: Promise<void>): Promise<void> {
  await Promise.all([work, delay(evenAnswerMs)]);
}

interface SignUp {
  id: string;
  passwordHash: string | null;
}

function linkOf(user: UserRow, signUp: SignUp, id: string, wallNow: Date) {
  const expiresAt = addMilliseconds(wallNow, confirmationMs);
  const ofSignUp = { password_hash: signUp.passwordHash, sign_up_id: signUp.id };
  return { id, user_id: user.id, purpose: "confirm", ...ofSignUp, expires_at: expiresAt, created_at: wallNow } as const;
}

async function mailConfirmation(trx: Trx, deps: AuthDeps, user: UserRow, signUp: SignUp): Promise<void> {
  const linkId = uuidv7();
  const link = linkOf(user, signUp, linkId, new Date());
  await queries.insertLink(trx, { ...link, token_hash: hashToken(linkToken(deps.config, linkId)), used_at: null });
  const mail = { key: `confirm:${linkId}`, userId: user.id, recipient: user.email, language: user.language };
  await queueMail(trx, { ...mail, template: "confirm-email", parameters: { linkId } }, deps.clock.now());
}

/** Under what asking for a mail counts, before anything is done for it. */
function mailKeys({ network }: Caller): AttemptKey[] {
  return [...networkKeys("mail-address", network), "mails:all"];
}

/**
 * A mailbox that had its mails gets no more for a while, and nobody is told: the answer says nothing about an address. What one
 * network asks for is refused before it takes from what there is for all, so that its owner still gets one elsewhere.
 */
async function mayMail(trx: Trx, email: string, { network }: Caller): Promise<boolean> {
  const mailbox = mailboxKey(email);
  const ofNetwork = await takeAttempt(trx, `mail:${clientSite(network) ?? network} ${mailbox}`, new Date());
  return ofNetwork === null && (await takeAttempt(trx, `mailbox:${mailbox}`, new Date())) === null;
}

interface Claim {
  email: string;
  language: LanguageCode;
  signUp: SignUp;
}

/** Mails what the address's state calls for: a link that carries the password, or the news that there is an account. */
async function claim(trx: Trx, deps: AuthDeps, { email, language, signUp }: Claim, caller: Caller): Promise<void> {
  if (!(await mayMail(trx, email, caller))) return;
  const user = await queries.lockOrInsertUser(trx, {
    email,
    mailbox_key: mailboxKey(email),
    email_verified_at: null,
    password_hash: null,
    language,
    avatar_url: null,
    banned_at: null,
    stripe_customer_id: null,
    created_at: deps.clock.now(),
    last_sign_in_at: null,
  });
  if (user.password_hash === null) {
    await mailConfirmation(trx, deps, await queries.updateUser(trx, user.id, { language }), signUp);
  } else {
    // What the browser is told that signs in with this password must not tell a taken address from a free one (sign-in.ts). No
    // token fits this link.
    const wallNow = new Date();
    await queries.insertLink(trx, { ...linkOf(user, signUp, uuidv7(), wallNow), token_hash: randomBytes(32), used_at: wallNow });
    const mail = { key: `account-exists:${uuidv7()}`, userId: user.id, recipient: email, language: user.language };
    await queueMail(trx, { ...mail, template: "account-exists", parameters: {} }, deps.clock.now());
  }
}

/**
 * Creates the account of a new address; every address is answered alike and costs the same work, the rest is said in the
 * mail. Returns the sign-up's id, for the browser to keep. Throws `validation_failed` with the specification's messages
 * (spec §5), `too_many_attempts` and `sign_in_busy` with retryAfterSeconds.
 */
export async function signUp(
  deps: AuthDeps,
  input: { email: string; password: string; language: string | undefined },
  caller: Caller,
): Promise<string> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email), password: checkPassword(input.password) });
  const passwordHash = await counted(deps.db, mailKeys(caller), () => hashPassword(caller.network, input.password));
  const begun = { id: uuidv7(), passwordHash };
  const language = matchLanguage(input.language) ?? fallbackLanguage;
  await inEvenTime(inTransaction(deps.db, (trx) => claim(trx, deps, { email, language, signUp: begun }, caller)));
  return begun.id;
}

async function repeatConfirmation(trx: Trx, deps: AuthDeps, email: string, caller: Caller): Promise<void> {
  if (!(await mayMail(trx, email, caller))) return;
  const user = await queries.findUserByEmail(trx, email);
  if (!user || user.password_hash !== null) return;
  const waiting = await queries.selectPendingSignUps(trx, user.id, new Date());
  const repeated = waiting.find((link) => caller.signUps.includes(link.sign_up_id)) ?? waiting[0];
  if (repeated) await mailConfirmation(trx, deps, user, { id: repeated.sign_up_id, passwordHash: repeated.password_hash });
}

/**
 * Mails the link of a waiting sign-up again, or nothing; the answer is the same. This browser's own sign-up where it began
 * one, else the latest: whose that is shows when the link is opened. Throws `too_many_attempts` with retryAfterSeconds.
 */
export async function resendConfirmation(deps: AuthDeps, input: { email: string }, caller: Caller): Promise<void> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  await countAttempts(deps.db, mailKeys(caller));
  await inEvenTime(inTransaction(deps.db, (trx) => repeatConfirmation(trx, deps, email, caller)));
}

type ConfirmationLink = Selectable<EmailLinks>;

function linkInvalid(): DomainError {
  return new DomainError("link_invalid", "This link is no longer valid. Sign in, or sign up again");
}

/** Throws `link_invalid` for a token that names no confirmation link of ours. */
async function findConfirmationLink(executor: Executor, deps: AuthDeps, token: string): Promise<ConfirmationLink> {
  if (readLinkToken(deps.config, token) === undefined) throw linkInvalid();
  const link = await queries.findLink(executor, hashToken(token));
  if (link?.purpose !== "confirm") throw linkInvalid();
  return link;
}

function isWaiting(link: ConfirmationLink): boolean {
  return link.used_at === null && link.expires_at > new Date();
}

/** Throws `link_invalid`. */
export async function lookAtLink(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<MailedLink> {
  const link = await findConfirmationLink(deps.db, deps, input.token);
  const user = await queries.findUser(deps.db, link.user_id);
  if (!user || user.banned_at || (link.used_at === null && !isWaiting(link))) throw linkInvalid();
  const state = link.used_at !== null ? "used" : caller.signUps.includes(link.sign_up_id) ? "here" : "password";
  return { email: user.email, state };
}

/** Throws `invalid_credentials`, `too_many_attempts` and `sign_in_busy` with retryAfterSeconds. */
async function checkSignUpPassword(deps: AuthDeps, link: ConfirmationLink, password: string, { network }: Caller): Promise<void> {
  const passwordHash = link.password_hash ?? nobodysHash;
  const keys: AttemptKey[] = [`sign-up:${link.sign_up_id}`, ...networkKeys("address", network)];
  if (!(await counted(deps.db, keys, () => verifyPassword(network, passwordHash, password)))) throw invalidCredentials();
  await giveBackAttempts(deps.db, keys);
}

/**
 * Opens the mailed link: confirms the address, takes the sign-up's password over and signs in. In the browser that signed up
 * the link is enough; anywhere else the password chosen there has to come with it, before anything is confirmed. Throws
 * `link_invalid`, `confirmation_password_needed`, and with a password what checking it throws.
 */
export async function confirmEmail(deps: AuthDeps, input: { token: string; password?: string }, caller: Caller): Promise<SignIn> {
  const link = await findConfirmationLink(deps.db, deps, input.token);
  if (!isWaiting(link)) throw linkInvalid();
  if (!caller.signUps.includes(link.sign_up_id)) {
    if (input.password === undefined)
      throw new DomainError("confirmation_password_needed", "Enter the password you chose when you signed up");
    await checkSignUpPassword(deps, link, input.password, caller);
  }
  return inTransaction(deps.db, async (trx) => {
    // The person first, then the links: two links opened at once take turns.
    const user = await queries.lockUser(trx, link.user_id);
    if (!user || user.banned_at || !(await queries.spendLinks(trx, user.id, link.id, new Date()))) throw linkInvalid();
    const now = deps.clock.now();
    const confirmed = await queries.updateUser(trx, user.id, {
      email_verified_at: user.email_verified_at ?? now,
      password_hash: user.password_hash ?? link.password_hash,
      role: roleOf(deps, user),
      last_sign_in_at: now,
    });
    await ensureWallet(trx, user.id, now);
    return openSession(trx, deps, confirmed, caller.userAgent);
  });
}

/** The owner of the mailbox never signed up: the sign-up, its password and its links are gone. Throws `link_invalid`. */
export async function disownSignUp(deps: AuthDeps, input: { token: string }): Promise<void> {
  const link = await findConfirmationLink(deps.db, deps, input.token);
  if (!isWaiting(link)) throw linkInvalid();
  await queries.deletePendingSignUp(deps.db, { userId: link.user_id, signUpId: link.sign_up_id });
}
