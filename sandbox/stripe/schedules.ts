import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { endDiscount } from "./coupons.ts";
import { invalidRequest, missingParameter, notPlayed } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { nextBoundary, sameInterval } from "./periods.ts";
import type { Phase } from "./schedule-phases.ts";
import { buildPhase, discountIdsOf, readPhases } from "./schedule-phases.ts";
import { changePrice, replan } from "./subscription-cycle.ts";
import { cancelSubscription, itemOf, releaseSchedule } from "./subscription-status.ts";
import { prorationBehaviours } from "./subscriptions.ts";
import type { Subscription, SubscriptionSchedule } from "./wire.ts";

function create({ context, parameters }: ApiCall): SubscriptionSchedule {
  const subscription = context.store.reference("subscription", parameters.requiredText("from_subscription"), "from_subscription");
  if (subscription.schedule !== null)
    throw invalidRequest(
      `You cannot migrate a subscription that is already attached to a schedule: \`${String(subscription.schedule)}\`.`,
      "from_subscription",
    );
  if (subscription.status === "canceled") throw invalidRequest("You cannot migrate a subscription that is canceled.", "from_subscription");
  if (subscription.cancel_at !== null)
    throw invalidRequest("You cannot migrate a subscription that is set to cancel. Take the cancellation back first.", "from_subscription");
  const item = itemOf(subscription);
  const phase = buildPhase({
    price: item.price,
    quantity: item.quantity ?? 1,
    start: item.current_period_start,
    end: item.current_period_end,
    anchor: null,
    prorationBehavior: "create_prorations",
    metadata: {},
    discounts: discountIdsOf(subscription.discounts),
    taxed: subscription.automatic_tax.enabled,
  });
  const schedule: SubscriptionSchedule = {
    id: newId("sub_sched"),
    object: "subscription_schedule",
    application: null,
    billing_mode: subscription.billing_mode,
    canceled_at: null,
    completed_at: null,
    created: context.now(),
    current_phase: { start_date: phase.start_date, end_date: phase.end_date },
    customer: subscription.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: subscription.automatic_tax,
      billing_cycle_anchor: "automatic",
      billing_thresholds: null,
      collection_method: "charge_automatically",
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: "self" },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: "release",
    livemode: false,
    metadata: parameters.metadata("metadata"),
    pause_schedules: [],
    phases: [phase],
    released_at: null,
    released_subscription: null,
    status: "active",
    subscription: subscription.id,
    test_clock: null,
  };
  context.store.insert("subscription_schedule", schedule);
  context.store.plan(schedule.id, "advance_schedule", phase.end_date);
  emit(context, "subscription_schedule.created", schedule);
  saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, schedule: schedule.id });
  return schedule;
}

function sells(phase: Phase, price: string, quantity: number): boolean {
  const item = phase.items[0];
  return item?.price === price && (item.quantity ?? 1) === quantity;
}

/**
 * When a phase brings a price with another interval, Stripe may keep the subscription's anchor, as somebody saw there
 * (github.com/better-auth/better-auth/issues/11336): the price changes without an invoice. The phase can ask for a new anchor.
 */
function refuseKeptAnchor(phase: Phase, index: number, changesInterval: boolean): void {
  const asked = phase.billing_cycle_anchor === "phase_start";
  const name = `phases[${index}][billing_cycle_anchor]`;
  if (index === 0 && asked) throw invalidRequest("The sandbox does not move the anchor of the phase that runs.", name);
  if (index > 0 && changesInterval && !asked)
    throw invalidRequest(
      "Stripe may keep the billing cycle's anchor though this phase has another interval, and the sandbox does not play that. Pass billing_cycle_anchor=phase_start.",
      name,
    );
}

/** Stripe prorates a price, a quantity or an anchor that changes within a period, unless told not to. The sandbox plays no prorations. */
function refuseProrations(
  context: Context,
  subscription: Subscription,
  phases: readonly Phase[],
  ofCurrent: Phase["proration_behavior"],
): void {
  const item = itemOf(subscription);
  let sold = { price: item.price, quantity: item.quantity ?? 1, anchor: subscription.billing_cycle_anchor };
  for (const [index, phase] of phases.entries()) {
    const quantity = phase.items[0]?.quantity ?? 1;
    const start = index === 0 ? context.now() : phase.start_date;
    const behaviour = index === 0 ? ofCurrent : phase.proration_behavior;
    const within = nextBoundary(sold.anchor, sold.price, start - 1) !== start;
    const price = context.store.get("price", String(phase.items[0]?.price));
    const keeps = sameInterval(sold.price, price);
    refuseKeptAnchor(phase, index, !keeps);
    if (within && keeps && phase.billing_cycle_anchor === "phase_start")
      throw invalidRequest("The sandbox moves the anchor only at the end of a period.", `phases[${index}][billing_cycle_anchor]`);
    if (!sells(phase, sold.price.id, sold.quantity) && within && behaviour !== "none")
      throw invalidRequest(
        `Stripe would prorate this phase, which changes the price or the quantity within a period, and the sandbox does not. Pass proration_behavior=none, or start the phase at the end of a period.`,
        index === 0 ? "proration_behavior" : `phases[${index}][proration_behavior]`,
      );
    sold = { price, quantity, anchor: keeps && phase.billing_cycle_anchor !== "phase_start" ? sold.anchor : start };
  }
}

