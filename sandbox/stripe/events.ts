import type { Context } from "./context.ts";
import { apiVersion, daySeconds } from "./context.ts";
import { queueForEndpoints } from "./deliver-endpoints.ts";
import { newId } from "./ids.ts";
import type { Kind, Kinds } from "./kinds.ts";
import type { EventObject, EventType, StripeEvent } from "./wire.ts";

/**
 * Stores the event and queues its webhook in the transaction of the change; it is delivered after the commit. `previous` has
 * the former values of the changed fields, like Stripe's `previous_attributes`.
 */
export function emit<Type extends EventType>(context: Context, type: Type, object: EventObject<Type>, previous?: object): void {
  store(context, type, object, previous);
}

function store(context: Context, type: EventType, object: object, previous: object | undefined): void {
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
  // The types of `emit` and `saveChange` ensure that type and object match. Checking it here too would cost the compiler seconds.
  context.store.insert("event", event as unknown as StripeEvent);
  sweepEvents(context);
  const nowMs = Date.now();
  context.store.statement("insert into deliveries (event, first_at_ms, next_at_ms) values (?, ?, ?)").run(event.id, nowMs, nowMs);
  queueForEndpoints(context.store, event.id, type);
}

/** Stripe lists events for 30 days. */
export function oldestListedEvent(context: Context): number {
  return context.now() - 30 * daySeconds;
}

/** Deletes the events that are listed no longer and are not to be delivered any more. */
function sweepEvents(context: Context): void {
  const before = oldestListedEvent(context);
  context.store
    .statement(
      `delete from objects where kind = 'event' and json_extract(data, '$.created') < ?
        and not exists (select 1 from deliveries where event = objects.id and state = 'waiting')`,
    )
    .run(before);
  context.store.statement("delete from deliveries where state <> 'waiting' and not exists (select 1 from objects where id = event)").run();
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The former values of what differs, within nested objects too; null for what was not there. A list is given as a whole. */
function changedFields(before: object, after: object): Record<string, unknown> {
  const later = new Map<string, unknown>(Object.entries(after));
  const changed = Object.entries(before).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
    const now = later.get(key);
    if (JSON.stringify(value) === JSON.stringify(now)) return [];
    return [[key, isPlain(value) && isPlain(now) ? changedFields(value, now) : value]];
  });
  const added = [...later.keys()].filter((key) => !Object.hasOwn(before, key)).map((key): [string, unknown] => [key, null]);
  return Object.fromEntries([...changed, ...added]);
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
  if (Object.keys(previous).length > 0) store(context, type, after, previous);
  return after;
}
