/** The phases of a subscription schedule, as a call describes them. */
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import type { Parameters } from "./parameters.ts";
import { nextBoundary } from "./periods.ts";
import { prorationBehaviours, readAutomaticTax, recurringPrice } from "./subscriptions.ts";
import { taxOff, taxOn } from "./tax-rates.ts";
import type { Price, Subscription, SubscriptionSchedule } from "./wire.ts";

export type Phase = SubscriptionSchedule["phases"][number];

interface PhaseFields {
  price: Price;
  quantity: number;
  start: number;
  end: number;
  prorationBehavior: Phase["proration_behavior"];
  anchor: Phase["billing_cycle_anchor"];
  metadata: Record<string, string>;
  /** The ids of discounts that the subscription has already. */
  discounts: readonly string[];
  /** Undefined: as in the schedule's default settings. */
  taxed: boolean | undefined;
}

export function buildPhase(fields: PhaseFields): Phase {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    ...(fields.taxed === undefined ? {} : { automatic_tax: fields.taxed ? taxOn : taxOff }),
    billing_cycle_anchor: fields.anchor,
    billing_thresholds: null,
    collection_method: null,
    currency: fields.price.currency,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: fields.discounts.map((discount) => ({ coupon: null, discount, promotion_code: null })),
    end_date: fields.end,
    invoice_settings: null,
    items: [
      {
        billing_thresholds: null,
        discounts: [],
        metadata: {},
        plan: fields.price.id,
        price: fields.price.id,
        quantity: fields.quantity,
        tax_rates: [],
      },
    ],
    metadata: fields.metadata,
    on_behalf_of: null,
    proration_behavior: fields.prorationBehavior,
    start_date: fields.start,
    transfer_data: null,
    trial_end: null,
  };
}

export function discountIdsOf(discounts: Subscription["discounts"]): string[] {
  return discounts.map((discount) => (typeof discount === "string" ? discount : discount.id));
}

function readDate(context: Context, phase: Parameters, key: string): number | undefined {
  return phase.has(key) && phase.text(key) === "now" ? context.now() : phase.integer(key, 0);
}

function readEnd(context: Context, phase: Parameters, start: number, price: Price): number {
  const end = readDate(context, phase, "end_date");
  const duration = phase.object("duration");
  if (end !== undefined) return end;
  const interval = duration?.oneOf("interval", ["day", "week", "month", "year"]) ?? price.recurring?.interval ?? "month";
  const intervalCount = duration?.integer("interval_count", 1, 120) ?? (duration ? 1 : (price.recurring?.interval_count ?? 1));
  const recurring = price.recurring ? { ...price.recurring, interval, interval_count: intervalCount } : null;
  return nextBoundary(start, { ...price, recurring }, start);
}

/** A phase without discounts takes away those the subscription had. */
function readDiscounts(subscription: Subscription, phase: Parameters): string[] {
  const known = discountIdsOf(subscription.discounts);
  return (phase.objects("discounts") ?? []).map((given) => {
    given.refuse("coupon", "promotion_code");
    const id = given.requiredText("discount");
    if (!known.includes(id))
      throw invalidRequest(`The subscription has no discount '${id}' that could be reused.`, given.nameOf("discount"));
    return id;
  });
}

function readPhase(context: Context, subscription: Subscription, phase: Parameters, previousEnd: number): Phase {
  const items = phase.objects("items");
  const item = items?.[0];
  if (!item) throw missingParameter(phase.nameOf("items"));
  if (items.length > 1) throw invalidRequest("The sandbox keeps one item per phase.", phase.nameOf("items"));
  phase.refuse("trial", "trial_end", "add_invoice_items", "collection_method", "invoice_settings");
  const price = recurringPrice(context, item.requiredText("price"), item.nameOf("price"));
  const start = readDate(context, phase, "start_date") ?? previousEnd;
  const end = readEnd(context, phase, start, price);
  if (start !== previousEnd)
    throw invalidRequest("The phases of a schedule must follow one another without a gap.", phase.nameOf("start_date"));
  if (end <= start) throw invalidRequest("A phase must end after it starts.", phase.nameOf("end_date"));
  return buildPhase({
    price,
    quantity: item.integer("quantity", 1, 1000) ?? 1,
    start,
    end,
    anchor: phase.oneOf("billing_cycle_anchor", ["automatic", "phase_start"]) ?? null,
    prorationBehavior: phase.oneOf("proration_behavior", prorationBehaviours) ?? "create_prorations",
    metadata: phase.metadata("metadata"),
    discounts: readDiscounts(subscription, phase),
    taxed: readAutomaticTax(context, phase, context.store.get("customer", String(subscription.customer)), price),
  });
}

export function readPhases(
  context: Context,
  schedule: SubscriptionSchedule,
  subscription: Subscription,
  list: readonly Parameters[],
): Phase[] {
  const first = schedule.phases.find((phase) => phase.start_date === schedule.current_phase?.start_date);
  if (!first || list.length === 0 || list.length > 10)
    throw invalidRequest("Pass the current phase and at most nine to follow it.", "phases");
  const phases: Phase[] = [];
  for (const parameters of list) phases.push(readPhase(context, subscription, parameters, phases.at(-1)?.end_date ?? first.start_date));
  return phases;
}
