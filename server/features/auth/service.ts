/**
 * Accounts. Nobody owns an address before they have opened a link mailed to it, so somebody else may have signed up with it
 * first, or may do so at any moment. A password therefore rests with its own sign-up's link and becomes the account's only
 * when that link is opened. Replacing the password at each sign-up instead would let the last to sign up, not the one who
 * confirms, choose it. An account without a password is one nobody has claimed yet.
 */

import { setTimeout as delay } from "node:timers/promises";
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { checkEmail, checkPassword, mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { UserRow } from "../../db/types-accounts.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { hashToken } from "../../http/secret-keys.ts";
import { ensureWallet } from "../credits/service.ts";
import { linkToken, readLinkToken } from "../notifications/links.ts";
import { queueMail } from "../notifications/service.ts";
import { addressKey, forgetAttempts, secondsBlocked, takeAttempt, tooManyAttempts } from "./attempts.ts";
import { hashPassword, nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";
import type { SignIn } from "./sessions.ts";
import { openSession } from "./sessions.ts";

const confirmationMs = dayMs;

/** Where a call comes from. */
export interface Caller {
  ip: string;
  userAgent: string | undefined;
}

type AuthDeps = Pick<Deps, "config" | "db" | "clock" | "live" | "log">;

function normalizeEmail(text: string): string {
  return text.trim().normalize("NFC").toLowerCase();
}

function assertRules(faults: Record<string, string | undefined>): void {
  const fields = Object.entries(faults).flatMap(([field, message]) => (message === undefined ? [] : [{ field, message }]));
  if (fields.length > 0) throw new ValidationError(fields);
}

/** Far above what writing takes, so that an answer's time does not tell how much there was to write. */
const evenAnswerMs = 60;

async function inEvenTime(work: Promise<void>): Promise<void> {
  await Promise.all([work, delay(evenAnswerMs)]);
}

async function mailConfirmation(trx: Trx, deps: AuthDeps, user: UserRow, passwordHash: string | null): Promise<void> {
  const wallNow = new Date();
  const linkId = uuidv7();
  await queries.insertLink(trx, {
    id: linkId,
    user_id: user.id,
    purpose: "confirm",
    token_hash: hashToken(linkToken(deps.config, linkId)),
    password_hash: passwordHash,
    expires_at: addMilliseconds(wallNow, confirmationMs),
    used_at: null,
    created_at: wallNow,
  });
  const mail = { key: `confirm:${linkId}`, userId: user.id, recipient: user.email, language: user.language };
  await queueMail(trx, { ...mail, template: "confirm-email", parameters: { linkId } }, deps.clock.now());
}

interface Claim {
  email: string;
  language: LanguageCode;
  passwordHash: string;
}

/** Mails what the address's state calls for: a link that carries the password, or the news that there is an account. */
async function claim(trx: Trx, deps: AuthDeps, { email, language, passwordHash }: Claim): Promise<void> {
  if ((await takeAttempt(trx, `mail:${mailboxKey(email)}`, new Date())) !== null) return;
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
    await mailConfirmation(trx, deps, await queries.updateUser(trx, user.id, { language }), passwordHash);
  } else {
    const mail = { key: `account-exists:${uuidv7()}`, userId: user.id, recipient: email, language: user.language };
    await queueMail(trx, { ...mail, template: "account-exists", parameters: {} }, deps.clock.now());
  }
}

/**
 * Creates the account of a new address; every address is answered alike and costs the same work, the rest is said in the
 * mail. Throws `validation_failed` with the specification's messages (spec §5).
 */
export async function signUp(deps: AuthDeps, input: { email: string; password: string; language: string | undefined }): Promise<void> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email), password: checkPassword(input.password) });
  const waiting = await queries.findCredentials(deps.db, email, new Date());
  const samePassword = await verifyPassword(waiting?.pending_password_hash ?? nobodysHash, input.password);
  const freshHash = await hashPassword(input.password);
  // Signing up twice with one password is one claim, not two (see resendConfirmation).
  const passwordHash = samePassword && waiting?.pending_password_hash ? waiting.pending_password_hash : freshHash;
  const language = matchLanguage(input.language) ?? fallbackLanguage;
  await inEvenTime(inTransaction(deps.db, (trx) => claim(trx, deps, { email, language, passwordHash })));
}

