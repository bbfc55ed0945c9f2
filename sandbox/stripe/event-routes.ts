import type { ApiRoute } from "./api.ts";
import { listRoute, retrieveRoute } from "./api.ts";
import { invalidRequest } from "./errors.ts";
import type { Parameters } from "./parameters.ts";
import type { Filter } from "./store.ts";

function eventFilters(parameters: Parameters): Filter[] {
  const type = parameters.text("type");
  const types = parameters.texts("types");
  const delivered = parameters.boolean("delivery_success");
  if (type && types) throw invalidRequest("You may only specify one of type and types.", "types");
  if (types && types.length > 20) throw invalidRequest("You may pass up to 20 types.", "types");
  const filters: Filter[] = [];
  // A type may contain one *, for a whole group such as `invoice.*`.
  if (type) filters.push({ path: "type", operator: "glob", value: type.replaceAll(/[[?]/g, "") });
  if (types && types.length > 0) filters.push({ path: "type", operator: "in", value: types });
  if (delivered !== undefined) filters.push({ path: "pending_webhooks", operator: delivered ? "=" : ">", value: 0 });
  return filters;
}

export const eventRoutes: ApiRoute[] = [listRoute("event", "/v1/events", eventFilters), retrieveRoute("event", "/v1/events")];
