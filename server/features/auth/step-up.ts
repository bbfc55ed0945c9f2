/** A signed-in person shows a factor again before a dangerous act, so that a screen left open or a stolen access token is not enough for it. */
import type { AuditDetails } from "#domain/audit.ts";
import { DomainError } from "#domain/errors.ts";
import type { ProofOf, StepUpProof, StepUpWay } from "../../contract/account/step-up.ts";
import type { Assertion, SignInOptions } from "../../contract/auth/passkeys.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { countAttempts, counted, forgetAttempts } from "../attempts/service.ts";
import type { AuthDeps } from "./callers.ts";
import { findTotp } from "./factor-queries.ts";
import { findGoogle } from "./google-queries.ts";
import { spendFreshAnswer } from "./google-step-up.ts";
import { lockPerson } from "./link-queries.ts";
import { findPasskey, selectPasskeys } from "./passkey-queries.ts";
import { acceptProof } from "./passkey-sign-in.ts";
import { nobodysHash, verifyPassword } from "./passwords.ts";
import * as queries from "./queries.ts";
import { spendCode, wrongCode } from "./second-factor.ts";
import { checkAssertion, passkeyRefused, requestSignature } from "./webauthn.ts";

export interface Prover {
  userId: string;
  sessionId: string;
  network: string;
  /** The answer that Google gave in this browser (google-cookies.ts). */
  googleAnswerId?: string | undefined;
}

/**
 * Checks the password of somebody who is signed in. Throws `wrong_password`, `too_many_attempts` and `sign_in_busy` with
 * retryAfterSeconds. The attempts are counted for this session only, so guesses elsewhere never make its owner wait.
 */
export async function checkOwnPassword(deps: AuthDeps, { userId, sessionId, network }: Prover, password: string): Promise<void> {
  const key: AttemptKey = `step-up:${sessionId}`;
  const person = await queries.findPerson(deps.db, userId);
  const matches = await counted(deps.db, [key], () => verifyPassword(network, person?.password_hash ?? nobodysHash, password));
  if (!matches || !person?.password_hash) throw new DomainError("wrong_password", "The password is wrong");
  await forgetAttempts(deps.db, key);
}

type Factor = AuditDetails["step_up.completed"]["factor"];

async function markProved(trx: Trx, { userId, sessionId, network }: Prover, factor: Factor): Promise<void> {
  const holds = await queries.markSessionProved(trx, sessionId, new Date());
  if (!holds) throw new DomainError("session_expired", "Your session has ended. Sign in again");
  await recordAct(trx, { actor: userId, subject: userId, action: "step_up.completed", network, details: { factor } });
}

/** Throws what checkOwnPassword throws, and `session_expired`. */
async function proveByPassword(deps: AuthDeps, prover: Prover, password: string): Promise<void> {
  await checkOwnPassword(deps, prover, password);
  await inTransaction(deps.db, (trx) => markProved(trx, prover, "password"));
}

/** Counts attempts like checkOwnPassword. Throws `wrong_code`, `too_many_attempts`, `session_expired`. */
async function proveByCode(deps: AuthDeps, prover: Prover, code: string): Promise<void> {
  const key: AttemptKey = `step-up:${prover.sessionId}`;
  const proved = await counted(deps.db, [key], () =>
    inTransaction(deps.db, async (trx) => {
      const person = await queries.findPerson(trx, prover.userId);
      const spent = person ? await spendCode(trx, deps, { person, network: prover.network }, code) : null;
      if (spent !== null) await markProved(trx, prover, spent.factor);
      return spent;
    }),
  );
  if (proved === null) throw wrongCode();
  await forgetAttempts(deps.db, key);
  if (proved.cancelledReset) await announce(deps, prover.userId, "factor_resets");
}

/** Throws what spendFreshAnswer throws, and `session_expired`. */
async function proveByGoogle(deps: AuthDeps, prover: Prover): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await spendFreshAnswer(trx, prover.userId, prover.googleAnswerId);
    await markProved(trx, prover, "google");
  });
}

/** Asks for the signature of one of the person's own passkeys. Throws `passkeys_unavailable`. */
export async function beginPasskeyStepUp(deps: AuthDeps, { userId, sessionId }: Omit<Prover, "network">): Promise<SignInOptions> {
  return requestSignature(deps, { purpose: "step_up", sessionId }, await selectPasskeys(deps.db, userId));
}

/** Counts attempts like checkOwnPassword. Throws `passkey_expired`, `passkey_refused`, `too_many_attempts`, `session_expired`. */
async function proveByPasskey(deps: AuthDeps, prover: Prover, assertion: Assertion): Promise<void> {
  const { userId, sessionId, network } = prover;
  const key: AttemptKey = `step-up:${sessionId}`;
  await countAttempts(deps.db, [key]);
  const proof = await checkAssertion(deps, { purpose: "step_up", sessionId }, assertion, async (credentialId) => {
    const passkey = await findPasskey(deps.db, credentialId);
    return passkey?.user_id === userId ? passkey : undefined;
  });
  const isProved = await inTransaction(deps.db, async (trx) => {
    await lockPerson(trx, userId);
    if (!(await acceptProof(trx, deps, proof, network))) return false;
    await markProved(trx, prover, "passkey");
    return true;
  });
  if (!isProved) throw passkeyRefused();
  await forgetAttempts(deps.db, key);
}

interface Way<Proof> {
  /** Whether the person can show a factor this way. */
  has(deps: Pick<AuthDeps, "config" | "db">, userId: string): Promise<boolean>;
  /** Checks what the browser sent, and marks the sign-in as proved. */
  prove(deps: AuthDeps, prover: Prover, proof: Proof): Promise<void>;
}

/** In the order in which they are offered. */
const ways: { [Name in StepUpWay]: Way<ProofOf<Name>> } = {
  passkey: { has: async ({ db }, userId) => (await selectPasskeys(db, userId)).length > 0, prove: proveByPasskey },
  password: {
    has: async ({ db }, userId) => (await queries.findPerson(db, userId))?.password_hash != null,
    prove: proveByPassword,
  },
  code: { has: async ({ db }, userId) => (await findTotp(db, userId)) !== undefined, prove: proveByCode },
  google: {
    has: async ({ config, db }, userId) => config.google !== undefined && (await findGoogle(db, userId)) !== undefined,
    prove: proveByGoogle,
  },
};

export async function readStepUpWays(deps: Pick<AuthDeps, "config" | "db">, userId: string): Promise<StepUpWay[]> {
  const offered = await Promise.all(Object.values(ways).map(({ has }) => has(deps, userId)));
  return (Object.keys(ways) as StepUpWay[]).filter((_, index) => offered[index]);
}

/** Checks the factor. For a short while after that the session may do dangerous acts. Throws what the check throws, and `session_expired`. */
export async function stepUp(deps: AuthDeps, prover: Prover, proof: StepUpProof): Promise<void> {
  const [name, value] = Object.entries(proof)[0] as [StepUpWay, never];
  await ways[name].prove(deps, prover, value);
}
