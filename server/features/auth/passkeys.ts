/** A person's passkeys: listed, added, named and removed. The routes ask for a fresh factor before one is added or removed (steppedUpScope). */
import { DomainError } from "#domain/errors.ts";
import { transports } from "#domain/passkeys.ts";
import { passkeyMs } from "#domain/periods.ts";
import { codePoints, limits, readPersonName } from "#domain/rules.ts";
import type { Passkey, Registration, RegistrationOptions } from "../../contract/auth/passkeys.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { ValidationError } from "../../http/problem.ts";
import { encodeUuid } from "../../http/secret-keys.ts";
import type { AuthDeps } from "./callers.ts";
import { lockPerson } from "./link-queries.ts";
import type { PasskeyRow } from "./passkey-queries.ts";
import * as queries from "./passkey-queries.ts";
import { findPerson, refuseEndedSession } from "./queries.ts";
import { tellOfNewWay, tellOwner } from "./security-mails.ts";
import type { Prover } from "./step-up.ts";
import { refuseLastWay } from "./ways-in.ts";
import { algorithms, checkRegistration, createChallenge, descriptorOf, relyingPartyOf } from "./webauthn.ts";

function placeOf({ device_type, transports }: PasskeyRow): Passkey["place"] {
  if (device_type === "multiDevice") return "synced";
  return transports.length > 0 && !transports.includes("internal") && !transports.includes("hybrid") ? "security_key" : "device";
}

function present(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    credentialId: row.credential_id.toString("base64url"),
    name: row.name,
    place: placeOf(row),
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

export async function listPasskeys(executor: Executor, userId: string): Promise<Passkey[]> {
  return (await queries.selectPasskeys(executor, userId)).map(present);
}

function assertFewer(passkeys: readonly PasskeyRow[]): void {
  if (passkeys.length >= limits.passkeysMax)
    throw new DomainError("too_many_passkeys", "There are as many passkeys as an account can have. Remove one first");
}

/** Returns the name on one line, by the same rules as a person's name. Throws `validation_failed`. */
function readName(text: string): string {
  const name = readPersonName(text);
  const fault = name === null ? "Name cannot be empty" : codePoints(name) > limits.passkeyNameMax ? "Name is too long" : undefined;
  if (name === null || fault !== undefined) throw new ValidationError([{ field: "name", message: fault ?? "" }]);
  return name;
}

/** Returns the options with which the browser makes a passkey. Throws `too_many_passkeys`, `passkeys_unavailable`. */
export async function beginPasskey(deps: AuthDeps, { userId, sessionId }: Prover): Promise<RegistrationOptions> {
  const { rpId } = relyingPartyOf(deps.config);
  const passkeys = await queries.selectPasskeys(deps.db, userId);
  assertFewer(passkeys);
  const person = await findPerson(deps.db, userId);
  if (!person) throw new DomainError("unauthenticated", "Sign in to continue");
  return {
    rp: { id: rpId, name: "Tessera" },
    // The id is random, and every answer of the passkey contains it. The browser shows the name when it asks which passkey to use.
    user: { id: encodeUuid(userId), name: person.email, displayName: person.name ?? person.email },
    challenge: await createChallenge(deps.db, { purpose: "registration", sessionId }),
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: "public-key" })),
    timeout: passkeyMs,
    excludeCredentials: passkeys.map(descriptorOf),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
  };
}

/** Throws `validation_failed`, `passkey_expired`, `passkey_refused`, `passkey_exists`, `too_many_passkeys`, `session_expired`. */
export async function addPasskey(
  deps: AuthDeps,
  { userId, sessionId, network }: Prover,
  input: { registration: Registration; name: string },
): Promise<Passkey> {
  const name = readName(input.name);
  const { credential, ...made } = await checkRegistration(deps, { purpose: "registration", sessionId }, input.registration);
  return inTransaction(deps.db, async (trx) => {
    // Two calls at once run one after the other, so that they can't exceed the limit.
    await lockPerson(trx, userId);
    await refuseEndedSession(trx, sessionId);
    assertFewer(await queries.selectPasskeys(trx, userId));
    const now = deps.clock.now();
    const row = await queries.insertPasskey(trx, {
      user_id: userId,
      credential_id: Buffer.from(credential.id, "base64url"),
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: transports.filter((transport) => credential.transports?.includes(transport)),
      device_type: made.credentialDeviceType,
      backed_up: made.credentialBackedUp,
      name,
      created_at: now,
      last_used_at: null,
    });
    if (!row) throw new DomainError("passkey_exists", "This passkey is there already");
    await recordAct(trx, { actor: userId, subject: userId, network, action: "passkey.added", details: {} });
    const person = await findPerson(trx, userId);
    if (person) await tellOfNewWay(trx, deps, person, { template: "passkey-added", key: row.id, addedAt: now });
    return present(row);
  });
}

function noSuchPasskey(): DomainError {
  return new DomainError("not_found", "There is no such passkey");
}

/** Throws `not_found`, `validation_failed`. */
export async function renamePasskey(executor: Executor, userId: string, id: string, text: string): Promise<Passkey> {
  const row = await queries.renamePasskey(executor, userId, id, readName(text));
  if (!row) throw noSuchPasskey();
  return present(row);
}

/** Throws `not_found`, `last_way_in`. */
export async function removePasskey(deps: AuthDeps, { userId, network }: Prover, id: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    if (!(await queries.selectPasskeys(trx, userId)).some((passkey) => passkey.id === id)) throw noSuchPasskey();
    await refuseLastWay(trx, userId);
    if (!(await queries.removePasskey(trx, userId, id))) throw noSuchPasskey();
    await recordAct(trx, { actor: userId, subject: userId, network, action: "passkey.removed", details: {} });
    const person = await findPerson(trx, userId);
    const parameters = { changedAt: deps.clock.now().toISOString() };
    if (person) await tellOwner(trx, deps, person, { template: "passkey-removed", key: id, parameters });
  });
}
