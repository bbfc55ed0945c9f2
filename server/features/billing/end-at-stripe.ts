import type { Deps } from "../../deps.ts";
import { orMissing } from "../../providers/stripe.ts";

/**
 * Ends the subscription at Stripe and voids its unpaid invoices, so that nobody pays for an ended subscription. `because` becomes part of
 * the idempotency keys.
 */
export async function endAtStripe(
  { payments }: Pick<Deps, "payments">,
  subscriptionId: string,
  because: "grace-over" | "account-deleted",
): Promise<void> {
  // Stripe may have ended it at the same moment. Then there is nothing to cancel.
  await orMissing(
    payments.subscriptions.cancel(
      subscriptionId,
      { prorate: false, invoice_now: false },
      { idempotencyKey: `${because}:${subscriptionId}` },
    ),
  );
  const unpaid = await payments.invoices.list({ subscription: subscriptionId, status: "open", limit: 100 });
  for (const invoice of unpaid.data) {
    await payments.invoices.voidInvoice(invoice.id, {}, { idempotencyKey: `${because}:${invoice.id}` });
  }
}
