/**
 * When a plan begins. A subscription that is paid by transfer is active at Stripe from the start, and past due once its first invoice is; one that
 * is paid by a bank's debit is active while the debit is on its way. For us it begins with its first payment, like any other.
 */
import type Stripe from "stripe";
import type { SubscriptionStatus } from "#domain/subscription.ts";
import { fromStripeStatus } from "#domain/subscription.ts";
import { fromUnix } from "../../providers/stripe.ts";

/** Null if Stripe was not asked to expand it. */
export function latestInvoice({ latest_invoice: invoice }: Stripe.Subscription): Stripe.Invoice | null {
  return typeof invoice === "object" ? invoice : null;
}

function isFirst(invoice: Stripe.Invoice | null): invoice is Stripe.Invoice {
  return invoice?.billing_reason === "subscription_create";
}

/** Active, though its first invoice is not paid: a debit for it is on its way, or has failed, and Stripe may void the invoice then. */
export function isDebited(subscription: Stripe.Subscription): boolean {
  const invoice = latestInvoice(subscription);
  const byCharging = subscription.collection_method === "charge_automatically" && subscription.status === "active";
  return byCharging && isFirst(invoice) && (invoice.status === "open" || invoice.status === "void");
}

export function statusOf(subscription: Stripe.Subscription): SubscriptionStatus {
  const status = fromStripeStatus(subscription.status);
  const invoice = latestInvoice(subscription);
  if (!isFirst(invoice) || status === "canceled" || status === "suspended") return status;
  const bySending = subscription.collection_method === "send_invoice" && invoice.status !== "paid";
  return bySending || isDebited(subscription) ? "incomplete" : status;
}

/** Why it is ended without having begun: its first transfer was not made in time, or its first invoice is void, and nobody can pay it any more. */
export type Lapse = "transfer-overdue" | "never-paid";

export function lapseOf(subscription: Stripe.Subscription): Lapse | undefined {
  if (statusOf(subscription) === "incomplete" && subscription.status === "past_due") return "transfer-overdue";
  // If we did not end it, its next period would begin: it would count as active with a renewal's invoice, though nothing was ever paid.
  const invoice = latestInvoice(subscription);
  return subscription.status === "active" && isFirst(invoice) && invoice.status === "void" ? "never-paid" : undefined;
}

/**
 * Whether a plan that has ended never began because a debit failed. Then its person has to be told, since they only know that the debit was
 * on its way. About an invoice that was overdue the mail about the late transfer tells them.
 */
export function wasNeverPaid(subscription: Stripe.Subscription, now: Date): boolean {
  const invoice = latestInvoice(subscription);
  if (!isFirst(invoice) || invoice.status !== "void") return false;
  return invoice.due_date === null || fromUnix(invoice.due_date) > now;
}