async function repeatConfirmation(trx: Trx, deps: AuthDeps, email: string): Promise<void> {
  if ((await takeAttempt(trx, `mail:${mailboxKey(email)}`, new Date())) !== null) return;
  const user = await queries.findUserByEmail(trx, email);
  if (!user || user.password_hash !== null || user.email_verified_at) return;
  const waiting = await queries.selectPendingPasswords(trx, user.id, new Date());
  await mailConfirmation(trx, deps, user, waiting.length === 1 ? (waiting[0] ?? null) : null);
}

/**
 * Mails another confirmation link, or nothing; the answer is the same. It carries the password that waits for confirmation.
 * Where sign-ups with different passwords wait, nobody can tell whose asks for the mail, so that link sets none: it proves
 * the mailbox, and signing up again then sets a password the same way.
 */
export async function resendConfirmation(deps: AuthDeps, input: { email: string }): Promise<void> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  await inEvenTime(inTransaction(deps.db, (trx) => repeatConfirmation(trx, deps, email)));
}

/** ADMIN_EMAILS names the first admins; it counts only for an address its owner has proved. */
function roleOf(deps: AuthDeps, user: UserRow): UserRow["role"] {
  return deps.config.adminEmails.includes(user.email) ? "admin" : user.role;
}

/** Opens the mailed link: confirms the address, takes the link's password over and signs in. Throws `link_invalid`. */
export async function confirmEmail(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<SignIn> {
  const refusal = new DomainError("link_invalid", "This link is no longer valid. Ask for a new one");
  if (readLinkToken(deps.config, input.token) === undefined) throw refusal;
  return inTransaction(deps.db, async (trx) => {
    const wallNow = new Date();
    const link = await queries.findLink(trx, hashToken(input.token));
    // The person first, then the links: two links opened at once take turns.
    const user = link && (await queries.lockUser(trx, link.user_id));
    if (!link || !user || link.purpose !== "confirm" || link.expires_at <= wallNow || user.banned_at) throw refusal;
    if (!(await queries.useUpLinks(trx, user.id, link.id, wallNow))) throw refusal;
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

/**
 * Throws `invalid_credentials` for an unknown address and for a wrong password alike, `email_not_confirmed` only to somebody
 * who knows the password, `too_many_attempts` with retryAfterSeconds.
 */
export async function signIn(deps: AuthDeps, input: { email: string; password: string }, caller: Caller): Promise<SignIn> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  const address = addressKey(caller.ip);
  // The account's attempt is counted before the password is checked, so that parallel guesses are counted too.
  const waitSeconds = (await secondsBlocked(deps.db, address, new Date())) ?? (await takeAttempt(deps.db, `email:${email}`, new Date()));
  if (waitSeconds !== null) throw tooManyAttempts(waitSeconds);
  const found = await queries.findCredentials(deps.db, email, new Date());
  const passwordHash = found?.password_hash ?? found?.pending_password_hash;
  const matches = await verifyPassword(passwordHash ?? nobodysHash, input.password);
  if (!found || !passwordHash || !matches || found.banned_at) {
    await takeAttempt(deps.db, address, new Date());
    throw new DomainError("invalid_credentials", "The email or password is wrong");
  }
  await forgetAttempts(deps.db, `email:${email}`);
  if (found.password_hash === null || !found.email_verified_at)
    throw new DomainError("email_not_confirmed", "Confirm your email address first. We can send the link again");
  return inTransaction(deps.db, async (trx) => {
    const user = await queries.updateUser(trx, found.id, { last_sign_in_at: deps.clock.now(), role: roleOf(deps, found) });
    return openSession(trx, deps, user, caller.userAgent);
  });
}
