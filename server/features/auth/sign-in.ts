/** Signing in with a password. */
import { DomainError } from "#domain/errors.ts";
import { checkEmail } from "#domain/rules.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { AttemptKey } from "./attempts.ts";
import { counted, forgetAttempts, giveBackAttempts, networkKeys } from "./attempts.ts";
import { readDevice } from "./browser.ts";
import type { AuthDeps, Caller } from "./credentials.ts";
import { assertRules, invalidCredentials, normalizeEmail, roleOf } from "./credentials.ts";
import { nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";
import type { SignIn } from "./sessions.ts";
import { openSession } from "./sessions.ts";

/** Under what a try counts: under the browser's own key where it has signed in before, else under those strangers share. */
function guessKeys(email: string, deviceId: string | undefined, network: string): { own: AttemptKey; shared: AttemptKey[] } {
  if (deviceId !== undefined) return { own: `device:${deviceId}`, shared: [] };
  return { own: `guess:${email} ${network}`, shared: [...networkKeys("address", network), `email:${email}`] };
}

/**
 * A browser that signed in to the account before counts for itself: strangers who guess elsewhere can't lock it out. Throws
 * `invalid_credentials` for an unknown address, an unconfirmed one and a wrong password alike, `too_many_attempts` and
 * `sign_in_busy` with retryAfterSeconds. `email_not_confirmed` is for the browser that signed up with this address, and the
 * password it chose then: whether the address was somebody's already makes no difference to the answer, nor to the work.
 */
export async function signIn(deps: AuthDeps, input: { email: string; password: string }, caller: Caller): Promise<SignIn> {
  const email = normalizeEmail(input.email);
  assertRules({ email: checkEmail(email) });
  const found = await queries.findCredentials(deps.db, email, caller.signUps, new Date());
  const deviceId = found && readDevice(deps.config, caller.devices, found, new Date());
  const { own, shared } = guessKeys(email, deviceId, caller.network);
  const verify = (passwordHash: string) => verifyPassword(caller.network, passwordHash, input.password);
  const { matches, begunHere } = await counted(deps.db, [own, ...shared], async () => ({
    matches: await verify(found?.password_hash ?? nobodysHash),
    begunHere: found?.sign_up_password_hash ? await verify(found.sign_up_password_hash) : false,
  }));
  if (!found || !matches || found.banned_at) {
    if (!begunHere) throw invalidCredentials();
    // No guess, and no right one either: what was guessed before still counts.
    await giveBackAttempts(deps.db, [own, ...shared]);
    throw new DomainError("email_not_confirmed", "Confirm your email address first. We can send the link again");
  }
  // The right password ends the count of who gave it, and is taken out of those that others share.
  await forgetAttempts(deps.db, own);
  await giveBackAttempts(deps.db, shared);
  return inTransaction(deps.db, async (trx) => {
    const user = await queries.updateUser(trx, found.id, { last_sign_in_at: deps.clock.now(), role: roleOf(deps, found) });
    return openSession(trx, deps, user, caller.userAgent);
  });
}
