import type * as Wire from "./wire.ts";

/** Every kind of object the sandbox stores, by its `object` field. */
export interface Kinds {
  customer: Wire.Customer;
  product: Wire.Product;
  price: Wire.Price;
  coupon: Wire.Coupon;
  discount: Wire.Discount;
  "checkout.session": Wire.CheckoutSession;
  payment_method: Wire.PaymentMethod;
  payment_intent: Wire.PaymentIntent;
  charge: Wire.Charge;
  refund: Wire.Refund;
  balance_transaction: Wire.BalanceTransaction;
  dispute: Wire.Dispute;
  subscription: Wire.Subscription;
  subscription_schedule: Wire.SubscriptionSchedule;
  invoice: Wire.Invoice;
  invoice_payment: Wire.InvoicePayment;
  "billing_portal.session": Wire.PortalSession;
  "billing_portal.configuration": Wire.PortalConfiguration;
  "tax.registration": Wire.TaxRegistration;
  tax_rate: Wire.TaxRate;
  tax_id: Wire.TaxId;
  credit_note: Wire.CreditNote;
  webhook_endpoint: Wire.WebhookEndpoint;
  event: Wire.StripeEvent;
}
export type Kind = keyof Kinds;

/**
 * How a test card behaves when it is charged: `authentication` asks its holder once, `always_authentication` at each payment. The others
 * pay, and then their refunds wait (`pending_refund`) or come back (`failing_refund`), or their holder disputes the charge. The last three
 * are US bank accounts, whose bank answers days later: `bank_debit` pays, the other two do not (bank-debits.ts).
 */
export const cardBehaviours = [
  "success",
  "declined",
  "authentication",
  "always_authentication",
  "pending_refund",
  "failing_refund",
  "disputed_fraudulent",
  "disputed_not_received",
  "inquiry",
  "bank_debit",
  "bank_debit_fails",
  "bank_debit_voids",
] as const;
export type CardBehaviour = (typeof cardBehaviours)[number];

/** Who started an attempt on an invoice: Stripe's own schedule or a person. */
export type Attempt = "automatic" | "manual";

/** What Stripe knows about an object but does not return. */
export interface HiddenKinds {
  /** `spent`: paid with without being saved, or detached. Stripe never takes such a card again. */
  payment_method: { card: CardBehaviour; spent: boolean };
  "checkout.session": {
    lines: { price: string; quantity: number }[];
    items: Wire.LineItem[];
    coupon: string | null;
    billingMode: Wire.BillingMode;
    subscriptionMetadata: Record<string, string>;
    paymentIntentMetadata: Record<string, string>;
    description: string | null;
    /** The address on the page becomes the customer's. */
    savesAddress: boolean;
    /** What the card is saved for after a single payment; null if it is not. */
    reuse: "off_session" | "on_session" | null;
    receiptEmail: string | null;
    /** The invoice that a single payment gets; null: none. */
    invoice: { description: string | null; footer: string | null; metadata: Record<string, string> } | null;
    /** The payment intent of the attempts so far. A session in payment mode shows it only once there was an attempt. */
    paymentIntent: string | null;
    failure: string | null;
  };
  /** For a debit that waits for the bank: the session or the attempt on an invoice that it pays, and the invoice's earlier attempts. */
  charge: { session: string | null; attempt: Attempt; attemptsBefore: number };
  webhook_endpoint: { secret: string };
  "tax.settings": { headOffice: Wire.Address | null; defaults: Wire.TaxSettings["defaults"] };
  /** `refusedCard`: a card that retries don't charge again, because its holder has to authenticate. */
  invoice: { firstAttemptAt: number | null; refusedCard: string | null };
}
export type HiddenKind = keyof HiddenKinds;

/** What Stripe does by itself. Actions due at the same time happen in this order. */
export const dueActions = [
  "advance_schedule",
  "end_discount",
  "end_subscription",
  "announce_invoice",
  "renew_subscription",
  "finalize_invoice",
  "retry_payment",
  "overdue_invoice",
  "expire_session",
  "open_dispute",
  "end_dispute",
  "settle_refund",
  "settle_debit",
] as const;
export type DueAction = (typeof dueActions)[number];
export interface Due {
  target: string;
  action: DueAction;
  /** Unix seconds, business time. */
  at: number;
}

const nouns: Partial<Record<Kind, string>> = {
  payment_method: "PaymentMethod",
  "checkout.session": "checkout.session",
  webhook_endpoint: "webhook endpoint",
};

/** The name that Stripe uses in "No such …". */
export function nounOf(kind: Kind): string {
  return nouns[kind] ?? kind;
}
