/** A person without a password proves who they are by signing in to Google again. */
import { DomainError } from "#domain/errors.ts";
import { stepUpMs } from "#domain/periods.ts";
import type { Trx } from "../../db/transaction.ts";
import type { AuthDeps } from "./callers.ts";
import { googleExpired } from "./google.ts";
import * as google from "./google-queries.ts";

/**
 * Parameters of Google's page. `max_age` is the standard's request to sign in afresh. Google itself says when the person signed in only
 * if `claims` asks for it and the client is set up for it ("Session age claims"). Throws `not_found` if no Google account is linked.
 */
export async function askToSignInAfresh(deps: Pick<AuthDeps, "db">, userId: string): Promise<Record<string, string>> {
  const linked = await google.findGoogle(deps.db, userId);
  if (!linked) throw new DomainError("not_found", "No Google account is linked");
  const claims = JSON.stringify({ id_token: { auth_time: { essential: true } } });
  return { max_age: "0", claims, login_hint: linked.email ?? "" };
}

/** An old sign-in at Google proves nothing, because anybody who finds the screen left open has it too. */
function isFresh({ authenticated_at: at }: google.GoogleAnswer): boolean {
  return at !== null && Date.now() - at.getTime() <= stepUpMs;
}

/** Uses up the answer of the person's own Google account. Throws `google_expired`, `google_other_account` and `google_not_fresh`. */
export async function spendFreshAnswer(trx: Trx, userId: string, answerId: string | undefined): Promise<void> {
  const answer = answerId === undefined ? undefined : await google.lockAnswer(trx, answerId, new Date());
  if (answer?.user_id !== userId) throw googleExpired();
  const linked = await google.findGoogle(trx, userId);
  if (linked?.subject !== answer.subject)
    throw new DomainError("google_other_account", "This is not the Google account that is linked. Choose the linked one");
  if (!isFresh(answer))
    throw new DomainError("google_not_fresh", "You signed in at Google too long ago. Sign out there and try again, or set a password");
  await google.spendAnswer(trx, answer.id, new Date());
}
