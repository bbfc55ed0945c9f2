/** Showing a factor again within a sign-in, so that a left-open screen or a stolen access token can't do dangerous things. */
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { AttemptKey } from "./attempts.ts";
import { counted, forgetAttempts } from "./attempts.ts";
import type { AuthDeps } from "./callers.ts";
import { nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";

export interface Prover {
  userId: string;
  sessionId: string;
  network: string;
}

/**
 * Checks the password of somebody who is signed in. Throws `wrong_password`, `too_many_attempts` and `sign_in_busy` with retryAfterSeconds. It counts for the sign-in alone: nobody who
 * guesses elsewhere makes its owner wait.
 */
export async function checkOwnPassword(deps: AuthDeps, { userId, sessionId, network }: Prover, password: string): Promise<void> {
  const key: AttemptKey = `step-up:${sessionId}`;
  const person = await queries.findPerson(deps.db, userId);
  const matches = await counted(deps.db, [key], () => verifyPassword(network, person?.password_hash ?? nobodysHash, password));
  if (!matches || !person?.password_hash) throw new DomainError("wrong_password", "The password is wrong");
  await forgetAttempts(deps.db, key);
}

/** From now on the sign-in may do dangerous things for a short while. Throws what checking the factor throws, and `session_expired`. */
export async function stepUp(deps: AuthDeps, prover: Prover, input: { password: string }): Promise<void> {
  await checkOwnPassword(deps, prover, input.password);
  const { userId, sessionId, network } = prover;
  await inTransaction(deps.db, async (trx) => {
    const holds = await queries.markSessionProved(trx, sessionId, new Date());
    if (!holds) throw new DomainError("session_expired", "Your session has ended. Sign in again");
    await recordAct(trx, { actor: userId, subject: userId, action: "step_up.completed", network, details: { factor: "password" } });
  });
}
