/**
 * Makes the challenges that a passkey signs, and checks the signatures. Each challenge is stored and valid for one answer. The answer has to
 * come from our origin, and the device must have verified that the person is present. Wall time.
 */
import { randomBytes } from "node:crypto";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Transport } from "#domain/passkeys.ts";
import { passkeyMs } from "#domain/periods.ts";
import type { Config } from "../../config.ts";
import type { Assertion, Registration, SignInOptions } from "../../contract/auth/passkeys.ts";
import type { Executor } from "../../db/transaction.ts";
import type { PasskeyChallenges } from "../../db/types-accounts.ts";
import type { Deps } from "../../deps.ts";
import type { PasskeyRow } from "./passkey-queries.ts";
import { insertChallenge, spendChallenge } from "./passkey-queries.ts";

/** What the passkey is used for, and the session that began it. */
export type Ceremony =
  | { purpose: "sign_in"; sessionId: null }
  | { purpose: Exclude<PasskeyChallenges["purpose"], "sign_in">; sessionId: string };

type CheckDeps = Pick<Deps, "config" | "db" | "log">;

/** COSE's numbers for EdDSA, ES256 and RS256 (IANA): what we accept, the preferred one first. Node can check all of them. */
export const algorithms = [-8, -7, -257];

/** The two hundred files of the library are loaded for the first passkey: a process starts without them. */
const library = () => import("@simplewebauthn/server");
const libraryHelpers = () => import("@simplewebauthn/server/helpers");

/** Throws `passkeys_unavailable` if browsers make no passkeys for this installation's address. */
export function relyingPartyOf({ passkeys }: Pick<Config, "passkeys">): { rpId: string; origin: string } {
  if (!passkeys) throw new DomainError("passkeys_unavailable", "Passkeys need https, and a host name in place of a number");
  return passkeys;
}

export function passkeyRefused(): DomainError {
  return new DomainError("passkey_refused", "This passkey does not sign in here");
}

export async function createChallenge(executor: Executor, { purpose, sessionId }: Ceremony): Promise<string> {
  const challenge = randomBytes(32);
  const expiresAt = addMilliseconds(new Date(), passkeyMs);
  await insertChallenge(executor, { challenge, purpose, session_id: sessionId, expires_at: expiresAt, used_at: null });
  return challenge.toString("base64url");
}

/** Asks for a signature of one of these passkeys. If none are given, the person may choose any passkey. */
export async function requestSignature(
  deps: Pick<Deps, "config" | "db">,
  ceremony: Ceremony,
  passkeys?: readonly PasskeyRow[],
): Promise<SignInOptions> {
  const { rpId } = relyingPartyOf(deps.config);
  const challenge = await createChallenge(deps.db, ceremony);
  const allowed = passkeys && { allowCredentials: passkeys.map(descriptorOf) };
  return { challenge, rpId, timeout: passkeyMs, userVerification: "required", ...allowed };
}

export function descriptorOf({ credential_id, transports }: PasskeyRow): { id: string; type: "public-key"; transports: Transport[] } {
  return { id: credential_id.toString("base64url"), type: "public-key", transports };
}

/** Returns the challenge that was answered and uses it up. Throws `passkey_expired`, `passkey_refused`. */
async function takeChallenge(deps: CheckDeps, clientDataJSON: string, { purpose, sessionId }: Ceremony): Promise<string> {
  const { challenge, crossOrigin } = await readClientData(clientDataJSON);
  // Refuses answers from a frame in another site's page.
  if (typeof challenge !== "string" || crossOrigin === true) throw passkeyRefused();
  const asked = { challenge: Buffer.from(challenge, "base64url"), purpose, session_id: sessionId };
  if (!(await spendChallenge(deps.db, asked, new Date()))) throw new DomainError("passkey_expired", "This took too long. Begin again");
  return challenge;
}

async function readClientData(clientDataJSON: string): Promise<{ challenge?: unknown; crossOrigin?: unknown }> {
  const { decodeClientDataJSON } = await libraryHelpers();
  try {
    return decodeClientDataJSON(clientDataJSON);
  } catch {
    throw passkeyRefused();
  }
}

/** Turns every error of the library, which throws for anything that is wrong, into `passkey_refused`. The log has the reason. */
async function refusingFaults<T extends { verified: boolean }>(deps: CheckDeps, check: () => Promise<T>): Promise<T & { verified: true }> {
  const result = await check().catch((error: unknown) => {
    deps.log.info({ reason: error instanceof Error ? error.message : "unknown" }, "the answer of a passkey was refused");
    return { verified: false } as const;
  });
  if (!result.verified) throw passkeyRefused();
  return result as T & { verified: true };
}

/** What a passkey with a valid signature says about itself. */
export interface Proof {
  passkey: PasskeyRow;
  counter: number;
  backedUp: boolean;
}

/**
 * Checks the answer to `requestSignature`. `find` finds the passkey by the authenticator's id for it. Throws `passkey_expired` and
 * `passkey_refused`. The caller compares the counter, in the transaction that stores the new one.
 */
export async function checkAssertion(
  deps: CheckDeps,
  ceremony: Ceremony,
  assertion: Assertion,
  find: (credentialId: Buffer) => Promise<PasskeyRow | undefined>,
): Promise<Proof> {
  const { rpId, origin } = relyingPartyOf(deps.config);
  const expectedChallenge = await takeChallenge(deps, assertion.response.clientDataJSON, ceremony);
  const passkey = await find(Buffer.from(assertion.id, "base64url"));
  if (!passkey) throw passkeyRefused();
  const { verifyAuthenticationResponse } = await library();
  const { authenticationInfo } = await refusingFaults(deps, () =>
    verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} },
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // We pass 0, because the library compares the counter before it checks the signature: anybody could cause a refusal with a forged one.
      credential: { id: assertion.id, publicKey: Uint8Array.from(passkey.public_key), counter: 0 },
    }),
  );
  return { passkey, counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
}

/**
 * We don't need to know who made an authenticator, and browsers leave its certificates out if we say so. An answer that has certificates
 * anyway is refused, because the library would check their revocation at addresses named in them.
 */
async function hasCertificates({ response }: Registration): Promise<boolean> {
  const { decodeAttestationObject } = await libraryHelpers();
  const attestation = decodeAttestationObject(Uint8Array.from(Buffer.from(response.attestationObject, "base64url")));
  const format = attestation.get("fmt");
  return format !== "none" && (format !== "packed" || attestation.get("attStmt").get("x5c") !== undefined);
}

/** Checks a new passkey. Throws `passkey_expired`, `passkey_refused`. */
export async function checkRegistration(deps: CheckDeps, ceremony: Ceremony, registration: Registration) {
  const { rpId, origin } = relyingPartyOf(deps.config);
  const expectedChallenge = await takeChallenge(deps, registration.response.clientDataJSON, ceremony);
  const { verifyRegistrationResponse } = await library();
  const { registrationInfo } = await refusingFaults(deps, async () => {
    if (await hasCertificates(registration)) throw new Error("the attestation has certificates");
    return verifyRegistrationResponse({
      response: { ...registration, clientExtensionResults: {} },
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
  });
  return registrationInfo;
}
