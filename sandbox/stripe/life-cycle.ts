import { settleDebit } from "./bank-debits.ts";
import { expireSession } from "./checkout.ts";
import { abandonIntent } from "./checkout-complete.ts";
import type { Context } from "./context.ts";
import { endDiscount } from "./coupons.ts";
import { endUnanswered, openCardsDispute } from "./disputes.ts";
import { collectAutomatically, passDueDate } from "./invoice-collect.ts";
import type { Due, DueAction } from "./kinds.ts";
import { settleRefund } from "./refunds.ts";
import { advanceSchedule } from "./schedules.ts";
import { announceInvoice, endSubscription, renewSubscription } from "./subscription-cycle.ts";

const actions: Readonly<Record<DueAction, (context: Context, target: string) => void>> = {
  advance_schedule: advanceSchedule,
  end_discount: endDiscount,
  end_subscription: endSubscription,
  announce_invoice: announceInvoice,
  renew_subscription: renewSubscription,
  finalize_invoice: collectAutomatically,
  retry_payment: collectAutomatically,
  overdue_invoice: passDueDate,
  expire_session: (context, target) => {
    abandonIntent(context, target);
    expireSession(context, target);
  },
  open_dispute: openCardsDispute,
  end_dispute: endUnanswered,
  settle_refund: settleRefund,
  settle_debit: settleDebit,
};

/**
 * Does the earliest work due at or before `until` (Unix seconds), in one transaction and with the clock at its due time. Returns
 * undefined if none is due. The next call sees the work that this one planned, so repeated calls do everything in order.
 */
export function runNextDue(context: Context, until: number): Due | undefined {
  return context.store.transaction(() => {
    const due = context.store.nextDue();
    if (!due || due.at > until) return undefined;
    context.store.unplan(due.target, due.action);
    actions[due.action]({ ...context, now: () => due.at, request: null }, due.target);
    return due;
  });
}
