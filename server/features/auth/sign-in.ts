/** Signing in with a password. */
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { checkEmail } from "#domain/rules.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { Counts, fewAtOnce } from "../../http/counts.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { counted, forgetAttempts, giveBackAttempts, limitName, networkKeys } from "../attempts/service.ts";
import { readDevice } from "./browser.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import { assertRules, invalidCredentials, normalizeEmail } from "./callers.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { hashPassword, isOutdated, nobodysHash, signUpPasswordHashes, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";

/** The keys under which an attempt is counted: a key of the browser's own if it has signed in to the account before, otherwise shared ones. */
function guessKeys(email: string, deviceId: string | undefined, network: string): { own: AttemptKey; shared: AttemptKey[] } {
  if (deviceId !== undefined) return { own: `device:${deviceId}`, shared: [] };
  return { own: `guess:${email} ${network}`, shared: [...networkKeys("address", network), `email:${email}`] };
}

const strangers = new Counts();
/**
 * How many unknown browsers may try the password of one account at once. Hundreds of them would each wait for the account's row in
 * auth_attempts and hold a database connection meanwhile, so that none would be left for anybody else.
 */
const strangersAtOnce = 4;

type Check = "right" | "of a sign-up" | "wrong";

/**
 * Compares the password with the person's. If this browser has not signed in to the account before, also compares it with those of the
 * address's sign-ups. So in an unknown browser a wrong password takes two hashes, whether or not the address is known.
 */
async function checkPassword(
  deps: AuthDeps,
  { person, isKnownDevice }: { person: queries.Person | undefined; isKnownDevice: boolean },
  typed: { email: string; password: string; network: string },
): Promise<Check> {
  const matches = await verifyPassword(typed.network, person?.password_hash ?? nobodysHash, typed.password);
  if (matches && person && !person.banned_at) return "right";
  if (isKnownDevice) return "wrong";
  const passwordHashes = await signUpPasswordHashes(deps.config, typed);
  const since = addMilliseconds(deps.clock.now(), -keptMs.signUps);
  return (await queries.hasSignUp(deps.db, passwordHashes, since)) ? "of a sign-up" : "wrong";
}

/** Hashes the right password again if its hash has old parameters. Returns undefined if too many people sign in; the next sign-in does it then. */
async function hashAgain(person: queries.Person, typed: { password: string; network: string }): Promise<string | undefined> {
  if (person.password_hash === null || !isOutdated(person.password_hash)) return undefined;
  return hashPassword(typed.network, typed.password).catch((error: unknown) => {
    if (error instanceof DomainError) return undefined;
    throw error;
  });
}

/** Stores the newer hash and returns the person with it. Changes nothing if the person has changed the password meanwhile. */
async function keepHash(trx: Trx, person: queries.Person, newer: string | undefined): Promise<queries.Person> {
  if (newer === undefined || person.password_hash === null) return person;
  const replaced = await queries.replaceHash(trx, person.id, { from: person.password_hash, to: newer });
  return replaced ? { ...person, password_hash: newer } : person;
}

/**
 * The attempts of a browser that has signed in to the account before are counted for that browser, so strangers' guesses can't lock it out.
 * Throws `invalid_credentials` for an unknown address and a wrong password alike, and `too_many_attempts`, `rate_limited` and
 * `sign_in_busy` with retryAfterSeconds. Throws `email_not_confirmed` for the password of a sign-up with this address. That reveals nothing
 * about the address: it is the same if somebody has the address, disowned the sign-up or confirmed another one.
 */
export async function signIn(deps: AuthDeps, input: { email: string; password: string }, caller: Caller): Promise<SignInOutcome> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  const person = await queries.findPersonByEmail(deps.db, email);
  const deviceId = person && readDevice(deps.config, caller.devices, person, new Date());
  const { own, shared } = guessKeys(email, deviceId, caller.network);
  const typed = { email, password: input.password, network: caller.network };
  const guess = () =>
    counted(deps.db, [own, ...shared], async (blocked) => ({
      check: await checkPassword(deps, { person, isKnownDevice: deviceId !== undefined }, typed),
      limits: blocked.map(limitName),
    }));
  const { check, limits } = await (deviceId === undefined ? fewAtOnce(strangers, email, strangersAtOnce, guess) : guess());
  if (check === "of a sign-up") {
    // This attempt was not a guess, so we don't count it. It was not a sign-in either, so earlier guesses still count.
    await giveBackAttempts(deps.db, [own, ...shared]);
    throw new DomainError("email_not_confirmed", "Confirm your email address first. We can send the link again");
  }
  if (check === "wrong" || !person) {
    // We write it for an unknown address too. Otherwise the response time would reveal whether the address is known.
    const event = { actor: null, subject: person?.id ?? null, network: caller.network };
    if (limits.length > 0) await recordAct(deps.db, { ...event, action: "sign_in.blocked", details: { limits } });
    throw invalidCredentials();
  }
  // The right password resets the browser's own count. From the shared counts we take back only this attempt.
  await forgetAttempts(deps.db, own);
  await giveBackAttempts(deps.db, shared);
  const newerHash = await hashAgain(person, typed);
  return inTransaction(deps.db, async (trx) => {
    await queries.markPasswordUsed(trx, person.id, deps.clock.now());
    const current = await keepHash(trx, person, newerHash);
    return completeSignIn(trx, deps, { person: current, factor: "password" }, caller);
  });
}
