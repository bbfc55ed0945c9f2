/** Changes the password of a signed-in person who knows the old one. */
import { v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { AuthDeps } from "./callers.ts";
import { assertRules } from "./callers.ts";
import * as links from "./link-queries.ts";
import { checkNewPassword } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";
import * as queries from "./queries.ts";
import { tellOwner } from "./security-mails.ts";
import type { Prover } from "./step-up.ts";
import { checkOwnPassword } from "./step-up.ts";

interface Change {
  passwordHash: string;
  proof: "mailed_link" | "current_password";
  /** Names the change, so that its mail is sent only once. */
  key: string;
  network: string;
  /** The session to keep. The others end, because the person may be changing the password to get somebody else out. */
  exceptSessionId?: string;
}

/** Writes the new password, ends the person's sessions and links, and tells them by mail. The caller has locked the person. */
export async function replacePassword(trx: Trx, deps: AuthDeps, userId: string, change: Change): Promise<queries.Person | undefined> {
  const { passwordHash, proof, key, network, exceptSessionId } = change;
  const wallNow = new Date();
  await queries.setPassword(trx, userId, passwordHash, deps.clock.now());
  await queries.revokeSessionsOf(trx, userId, exceptSessionId === undefined ? {} : { except: exceptSessionId }, wallNow);
  // The one who asked for another address may not know the new password, so that link ends too.
  for (const purpose of ["recover", "change-email"] as const) await links.deleteUnusedLinks(trx, userId, purpose);
  await recordAct(trx, { actor: userId, subject: userId, action: "password.changed", network, details: { proof } });
  const person = await queries.findPerson(trx, userId);
  if (!person) return undefined;
  await tellOwner(trx, deps, person, { template: "password-changed", key, parameters: { changedAt: wallNow.toISOString() } });
  return person;
}

/**
 * Sets the new password and ends all of the person's sessions but this one. Throws `validation_failed` before it checks the current
 * password, and what that check throws (step-up.ts). Returns the person with the new password, so that their browser stays known.
 */
export async function changeOwnPassword(
  deps: AuthDeps,
  prover: Prover,
  input: { currentPassword: string; password: string },
): Promise<queries.Person | undefined> {
  const { userId, sessionId, network } = prover;
  const before = await queries.findPerson(deps.db, userId);
  assertRules({ password: checkNewPassword(input.password, before?.email ?? "") });
  await checkOwnPassword(deps, prover, input.currentPassword);
  const passwordHash = await hashPassword(network, input.password);
  const person = await inTransaction(deps.db, async (trx) => {
    await links.lockPerson(trx, userId);
    // A mailed link may have replaced the password after it was checked.
    const current = await queries.findPerson(trx, userId);
    if (current?.password_hash !== before?.password_hash) throw new DomainError("wrong_password", "The password is wrong");
    const change = { passwordHash, proof: "current_password", key: uuidv7(), network, exceptSessionId: sessionId } as const;
    return replacePassword(trx, deps, userId, change);
  });
  await announce(deps, userId, "session");
  return person;
}
