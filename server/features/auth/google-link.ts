/** Linking a Google account to the account of somebody who is signed in, and unlinking it. */
import { DomainError } from "#domain/errors.ts";
import type { LinkedGoogle } from "../../contract/auth/security.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Viewer } from "../../http/viewer.ts";
import { findClaim } from "./addresses.ts";
import type { AuthDeps } from "./callers.ts";
import { googleExpired } from "./google.ts";
import * as google from "./google-queries.ts";
import { lockPerson } from "./link-queries.ts";
import * as queries from "./queries.ts";
import { tellOfNewWay, tellOwner } from "./security-mails.ts";
import { refuseLastWay } from "./ways-in.ts";

type Asker = Viewer & { network: string };

async function lockedPerson(trx: Trx, userId: string): Promise<queries.Person> {
  await lockPerson(trx, userId);
  const person = await queries.findPerson(trx, userId);
  if (!person) throw new Error("the signed-in person does not exist");
  return person;
}

/**
 * Whether this session may link the answer. It may if the person asked for it from their account. It also may if the person tried to sign in
 * with Google and then showed a factor of their own.
 */
function mayLink(answer: google.GoogleAnswer, { userId, provedAt }: Viewer, person: queries.Person): boolean {
  if (answer.user_id !== null) return answer.user_id === userId;
  return answer.email === person.email && provedAt >= answer.created_at;
}

/** Throws `google_taken` if the Google account, or its address, belongs to another person. */
async function refuseAnothers(trx: Trx, { subject, email }: google.GoogleAnswer, userId: string): Promise<void> {
  const owners = [await google.findOwner(trx, subject), (await findClaim(trx, email))?.person.id];
  if (owners.some((owner) => owner !== undefined && owner !== userId))
    throw new DomainError("google_taken", "This Google account, or its address, belongs to another account here");
}

/** Throws `google_expired`, `google_taken`, `session_expired`, and `google_linked_already` if the person has another Google account linked. */
export async function linkGoogle(deps: AuthDeps, asker: Asker, answerId: string | undefined): Promise<LinkedGoogle> {
  return inTransaction(deps.db, async (trx) => {
    const answer = answerId === undefined ? undefined : await google.lockAnswer(trx, answerId, new Date());
    if (!answer) throw googleExpired();
    const person = await lockedPerson(trx, asker.userId);
    await queries.refuseEndedSession(trx, asker.sessionId);
    if (!mayLink(answer, asker, person)) throw googleExpired();
    await queries.lockAddress(trx, answer.email);
    await refuseAnothers(trx, answer, asker.userId);
    await google.spendAnswer(trx, answer.id, new Date());
    const now = deps.clock.now();
    if (await google.insertGoogle(trx, asker.userId, answer, now)) {
      const act = { actor: asker.userId, subject: asker.userId, network: asker.network };
      await recordAct(trx, { ...act, action: "google.linked", details: { by: "link" } });
      await tellOfNewWay(trx, deps, person, { template: "google-linked", key: answer.id, addedAt: now, googleEmail: answer.email });
    }
    const linked = await google.findGoogle(trx, asker.userId);
    if (linked?.subject !== answer.subject) {
      // Another person has just linked it, or this person has another Google account.
      if (!linked) throw new DomainError("google_taken", "This Google account belongs to another account here");
      throw new DomainError("google_linked_already", "Another Google account is linked. Unlink it first");
    }
    return { email: linked.email ?? "", linkedAt: linked.linked_at.toISOString() };
  });
}

/** Throws `not_found` and `last_way_in`. */
export async function unlinkGoogle(deps: AuthDeps, { userId, network }: Asker): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const person = await lockedPerson(trx, userId);
    const linked = await google.findGoogle(trx, userId);
    if (!linked) throw new DomainError("not_found", "No Google account is linked");
    await refuseLastWay(trx, userId);
    await google.deleteGoogle(trx, userId);
    await recordAct(trx, { actor: userId, subject: userId, action: "google.unlinked", network, details: {} });
    const parameters = { googleEmail: linked.email ?? "", changedAt: deps.clock.now().toISOString() };
    await tellOwner(trx, deps, person, { template: "google-unlinked", key: `${userId} ${Date.now()}`, parameters });
  });
}
