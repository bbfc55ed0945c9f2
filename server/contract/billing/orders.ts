import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, TaxShown, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Interval, PaidTier } from "./subscription.ts";

const Version = Type.String({ maxLength: 20 });

/** What is sold: a plan, or a pack of credits. */
export const Subject = Type.Union([
  Type.Object({ kind: Type.Literal("plan"), plan: PaidTier, interval: Interval }),
  Type.Object({ kind: Type.Literal("pack"), credits: Credits }),
]);

/** An order as it would be billed now. */
export const OrderPreview = Type.Object({
  subject: Subject,
  /** For a plan, the credits of a month. */
  credits: Credits,
  currency: Type.String(),
  /** The first payment, tax included if any is due. */
  amountCents: Cents,
  /** Each renewal; null: there is none. */
  laterCents: Type.Union([Cents, Type.Null()]),
  tax: TaxShown,
  /** The end of the first period, or of a pack's credits, if it were paid now. */
  until: Timestamp,
  /** The versions of the texts that the order accepts. */
  terms: Version,
  withdrawal: Version,
});
export type OrderPreview = Static<typeof OrderPreview>;

/** What the person saw and agreed to. */
export const Consent = Type.Object(
  {
    amountCents: Cents,
    terms: Version,
    withdrawal: Version,
    /** The language of the page. */
    language: Type.String({ maxLength: 35 }),
    /** The person asks us to begin before the period of withdrawal is over. */
    beginAtOnce: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type Consent = Static<typeof Consent>;

export const orderRoutes = {
  "POST /api/billing/order/preview": {
    summary: "What an order of a plan's price or of a pack would cost and give now; changes nothing",
    body: Type.Object({ priceId: Type.String({ maxLength: 100 }) }, { additionalProperties: false }),
    response: { 200: OrderPreview },
  },
  "POST /api/functions/create-checkout": {
    summary: "Orders a plan as previewed and consented to: creates a checkout; the browser goes to `url` (spec §7)",
    body: Type.Object({ priceId: Type.String({ maxLength: 100 }), consent: Type.Optional(Consent) }, { additionalProperties: false }),
    response: { 200: Type.Object({ url: Type.String() }) },
  },
  "POST /api/billing/packs/checkout": {
    summary: "Orders a pack of credits as previewed and consented to, for people with a paid plan; the browser goes to `url`",
    body: Type.Object({ pack: Type.String({ maxLength: 100 }), consent: Type.Optional(Consent) }, { additionalProperties: false }),
    response: { 200: Type.Object({ url: Type.String() }) },
  },
} as const satisfies Record<string, RouteContract>;
