/**
 * Signing up. Anybody can sign up with anybody's address, so an address belongs to nobody until a link mailed to it was opened. A sign-up is
 * therefore a row of its own, with its own password and links. There may be several for one address, and no person exists before one of the
 * links is opened (confirmation.ts).
 */
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { checkEmail, mailboxKey } from "#domain/rules.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { hashToken } from "../../http/secret-keys.ts";
import { countAttempts, counted } from "../attempts/service.ts";
import { linkToken } from "../notifications/links.ts";
import { queueMail } from "../notifications/service.ts";
import { countTeamMail } from "../team/limits.ts";
import type { Clerk } from "../team/service.ts";
import { findClaim, mailClaimant } from "./addresses.ts";
import { inEvenTime, mailKeys, mayMail } from "./asked-mails.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { assertRules, normalizeEmail } from "./callers.ts";
import * as links from "./link-queries.ts";
import { checkNewPassword } from "./password-rules.ts";
import { hashSignUpPassword } from "./passwords.ts";
import * as queries from "./queries.ts";

const confirmationMs = dayMs;

interface WaitingSignUp {
  id: string;
  email: string;
  language: string;
}

async function mailConfirmation(trx: Trx, deps: AuthDeps, signUp: WaitingSignUp): Promise<void> {
  const linkId = uuidv7();
  const wallNow = new Date();
  await links.insertLink(trx, {
    id: linkId,
    sign_up_id: signUp.id,
    user_id: null,
    purpose: "confirm",
    token_hash: hashToken(linkToken(deps.config, linkId)),
    expires_at: addMilliseconds(wallNow, confirmationMs),
    used_at: null,
    created_at: wallNow,
  });
  const mail = { key: `confirm:${linkId}`, userId: null, recipient: signUp.email, language: signUp.language };
  await queueMail(trx, { ...mail, template: "confirm-email", parameters: { linkId } }, deps.clock.now());
}

/** Writes the sign-up and mails its link or, if the address has an account, says so by mail. */
async function begin(trx: Trx, deps: AuthDeps, signUp: WaitingSignUp & { passwordHash: string }, caller: Caller): Promise<void> {
  const owner = await findClaim(trx, signUp.email);
  await queries.insertSignUp(trx, {
    id: signUp.id,
    // A taken address gets no second account. The row still exists, so that signing in does not reveal this (sign-in.ts).
    email: owner ? null : signUp.email,
    password_hash: signUp.passwordHash,
    language: signUp.language,
    created_at: deps.clock.now(),
  });
  if (!(await mayMail(trx, signUp.email, caller))) return;
  const { email } = signUp;
  await (owner ? mailClaimant(trx, deps, { ...owner, email }, "account-exists") : mailConfirmation(trx, deps, signUp));
}

/** Throws `sign_ups_closed` while an admin has closed them. Sign-ups that wait for their link to be opened go on. */
export function refuseWhileClosed({ settings }: Pick<AuthDeps, "settings">): void {
  if (!settings.current.signUps) throw new DomainError("sign_ups_closed", "No new accounts are made at the moment. Try again later");
}

/**
 * Begins an account for a new address. The response and the work are the same for every address; only the mail says whether it is taken.
 * Returns the sign-up's id, which the browser keeps. Throws `validation_failed` with the specification's messages (spec §5),
 * `sign_ups_closed`, `too_many_attempts` and `sign_in_busy` with retryAfterSeconds.
 */
export async function signUp(
  deps: AuthDeps,
  input: { email: string; password: string; language: string | undefined },
  caller: Caller,
): Promise<string> {
  refuseWhileClosed(deps);
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email), password: checkNewPassword(input.password, email) });
  const typed = { email, password: input.password, network: caller.network };
  const passwordHash = await counted(deps.db, mailKeys(caller), () => hashSignUpPassword(deps.config, typed), deps.settings.current);
  const id = uuidv7();
  const language = matchLanguage(input.language) ?? fallbackLanguage;
  await inEvenTime(inTransaction(deps.db, (trx) => begin(trx, deps, { id, email, language, passwordHash }, caller)));
  return id;
}

async function repeatMail(trx: Trx, deps: AuthDeps, email: string, caller: Caller): Promise<void> {
  if (!(await mayMail(trx, email, caller))) return;
  const owner = await findClaim(trx, email);
  if (owner) return mailClaimant(trx, deps, { ...owner, email }, "account-exists");
  const waiting = await queries.selectWaitingSignUps(trx, email, addMilliseconds(deps.clock.now(), -keptMs.signUps));
  const repeated = waiting.find(({ id }) => caller.signUps.includes(id)) ?? waiting[0];
  if (repeated) await mailConfirmation(trx, deps, { ...repeated, email });
}

/**
 * Mails the link of a waiting sign-up again, or that the address has an account, or nothing; the response is always the same. If this
 * browser began a sign-up with the address it takes that one, otherwise the latest. Throws `too_many_attempts` with
 * retryAfterSeconds.
 */
export async function resendConfirmation(deps: AuthDeps, input: { email: string }, caller: Caller): Promise<void> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  await countAttempts(deps.db, mailKeys(caller), deps.settings.current);
  await inEvenTime(inTransaction(deps.db, (trx) => repeatMail(trx, deps, email, caller)));
}

/**
 * Mails the link of the newest waiting sign-up of an address again, because somebody wrote to the team that it did not come. Throws `not_found` if
 * none waits, and `too_many_attempts`.
 */
export async function resendConfirmationAs(deps: AuthDeps, clerk: Clerk, input: { email: string; reason: string }): Promise<void> {
  const email = normalizeEmail(input.email);
  await inTransaction(deps.db, async (trx) => {
    const since = addMilliseconds(deps.clock.now(), -keptMs.signUps);
    const [waiting] = (await findClaim(trx, email)) ? [] : await queries.selectWaitingSignUps(trx, email, since);
    if (!waiting) throw new DomainError("not_found", "No sign-up of this address waits for its confirmation");
    await countTeamMail(trx, clerk.userId, mailboxKey(email));
    await mailConfirmation(trx, deps, { ...waiting, email });
    const act = { actor: clerk.userId, subject: null, network: clerk.network, reason: input.reason };
    await recordAct(trx, { ...act, action: "confirmation.sent_again", details: {} });
  });
}
