import type { Context } from "./context.ts";
import { apiVersion } from "./context.ts";
import { newId } from "./ids.ts";
import type { Kind, Kinds } from "./kinds.ts";
import type { EventObject, EventType, StripeEvent } from "./wire.ts";

/**
 * Stores the event and queues its webhook in the transaction of the change; it is delivered after the commit. `previous` has
 * the former values of the changed fields, like Stripe's `previous_attributes`.
 */
export function emit<Type extends EventType>(context: Context, type: Type, object: EventObject<Type>, previous?: object): void {
  const event = {
    id: newId("evt"),
    object: "event",
    api_version: apiVersion,
    created: context.now(),
    data: { object, ...(previous && { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: context.request?.id ?? null, idempotency_key: context.request?.idempotencyKey ?? null },
    type,
  };
  // The parameters' types ensure that type and object match, but the compiler can't see that the pair is a member of the union.
  context.store.insert("event", event as unknown as StripeEvent);
  const nowMs = Date.now();
  context.store.statement("insert into deliveries (event, first_at_ms, next_at_ms) values (?, ?, ?)").run(event.id, nowMs, nowMs);
}

/** The former values of every top-level field that differs. */
function changedFields(before: object, after: object): Record<string, unknown> {
  const later = new Map(Object.entries(after));
  return Object.fromEntries(Object.entries(before).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(later.get(key))));
}

/** Saves `after` and, if it differs from what is stored, emits `type` with the former values. */
export function saveChange<K extends Kind, Type extends EventType>(
  context: Context,
  kind: K,
  type: Type,
  after: Kinds[K] & EventObject<Type>,
): Kinds[K] {
  const before = context.store.find(kind, after.id);
  const previous = before ? changedFields(before, after) : {};
  context.store.save(kind, after);
  if (Object.keys(previous).length > 0) emit(context, type, after, previous);
  return after;
}
