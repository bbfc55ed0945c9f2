/** Removes a lost second factor with the link that factor-reset.ts mailed, after the password was shown again. */
import { inTransaction } from "../../db/transaction.ts";
import { announce } from "../../http/live-events.ts";
import type { AuthDeps, Caller } from "./callers.ts";
import type { Finished } from "./complete-sign-in.ts";
import { finishSignIn } from "./complete-sign-in.ts";
import { lockTotp } from "./factor-queries.ts";
import { endReset } from "./factor-reset-queries.ts";
import { removeSecondFactor } from "./factors.ts";
import { findPending, lockPending, shownIn, spendPending } from "./pending-sign-ins.ts";
import { linkInvalid, openLink, spendLink } from "./person-links.ts";
import { revokeSessionsOf } from "./queries.ts";

/**
 * `token` belongs to a sign-in that waits for its second factor, `link` is from the mail. Ends all sessions of the person and signs in here.
 * Throws `sign_in_expired`, `link_invalid`, and `too_many_attempts` with retryAfterSeconds.
 */
export async function removeLostFactor(deps: AuthDeps, input: { token: string; link: string }, caller: Caller): Promise<Finished> {
  const { pending, person } = await findPending(deps.db, deps, { token: input.token, waitsFor: "second factor" }, caller);
  const link = await openLink(deps, { token: input.link, purpose: "reset-factors", network: caller.network });
  if (link.user_id !== person.id) throw linkInvalid();
  const finished = await inTransaction(deps.db, async (trx) => {
    await lockPending(trx, pending.id);
    if (!(await lockTotp(trx, person.id))) throw linkInvalid();
    // The request before the link: all transactions that change both do so in this order.
    const reset = await endReset(trx, person.id, "removed", deps.clock.now());
    if (!reset?.mailed_at) throw linkInvalid();
    await spendLink(trx, link.id);
    await removeSecondFactor(trx, deps, person, { network: caller.network, key: link.id, details: { proof: "mailed_link" } });
    await revokeSessionsOf(trx, person.id, {}, new Date());
    await spendPending(trx, pending.id);
    return finishSignIn(trx, deps, { person, ...shownIn(pending) }, caller);
  });
  await announce(deps, person.id, "session", "factor_resets");
  return finished;
}
