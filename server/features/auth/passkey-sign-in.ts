/** Signing in with a passkey. */
import type { Assertion, SignInOptions } from "../../contract/auth/passkeys.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { encodeUuid } from "../../http/secret-keys.ts";
import { countAttempts, giveBackAttempts, networkKeys } from "../attempts/service.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { lockPerson } from "./link-queries.ts";
import { findPasskey, notePasskeyUse } from "./passkey-queries.ts";
import { findPerson } from "./queries.ts";
import type { Proof } from "./webauthn.ts";
import { checkAssertion, passkeyRefused, requestSignature } from "./webauthn.ts";

/** Throws `too_many_attempts` with retryAfterSeconds, `passkeys_unavailable`. */
export async function beginPasskeySignIn(deps: AuthDeps, { network }: Pick<Caller, "network">): Promise<SignInOptions> {
  await countAttempts(deps.db, networkKeys("passkey-challenge", network));
  return requestSignature(deps, { purpose: "sign_in", sessionId: null });
}

/** Returns false if the passkey was removed, or if it may have been copied, which we record. The caller has locked the person. */
export async function acceptProof(trx: Trx, deps: AuthDeps, { passkey, counter, backedUp }: Proof, network: string): Promise<boolean> {
  const use = await notePasskeyUse(trx, { id: passkey.id, counter, backedUp }, deps.clock.now());
  if (use === "counter_went_back")
    await recordAct(trx, { actor: null, subject: passkey.user_id, network, action: "passkey.refused", details: { reason: use } });
  return use === "used";
}

/**
 * Signs in without a password or a code, so the limits for guesses at these don't apply. Throws `passkey_expired`, `passkey_refused`,
 * `too_many_attempts` with retryAfterSeconds, and what completeSignIn throws.
 */
export async function signInByPasskey(deps: AuthDeps, assertion: Assertion, caller: Caller): Promise<SignInOutcome> {
  const { network } = caller;
  const keys = networkKeys("passkey", network);
  await countAttempts(deps.db, keys);
  const proof = await checkAssertion(deps, { purpose: "sign_in", sessionId: null }, assertion, (id) => findPasskey(deps.db, id));
  // We asked for a passkey without naming an account, so the answer has to name its person (WebAuthn §7.2, step 6).
  if (assertion.response.userHandle !== encodeUuid(proof.passkey.user_id)) throw passkeyRefused();
  const outcome = await inTransaction(deps.db, async (trx) => {
    await lockPerson(trx, proof.passkey.user_id);
    const person = await findPerson(trx, proof.passkey.user_id);
    if (!person || person.banned_at || !(await acceptProof(trx, deps, proof, network))) return undefined;
    return completeSignIn(trx, deps, { person, factor: "passkey" }, caller);
  });
  if (!outcome) throw passkeyRefused();
  await giveBackAttempts(deps.db, keys);
  return outcome;
}
