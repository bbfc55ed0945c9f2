/**
 * A person deletes their account. It is hidden and signed out at once. For 14 days signing in can restore it; after that erase.ts erases it
 * (docs/decisions/0036).
 */
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds } from "#domain/clock.ts";
import { deletionMs } from "#domain/periods.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import { ValidationError } from "../../http/problem.ts";
import { enqueue } from "../../queue/outbox.ts";
import type { AuthDeps, Caller } from "../auth/callers.ts";
import { normalizeEmail } from "../auth/callers.ts";
import { finishSignIn } from "../auth/complete-sign-in.ts";
import { findPending, lockPending, shownIn, signInExpired, spendPending } from "../auth/pending-sign-ins.ts";
import { mayTell } from "../auth/security-mails.ts";
import type { SignIn } from "../auth/sessions.ts";
import { endAllSessions } from "../auth/sessions.ts";
import type { Answers } from "../generations/answers.ts";
import { stopAnswersOf } from "../generations/service.ts";
import { queueMail } from "../notifications/service.ts";
import { dropExports } from "../own-data/exports.ts";
import { dropSupportAccess } from "../support-access/service.ts";
import { refuseLastAdmin } from "../team/service.ts";
import type { Leaver } from "./queries.ts";
import * as queries from "./queries.ts";

interface Asker {
  userId: string;
  network: string;
}

async function mail(trx: Trx, userId: string, { email, language }: Leaver, deleteAt: Date | null, now: Date): Promise<void> {
  if (!(await mayTell(trx, deleteAt === null ? "account-restored" : "account-deleted", email))) return;
  const to = { userId, recipient: email, language };
  if (deleteAt === null)
    await queueMail(trx, { ...to, key: `account-restored:${uuidv7()}`, template: "account-restored", parameters: {} }, now);
  else {
    const parameters = { deleteAt: deleteAt.toISOString() };
    await queueMail(trx, { ...to, key: `account-deleted:${uuidv7()}`, template: "account-deleted", parameters }, now);
  }
}

/** Returns the person's running answers, which are asked to stop, and when the account will be erased. */
async function leave(trx: Trx, { userId, network }: Asker, typed: string, now: Date): Promise<{ running: string[]; deleteAt: Date }> {
  await refuseLastAdmin(trx, userId);
  const leaver = await queries.lockLeaver(trx, userId);
  if (normalizeEmail(typed) !== leaver.email)
    throw new ValidationError([{ field: "email", message: "This is not the address of your account" }]);
  // Another tab has already deleted it.
  if (leaver.delete_at !== null) return { running: [], deleteAt: leaver.delete_at };
  const deleteAt = addMilliseconds(now, deletionMs);
  await queries.setDeleteAt(trx, userId, deleteAt);
  await endAllSessions(trx, userId);
  await dropExports(trx, userId);
  await dropSupportAccess(trx, userId, now);
  await recordAct(trx, { actor: userId, subject: userId, action: "deletion.asked", network, details: {} });
  await enqueue(trx, "align-subscription", { userId });
  await mail(trx, userId, leaver, deleteAt, now);
  return { running: await stopAnswersOf(trx, userId), deleteAt };
}

/**
 * Hides the account, ends all sessions, stops running answers (charged as if the person had stopped them), deletes exports, has the
 * subscription cancelled, and tells the person by mail. `email` is what the person typed to confirm. Throws `validation_failed` when it is not
 * their address, and `last_admin`.
 */
export async function deleteAccount(
  deps: AuthDeps,
  answers: Pick<Answers, "stop">,
  asker: Asker,
  email: string,
): Promise<{ deleteAt: string }> {
  const { running, deleteAt } = await inTransaction(deps.db, (trx) => leave(trx, asker, email, deps.clock.now()));
  for (const id of running) answers.stop(id);
  await announce(deps, asker.userId, "session");
  return { deleteAt: deleteAt.toISOString() };
}

/**
 * Takes the deletion back for somebody who has shown every factor, and signs them in. What was cancelled is resumed; exports have to be made
 * again. Throws `sign_in_expired`.
 */
export async function restoreAccount(deps: AuthDeps, input: { token: string }, caller: Caller): Promise<SignIn> {
  const { pending, person } = await findPending(deps.db, deps, { token: input.token, waitsFor: "restoring" }, caller);
  return inTransaction(deps.db, async (trx) => {
    await lockPending(trx, pending.id);
    const leaver = await queries.lockLeaver(trx, person.id);
    const now = deps.clock.now();
    if (leaver.delete_at === null || leaver.delete_at <= now) throw signInExpired();
    await spendPending(trx, pending.id);
    await queries.setDeleteAt(trx, person.id, null);
    await recordAct(trx, { actor: person.id, subject: person.id, action: "deletion.undone", network: caller.network, details: {} });
    await enqueue(trx, "align-subscription", { userId: person.id });
    await mail(trx, person.id, leaver, null, now);
    const finished = await finishSignIn(trx, deps, { person, ...shownIn(pending) }, caller);
    if ("token" in finished) throw new Error("the account was restored and is deleted nevertheless");
    return finished;
  });
}
