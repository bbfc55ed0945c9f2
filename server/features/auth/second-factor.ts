/** Checks a second factor: a code of the authenticator app or a recovery code. Each code works once. */
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { sealText, unsealText } from "../../http/secret-keys.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { counted, forgetAttempts, giveBackAttempts, limitName, networkKeys } from "../attempts/service.ts";
import { readDevice } from "./browser.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import type { Finished } from "./complete-sign-in.ts";
import { finishSignIn } from "./complete-sign-in.ts";
import type { SecondFactor } from "./factor-queries.ts";
import * as factors from "./factor-queries.ts";
import { cancelReset } from "./factor-reset.ts";
import { findPending, lockPending, shownIn, spendPending } from "./pending-sign-ins.ts";
import type { Person } from "./queries.ts";
import { hashRecoveryCode, readRecoveryCode } from "./recovery-codes.ts";
import { tellOwner } from "./security-mails.ts";
import { stepOfCode } from "./totp.ts";

export function wrongCode(): DomainError {
  return new DomainError("wrong_code", "The code is wrong or was used before");
}

/** The person's id is part of a secret's encryption, so a row copied to another person can't be decrypted. */
export const secretContext = (userId: string): string => `totp:${userId}`;

/** Encrypts the secret again each time, so that a new ENCRYPTION_KEY comes into use with the next code. */
async function spendTotp(trx: Trx, deps: AuthDeps, userId: string, code: string): Promise<boolean> {
  const totp = await factors.findTotp(trx, userId);
  if (!totp) return false;
  const { encryptionKeys } = deps.config;
  const secret = unsealText(encryptionKeys, secretContext(userId), totp.data.sealedSecret);
  if (secret === undefined) throw new Error("no ENCRYPTION_KEY opens the secret of an authenticator app");
  const lastStep = stepOfCode(secret, code, new Date());
  if (lastStep === null) return false;
  const sealedSecret = sealText(encryptionKeys, secretContext(userId), secret);
  return factors.spendTotpStep(trx, totp.id, { sealedSecret, lastStep }, deps.clock.now());
}

async function spendRecoveryCode(trx: Trx, deps: AuthDeps, person: Person, code: string, network: string): Promise<boolean> {
  const now = deps.clock.now();
  const id = await factors.spendRecoveryCode(trx, person.id, hashRecoveryCode(person.id, code), now);
  if (id === undefined) return false;
  const left = await factors.countRecoveryCodes(trx, person.id);
  const about = { actor: person.id, subject: person.id, network };
  await recordAct(trx, { ...about, action: "recovery_code.used", details: { left } });
  await tellOwner(trx, deps, person, { template: "recovery-code-used", key: id, parameters: { changedAt: now.toISOString(), left } });
  return true;
}

export interface SpentCode {
  factor: SecondFactor;
  /** True if this code ended a request to remove the factor, because the person still has it. The caller announces that after the commit. */
  cancelledReset: boolean;
}

/** Uses the code up. Returns null and changes nothing if it is wrong. The caller counts the attempts. */
export async function spendCode(
  trx: Trx,
  deps: AuthDeps,
  { person, network }: { person: Person; network: string },
  typed: string,
): Promise<SpentCode | null> {
  const code = typed.normalize("NFKC").replace(/\s/g, "");
  const isOfApp = /^\d{6}$/.test(code);
  const recoveryCode = isOfApp ? undefined : readRecoveryCode(code);
  const spent = isOfApp
    ? await spendTotp(trx, deps, person.id, code)
    : recoveryCode !== undefined && (await spendRecoveryCode(trx, deps, person, recoveryCode, network));
  if (!spent) return null;
  const cancelledReset = await cancelReset(trx, deps, { userId: person.id, network }, "code");
  return { factor: isOfApp ? "totp" : "recovery_code", cancelledReset };
}

/** We count the attempts of a browser that has signed in before for that browser only, as for passwords (sign-in.ts). */
function guessKeys(deps: AuthDeps, person: Person, caller: Caller): { own: AttemptKey; shared: AttemptKey[] } {
  const deviceId = readDevice(deps.config, caller.devices, person, new Date());
  if (deviceId !== undefined) return { own: `factor-device:${deviceId}`, shared: [] };
  const shared: AttemptKey[] = [...networkKeys("address", caller.network), `factor-account:${person.id}`];
  return { own: `factor:${person.id} ${caller.network}`, shared };
}

/**
 * Completes a sign-in that waits for its second factor. Throws `sign_in_expired`, `wrong_code`, and `too_many_attempts` with
 * retryAfterSeconds. After a wrong code the sign-in still waits.
 */
export async function answerFactor(deps: AuthDeps, input: { token: string; code: string }, caller: Caller): Promise<Finished> {
  const { pending, person } = await findPending(deps.db, deps, { token: input.token, waitsFor: "second factor" }, caller);
  const { own, shared } = guessKeys(deps, person, caller);
  const { shown, limits } = await counted(deps.db, [own, ...shared], async (blocked) => ({
    shown: await inTransaction(deps.db, async (trx) => {
      await lockPending(trx, pending.id);
      const spent = await spendCode(trx, deps, { person, network: caller.network }, input.code);
      if (spent === null) return null;
      await spendPending(trx, pending.id);
      const finished = await finishSignIn(trx, deps, { person, ...shownIn(pending), second: spent.factor }, caller);
      return { ...spent, finished };
    }),
    limits: blocked.map(limitName),
  }));
  if (shown === null) {
    const event = { actor: null, subject: person.id, network: caller.network };
    if (limits.length > 0) await recordAct(deps.db, { ...event, action: "sign_in.blocked", details: { limits } });
    throw wrongCode();
  }
  await forgetAttempts(deps.db, own);
  await giveBackAttempts(deps.db, shared);
  if (shown.cancelledReset) await announce(deps, person.id, "factor_resets");
  return shown.finished;
}
