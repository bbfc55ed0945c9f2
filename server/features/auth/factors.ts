/** A person turns their second factor on and off, and gets recovery codes. The routes ask for a fresh factor first (steppedUpScope). */
import type { AuditDetails } from "#domain/audit.ts";
import { addMilliseconds } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { factorWaitMs } from "#domain/periods.ts";
import type { Factors, TotpSetUp } from "../../contract/auth/factors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { sealText, unsealText } from "../../http/secret-keys.ts";
import type { AuthDeps } from "./callers.ts";
import * as queries from "./factor-queries.ts";
import { cancelReset } from "./factor-reset.ts";
import { lockPerson } from "./link-queries.ts";
import type { Person } from "./queries.ts";
import { findPerson, refuseEndedSession } from "./queries.ts";
import { createRecoveryCodes, hashRecoveryCode, readRecoveryCode } from "./recovery-codes.ts";
import { secretContext, wrongCode } from "./second-factor.ts";
import { tellOfNewWay, tellOwner } from "./security-mails.ts";
import { createTotpSecret, stepOfCode, totpUri } from "./totp.ts";

interface Asker {
  userId: string;
  sessionId: string;
  network: string;
}

export async function readFactors(executor: Executor, userId: string): Promise<Factors> {
  const totp = await queries.findTotp(executor, userId);
  if (!totp) return { totp: null, recoveryCodesLeft: 0 };
  return {
    totp: { since: totp.created_at.toISOString(), lastUsedAt: totp.last_used_at?.toISOString() ?? null },
    recoveryCodesLeft: await queries.countRecoveryCodes(executor, userId),
  };
}

function alreadyOn(): DomainError {
  return new DomainError("conflict", "The second factor is on already");
}

async function personOf(executor: Executor, userId: string): Promise<Person> {
  const person = await findPerson(executor, userId);
  if (!person) throw new DomainError("unauthenticated", "Sign in to continue");
  return person;
}

/** The browser keeps the encrypted set-up until the app's first code arrives, so we store nothing for people who give up. */
const setUpContext = (userId: string) => `totp-set-up:${userId}`;

/** Throws `conflict` when the second factor is on already. */
export async function beginTotp(deps: AuthDeps, { userId }: Asker): Promise<TotpSetUp> {
  if (await queries.findTotp(deps.db, userId)) throw alreadyOn();
  const { email } = await personOf(deps.db, userId);
  const secret = createTotpSecret();
  const until = addMilliseconds(new Date(), factorWaitMs).getTime();
  const setUp = sealText(deps.config.encryptionKeys, setUpContext(userId), JSON.stringify({ secret, until }));
  return { secret, uri: totpUri(secret, email), setUp };
}

/** Throws `set_up_expired`. */
function openSetUp(deps: AuthDeps, userId: string, setUp: string): string {
  const text = unsealText(deps.config.encryptionKeys, setUpContext(userId), setUp);
  const { secret, until } = text === undefined ? { secret: "", until: 0 } : (JSON.parse(text) as { secret: string; until: number });
  if (until <= Date.now()) throw new DomainError("set_up_expired", "This took too long. Begin again");
  return secret;
}

/** Makes new recovery codes in place of all earlier ones. */
async function giveRecoveryCodes(trx: Trx, deps: AuthDeps, { userId, network }: Asker): Promise<string[]> {
  const codes = createRecoveryCodes();
  await queries.removeFactors(trx, userId, ["recovery_code"]);
  const hashes = codes.map((code) => hashRecoveryCode(userId, readRecoveryCode(code) ?? code));
  await queries.insertRecoveryCodes(trx, userId, hashes, deps.clock.now());
  const details = { codes: codes.length };
  await recordAct(trx, { actor: userId, subject: userId, network, action: "recovery_codes.created", details });
  return codes;
}

/** Turns the second factor on; from now on signing in needs it. Throws `set_up_expired`, `wrong_code`, `conflict`, `session_expired`. */
export async function confirmTotp(deps: AuthDeps, asker: Asker, input: { setUp: string; code: string }): Promise<string[]> {
  const { userId, sessionId, network } = asker;
  const secret = openSetUp(deps, userId, input.setUp);
  // The code counts as used, so that it can't be used again to sign in.
  const lastStep = stepOfCode(secret, input.code.normalize("NFKC").replace(/\s/g, ""), new Date());
  if (lastStep === null) throw wrongCode();
  const sealedSecret = sealText(deps.config.encryptionKeys, secretContext(userId), secret);
  return inTransaction(deps.db, async (trx) => {
    await lockPerson(trx, userId);
    await refuseEndedSession(trx, sessionId);
    const now = deps.clock.now();
    const id = await queries.insertTotp(trx, userId, { sealedSecret, lastStep }, now);
    if (id === undefined) throw alreadyOn();
    await recordAct(trx, { actor: userId, subject: userId, network, action: "second_factor.enabled", details: {} });
    await tellOfNewWay(trx, deps, await personOf(trx, userId), { template: "second-factor-on", key: id, addedAt: now });
    return giveRecoveryCodes(trx, deps, asker);
  });
}

/** `key` names what happened, so that its mail is sent once. */
interface Removal {
  network: string;
  key: string;
  details: AuditDetails["second_factor.disabled"];
}

/** Removes the app and the recovery codes and tells the owner by mail. The ways to sign in stay. */
export async function removeSecondFactor(trx: Trx, deps: AuthDeps, person: Person, { network, key, details }: Removal): Promise<void> {
  await queries.removeFactors(trx, person.id, ["totp", "recovery_code"]);
  await recordAct(trx, { actor: person.id, subject: person.id, network, action: "second_factor.disabled", details });
  await tellOwner(trx, deps, person, { template: "second-factor-off", key, parameters: { changedAt: deps.clock.now().toISOString() } });
}

async function lockTotp(trx: Trx, userId: string): Promise<queries.TotpRow> {
  const totp = await queries.lockTotp(trx, userId);
  if (!totp) throw new DomainError("not_found", "The second factor is off");
  return totp;
}

/** Throws `not_found` when it is off. */
export async function turnOffTotp(deps: AuthDeps, asker: Asker): Promise<void> {
  const cancelled = await inTransaction(deps.db, async (trx) => {
    const { id } = await lockTotp(trx, asker.userId);
    // Before the factor is removed, because cancelReset looks at how old it is.
    const isCancelled = await cancelReset(trx, deps, asker, "second_factor_off");
    await removeSecondFactor(trx, deps, await personOf(trx, asker.userId), { network: asker.network, key: id, details: {} });
    return isCancelled;
  });
  if (cancelled) await announce(deps, asker.userId, "factor_resets");
}

/** Throws `not_found` when the second factor is off. */
export async function renewRecoveryCodes(deps: AuthDeps, asker: Asker): Promise<string[]> {
  return inTransaction(deps.db, async (trx) => {
    await lockTotp(trx, asker.userId);
    return giveRecoveryCodes(trx, deps, asker);
  });
}
