import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidRequest, resourceMissing } from "./errors.ts";
import { oldestListedEvent } from "./events.ts";
import type { Parameters } from "./parameters.ts";
import type { Filter } from "./store.ts";
import type { StripeEvent } from "./wire.ts";

function eventFilters(parameters: Parameters, context: Context): Filter[] {
  const type = parameters.text("type");
  const types = parameters.texts("types");
  const delivered = parameters.boolean("delivery_success");
  if (type && types) throw invalidRequest("You may only specify one of type and types.", "types");
  if (types && types.length > 20) throw invalidRequest("You may pass up to 20 types.", "types");
  const filters: Filter[] = [{ path: "created", operator: ">=", value: oldestListedEvent(context) }];
  // A type may contain one *, for a whole group such as `invoice.*`.
  if (type) filters.push({ path: "type", operator: "glob", value: type.replaceAll(/[[?]/g, "") });
  if (types && types.length > 0) filters.push({ path: "type", operator: "in", value: types });
  if (delivered !== undefined) filters.push({ path: "pending_webhooks", operator: delivered ? "=" : ">", value: 0 });
  return filters;
}

function retrieve({ context, id }: ApiCall): StripeEvent {
  const event = context.store.get("event", id);
  if (event.created < oldestListedEvent(context)) throw resourceMissing("event", id, "id");
  return event;
}

export const eventRoutes: ApiRoute[] = [
  listRoute("event", "/v1/events", eventFilters),
  { method: "GET", url: "/v1/events/:id", handle: retrieve },
];
