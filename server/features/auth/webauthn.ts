/**
 * What a passkey has to sign, and the check of what it signed. Challenges are kept here, each good for one answer, and the answer has to
 * come from our origin, with the person present and verified by their device. Wall time.
 */
import { randomBytes } from "node:crypto";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { COSEALG, decodeAttestationObject, decodeClientDataJSON } from "@simplewebauthn/server/helpers";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Transport } from "#domain/passkeys.ts";
import { passkeyMs } from "#domain/periods.ts";
import type { Config } from "../../config.ts";
import type { Assertion, Registration, SignInOptions } from "../../contract/passkeys.ts";
import type { Executor } from "../../db/transaction.ts";
import type { PasskeyChallenges } from "../../db/types-accounts.ts";
import type { Deps } from "../../deps.ts";
import type { PasskeyRow } from "./passkey-queries.ts";
import { insertChallenge, spendChallenge } from "./passkey-queries.ts";

/** What is begun, and by which session. */
export type Ceremony =
  | { purpose: "sign_in"; sessionId: null }
  | { purpose: Exclude<PasskeyChallenges["purpose"], "sign_in">; sessionId: string };

type CheckDeps = Pick<Deps, "config" | "db" | "log">;

/** The signatures we accept, the one we like best first. Node checks all of them. */
export const algorithms = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

/** Throws `passkeys_unavailable` where browsers make none. */
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

/** Asks for a signature of one of these passkeys; without any, of whichever the person chooses. */
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

/** The challenge that was answered, which can't be answered again. Throws `passkey_expired`, `passkey_refused`. */
async function takeChallenge(deps: CheckDeps, clientDataJSON: string, { purpose, sessionId }: Ceremony): Promise<string> {
  const { challenge, crossOrigin } = readClientData(clientDataJSON);
  // No page of another site may ask in a frame.
  if (typeof challenge !== "string" || crossOrigin === true) throw passkeyRefused();
  const asked = { challenge: Buffer.from(challenge, "base64url"), purpose, session_id: sessionId };
  if (!(await spendChallenge(deps.db, asked, new Date()))) throw new DomainError("passkey_expired", "This took too long. Begin again");
  return challenge;
}

function readClientData(clientDataJSON: string): { challenge?: unknown; crossOrigin?: unknown } {
  try {
    return decodeClientDataJSON(clientDataJSON);
  } catch {
    throw passkeyRefused();
  }
}

/** The library throws at everything that is not as it should be, and what it throws says what is not. */
async function refusingFaults<T extends { verified: boolean }>(deps: CheckDeps, check: () => Promise<T>): Promise<T & { verified: true }> {
  const result = await check().catch((error: unknown) => {
    deps.log.info({ reason: error instanceof Error ? error.message : "unknown" }, "the answer of a passkey was refused");
    return { verified: false } as const;
  });
  if (!result.verified) throw passkeyRefused();
  return result as T & { verified: true };
}

/** What the passkey says of itself, once its signature proved to be right. */
export interface Proof {
  passkey: PasskeyRow;
  counter: number;
  backedUp: boolean;
}

/**
 * Checks the answer to `requestSignature`. `find` gives the passkey by the name its authenticator has for it. Throws `passkey_expired`
 * and `passkey_refused`. The caller compares the counter, in the transaction that notes the new one.
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
  const { authenticationInfo } = await refusingFaults(deps, () =>
    verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} },
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      // With the counter we know the library would refuse before it has looked at the signature, and anybody could cause that.
      credential: { id: assertion.id, publicKey: Uint8Array.from(passkey.public_key), counter: 0 },
    }),
  );
  return { passkey, counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
}

/**
 * Who made the authenticator does not matter to us, and browsers leave it out when they are told so. What has certificates all the same
 * is refused: the library would look up their revocation at addresses that they name.
 */
function hasCertificates({ response }: Registration): boolean {
  const attestation = decodeAttestationObject(Uint8Array.from(Buffer.from(response.attestationObject, "base64url")));
  const format = attestation.get("fmt");
  return format !== "none" && (format !== "packed" || attestation.get("attStmt").get("x5c") !== undefined);
}

/** Checks a new passkey. Throws `passkey_expired`, `passkey_refused`. */
export async function checkRegistration(deps: CheckDeps, ceremony: Ceremony, registration: Registration) {
  const { rpId, origin } = relyingPartyOf(deps.config);
  const expectedChallenge = await takeChallenge(deps, registration.response.clientDataJSON, ceremony);
  const { registrationInfo } = await refusingFaults(deps, async () => {
    if (hasCertificates(registration)) throw new Error("the attestation has certificates");
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
