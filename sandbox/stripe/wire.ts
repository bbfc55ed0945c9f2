import type { Stripe } from "stripe";

/**
 * A response type of the `stripe` package as JSON. The package parses decimal strings into its own Decimal, so in JSON they are
 * strings. All of the sandbox's responses have these types, so the compiler checks them against the pinned API version.
 */
export type Wire<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends Stripe.Decimal
    ? string
    : T extends readonly (infer Item)[]
      ? Wire<Item>[]
      : { [Key in keyof T]: Wire<T[Key]> };

export type Customer = Wire<Stripe.Customer>;
export type Product = Wire<Stripe.Product>;
export type Price = Wire<Stripe.Price>;
export type Plan = Wire<Stripe.Plan>;
export type Coupon = Wire<Stripe.Coupon>;
export type Discount = Wire<Stripe.Discount>;
export type CheckoutSession = Wire<Stripe.Checkout.Session>;
export type LineItem = Wire<Stripe.LineItem>;
export type PaymentMethod = Wire<Stripe.PaymentMethod>;
export type PaymentIntent = Wire<Stripe.PaymentIntent>;
export type Charge = Wire<Stripe.Charge>;
export type Refund = Wire<Stripe.Refund>;
export type BalanceTransaction = Wire<Stripe.BalanceTransaction>;
export type Dispute = Wire<Stripe.Dispute>;
export type Subscription = Wire<Stripe.Subscription>;
export type BillingMode = Subscription["billing_mode"]["type"];
export type SubscriptionItem = Wire<Stripe.SubscriptionItem>;
export type SubscriptionSchedule = Wire<Stripe.SubscriptionSchedule>;
export type Invoice = Wire<Stripe.Invoice>;
export type InvoiceLine = Wire<Stripe.InvoiceLineItem>;
export type InvoicePayment = Wire<Stripe.InvoicePayment>;
export type PortalSession = Wire<Stripe.BillingPortal.Session>;
export type PortalConfiguration = Wire<Stripe.BillingPortal.Configuration>;
export type TaxSettings = Wire<Stripe.Tax.Settings>;
export type TaxRegistration = Wire<Stripe.Tax.Registration>;
export type TaxRate = Wire<Stripe.TaxRate>;
export type CreditNote = Wire<Stripe.CreditNote>;
export type TaxId = Wire<Stripe.TaxId>;
export type Address = Wire<Stripe.Address>;
export type WebhookEndpoint = Wire<Stripe.WebhookEndpoint>;
export type StripeEvent = Wire<Stripe.Event>;
export type EventType = Stripe.Event["type"];
/** The object in an event of this type. */
export type EventObject<Type extends EventType> = Wire<Extract<Stripe.Event, { type: Type }>["data"]["object"]>;
