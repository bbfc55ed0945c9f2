import type { Deps } from "../../deps.ts";
import { orMissing } from "../../providers/stripe.ts";

/** Becomes part of the idempotency keys. */
type Reason = "grace-over" | "account-deleted" | "money-back" | "transfer-reversed" | "transfer-overdue";

/** Voids a subscription's unpaid invoices, so that nobody pays for an ended subscription. */
export async function voidUnpaid({ payments }: Pick<Deps, "payments">, subscriptionId: string, because: Reason): Promise<void> {
  const unpaid = await payments.invoices.list({ subscription: subscriptionId, status: "open", limit: 100 });
  for (const invoice of unpaid.data) {
    await payments.invoices.voidInvoice(invoice.id, {}, { idempotencyKey: `${because}:${invoice.id}` });
  }
}

/** Ends the subscription at Stripe and voids its unpaid invoices. */
export async function endAtStripe(deps: Pick<Deps, "payments">, subscriptionId: string, because: Reason): Promise<void> {
  // Stripe may have ended it at the same moment. Then there is nothing to cancel.
  await orMissing(
    deps.payments.subscriptions.cancel(
      subscriptionId,
      { prorate: false, invoice_now: false },
      { idempotencyKey: `${because}:${subscriptionId}` },
    ),
  );
  await voidUnpaid(deps, subscriptionId, because);
}
