/**
 * The step between the first factor and the session. Every way to sign in calls it in its own transaction. So only this file asks for the
 * second factor, and only this file decides that a deleted account has to be restored first.
 */
import type { AuditDetails } from "#domain/audit.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "./callers.ts";
import { invalidCredentials } from "./callers.ts";
import { countRecoveryCodes, findTotp } from "./factor-queries.ts";
import { lockPerson } from "./link-queries.ts";
import type { FirstFactor, PendingRestore, PendingSignIn } from "./pending-sign-ins.ts";
import { beginPendingSignIn } from "./pending-sign-ins.ts";
import type { Person } from "./queries.ts";
import * as queries from "./queries.ts";
import type { SignIn } from "./sessions.ts";
import { openSession } from "./sessions.ts";
import { findWayAddedAt } from "./ways-in.ts";

/** The result once every factor was shown: a session, or the question whether to restore the deleted account. */
export type Finished = SignIn | PendingRestore;
/** The result of the first factor: the same, or the request for a second factor. */
export type SignInOutcome = Finished | PendingSignIn;

/** ADMIN_EMAILS names the first admins. That is safe, because a person's address has always been confirmed. */
function roleOf(deps: Pick<Deps, "config">, person: Person): Person["role"] {
  return deps.config.adminEmails.includes(person.email) ? "admin" : person.role;
}

type Shown = AuditDetails["sign_in.completed"];

/**
 * Opens the session, or asks whether to restore the account if it is deleted. Call it only once the person has shown every factor they have.
 * Throws `invalid_credentials` if a deleted account can't be restored any more.
 */
export async function finishSignIn(
  trx: Trx,
  deps: Pick<Deps, "config" | "clock">,
  { person, ...shown }: Shown & { person: Person },
  caller: Caller,
): Promise<Finished> {
  // A deletion locks the row too, so we see one that began a moment ago.
  const deleteAt = await lockPerson(trx, person.id);
  if (deleteAt !== null) {
    if (deleteAt <= deps.clock.now()) throw invalidCredentials();
    return { token: await beginPendingSignIn(trx, deps, { person, ...shown, waitsFor: "restoring" }, caller), deleteAt };
  }
  const user = await queries.updateUser(trx, person.id, { last_sign_in_at: deps.clock.now(), role: roleOf(deps, person) });
  const subject = person.id;
  if (user.role === "admin" && person.role !== "admin") {
    const details = { role: "admin", because: "named_in_admin_emails" } as const;
    await recordAct(trx, { actor: null, subject, action: "role.granted", network: null, details });
  }
  await recordAct(trx, { actor: subject, subject, action: "sign_in.completed", network: caller.network, details: shown });
  const wayAddedAt = await findWayAddedAt(trx, person, shown);
  return openSession(trx, deps, { user: { ...person, ...user }, wayAddedAt }, caller);
}

export async function completeSignIn(
  trx: Trx,
  deps: Pick<Deps, "config" | "clock">,
  { person, factor }: { person: Person; factor: FirstFactor },
  caller: Caller,
): Promise<SignInOutcome> {
  // A passkey is two factors by itself: the device, and what unlocks it.
  if (factor === "passkey" || !(await findTotp(trx, person.id))) return finishSignIn(trx, deps, { person, factor }, caller);
  const codesLeft = await countRecoveryCodes(trx, person.id);
  const token = await beginPendingSignIn(trx, deps, { person, factor, waitsFor: "second factor" }, caller);
  return { token, methods: codesLeft > 0 ? ["totp", "recovery_code"] : ["totp"] };
}
