/** Tells an account that the share its members chose of the month's plan credits is spent (credits/alerts.ts): one mail, and a notice. */
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { findAlert } from "../credits/alerts.ts";
import { availableCredits } from "../credits/service.ts";
import { readEntitlement } from "./entitlement.ts";
import { mailPayer } from "./mails.ts";
import { nextCreditsAt } from "./next-credits.ts";
import * as queries from "./queries.ts";

/** Does nothing for somebody without a plan. Its mail has a key of the grant, so running again sends nothing more. */
export async function tellLowCredits(deps: Pick<Deps, "db" | "clock" | "live" | "log">, grantId: string): Promise<void> {
  const now = deps.clock.now();
  const payerId = await inTransaction(deps.db, async (trx) => {
    const alert = await findAlert(trx, grantId, now);
    const row = alert && (await queries.selectAccountSubscription(trx, alert.payerId));
    if (!row) return undefined;
    const { tier, kinds } = await readEntitlement(trx, row.user_id, now);
    if (tier === "none") return undefined;
    const nextAt = await nextCreditsAt(trx, row, now);
    const parameters = {
      percent: alert.percent,
      credits: alert.credits,
      left: await availableCredits(trx, row.user_id, kinds(true), now),
      renewsAt: (nextAt ?? row.current_period_end).toISOString(),
      ...(nextAt ? {} : { variant: row.status === "past_due" ? ("unpaid" as const) : ("ending" as const) }),
    };
    await mailPayer(trx, alert.payerId, { key: `credits-low:${grantId}`, template: "credits-low", parameters }, now);
    return alert.payerId;
  });
  if (payerId !== undefined) await announceToMembers(deps, payerId, "user_subscriptions");
}