function update({ context, id, parameters }: ApiCall): SubscriptionSchedule {
  const schedule = context.store.get("subscription_schedule", id);
  if (schedule.status !== "active")
    throw invalidRequest(`You cannot update a subscription schedule that is currently in the \`${schedule.status}\` status.`);
  const prorations = parameters.oneOf("proration_behavior", prorationBehaviours) ?? "create_prorations";
  const list = parameters.objects("phases");
  const subscription = context.store.get("subscription", String(schedule.subscription));
  const phases = list ? readPhases(context, schedule, subscription, list) : schedule.phases;
  const current = phases[0];
  if (!current) throw missingParameter("phases");
  refuseProrations(context, subscription, phases, prorations);
  const after = saveChange(context, "subscription_schedule", "subscription_schedule.updated", {
    ...schedule,
    current_phase: list ? { start_date: current.start_date, end_date: current.end_date } : schedule.current_phase,
    end_behavior: parameters.oneOf("end_behavior", ["release", "cancel"]) ?? schedule.end_behavior,
    metadata: parameters.metadata("metadata", schedule.metadata ?? {}),
    phases,
  });
  if (list) enterPhase(context, subscription, current);
  if (after.current_phase) context.store.plan(id, "advance_schedule", after.current_phase.end_date);
  return after;
}

/** Ends all discounts of the subscription that the phase does not name. */
function endOtherDiscounts(context: Context, subscription: Subscription, phase: Phase): void {
  const named = phase.discounts.map(({ discount }) => discount);
  for (const id of discountIdsOf(subscription.discounts).filter((known) => !named.includes(known))) {
    context.store.unplan(id);
    endDiscount(context, id);
  }
}

function enterPhase(context: Context, before: Subscription, phase: Phase): void {
  endOtherDiscounts(context, before, phase);
  const subscription = context.store.get("subscription", before.id);
  const planned = phase.items[0];
  const price = planned && context.store.find("price", String(planned.price));
  if (!price) return;
  const quantity = planned.quantity ?? 1;
  const item = itemOf(subscription);
  const changed =
    price.id === item.price.id && quantity === item.quantity ? subscription : changePrice(context, subscription, price, quantity);
  const anchor = phase.billing_cycle_anchor === "phase_start" ? context.now() : changed.billing_cycle_anchor;
  const after = saveChange(context, "subscription", "customer.subscription.updated", {
    ...changed,
    billing_cycle_anchor: anchor,
    automatic_tax: phase.automatic_tax ?? changed.automatic_tax,
    metadata: { ...changed.metadata, ...phase.metadata },
  });
  replan(context, after);
}

/** The last phase is over: the schedule releases its subscription, or has completed and ends it. */
function completeSchedule(context: Context, schedule: SubscriptionSchedule, subscription: Subscription): void {
  if (schedule.end_behavior !== "cancel") {
    releaseSchedule(context, schedule);
    return;
  }
  saveChange(context, "subscription_schedule", "subscription_schedule.completed", {
    ...schedule,
    completed_at: context.now(),
    current_phase: null,
    status: "completed",
  });
  cancelSubscription(context, subscription, "cancellation_requested");
}

/** Ends a phase: switches to the next phase's price, or releases the subscription after the last phase. */
export function advanceSchedule(context: Context, scheduleId: string): void {
  const schedule = context.store.find("subscription_schedule", scheduleId);
  if (schedule?.status !== "active") return;
  const subscription = context.store.get("subscription", String(schedule.subscription));
  const next = schedule.phases.find((phase) => phase.start_date === schedule.current_phase?.end_date);
  if (!next) {
    completeSchedule(context, schedule, subscription);
    return;
  }
  const currentPhase = { start_date: next.start_date, end_date: next.end_date };
  saveChange(context, "subscription_schedule", "subscription_schedule.updated", { ...schedule, current_phase: currentPhase });
  context.store.plan(schedule.id, "advance_schedule", next.end_date);
  enterPhase(context, subscription, next);
}

function release({ context, id, parameters }: ApiCall): SubscriptionSchedule {
  const schedule = context.store.get("subscription_schedule", id);
  parameters.only("preserve_cancel_date", "false");
  if (schedule.status !== "active")
    throw invalidRequest(`You cannot release a subscription schedule that is currently in the \`${schedule.status}\` status.`);
  return releaseSchedule(context, schedule);
}

function cancel({ context, id, parameters }: ApiCall): SubscriptionSchedule {
  const schedule = context.store.get("subscription_schedule", id);
  // Stripe's defaults bill what is left of the period, which the sandbox does not play.
  for (const key of ["invoice_now", "prorate"]) if (parameters.boolean(key) !== false) throw notPlayed(key, "false");
  if (schedule.status !== "active")
    throw invalidRequest(`You cannot cancel a subscription schedule that is currently in the \`${schedule.status}\` status.`);
  cancelSubscription(context, context.store.get("subscription", String(schedule.subscription)), "cancellation_requested");
  return context.store.get("subscription_schedule", id);
}

export const scheduleRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/subscription_schedules", handle: create },
  { method: "POST", url: "/v1/subscription_schedules/:id", handle: update },
  { method: "POST", url: "/v1/subscription_schedules/:id/release", handle: release },
  { method: "POST", url: "/v1/subscription_schedules/:id/cancel", handle: cancel },
  listRoute("subscription_schedule", "/v1/subscription_schedules", (parameters) => equalityFilters(parameters, { customer: "customer" })),
  retrieveRoute("subscription_schedule", "/v1/subscription_schedules"),
];
