/** Webhook endpoints that the API makes. Each gets the events it asks for, signed with its own secret (deliver-endpoints.ts). */
import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute, retrieveRoute } from "./api.ts";
import { apiVersion } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { newId } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
import type { WebhookEndpoint } from "./wire.ts";

/** For each account and mode. */
const endpointLimit = 16;

function readUrl(parameters: Parameters): string | undefined {
  const url = parameters.text("url");
  if (url === undefined || url === null) return undefined;
  if (!(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) throw invalidRequest("Invalid URL", "url", "url_invalid");
  return url;
}

function readEvents(parameters: Parameters): string[] | undefined {
  const events = parameters.texts("enabled_events");
  if (events?.length === 0) throw invalidRequest("You must enable at least one event.", "enabled_events");
  for (const event of events ?? []) {
    if (event !== "*" && !/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(event))
      throw invalidRequest(`Invalid enabled_events: ${event.slice(0, 100)} is not an event type`, "enabled_events");
  }
  return events;
}

function create({ context, parameters }: ApiCall): WebhookEndpoint {
  const url = readUrl(parameters);
  const events = readEvents(parameters);
  if (url === undefined) throw missingParameter("url");
  if (events === undefined) throw missingParameter("enabled_events");
  parameters.refuse("connect");
  parameters.only("api_version", apiVersion);
  if (context.store.where("webhook_endpoint", [], endpointLimit).length === endpointLimit)
    throw invalidRequest(`You have reached the maximum of ${endpointLimit} test webhook endpoints.`);
  const endpoint: WebhookEndpoint = {
    id: newId("we"),
    object: "webhook_endpoint",
    api_version: parameters.text("api_version") ?? null,
    application: null,
    created: context.now(),
    description: parameters.text("description") ?? null,
    enabled_events: events,
    livemode: false,
    metadata: parameters.metadata("metadata"),
    status: "enabled",
    url,
  };
  const secret = newId("whsec", 32);
  context.store.insert("webhook_endpoint", endpoint);
  context.store.hide("webhook_endpoint", endpoint.id, { secret });
  // Only this answer contains the secret.
  return { ...endpoint, secret };
}

function update({ context, id, parameters }: ApiCall): WebhookEndpoint {
  const before = context.store.get("webhook_endpoint", id);
  const description = parameters.text("description");
  const disabled = parameters.boolean("disabled");
  return context.store.save("webhook_endpoint", {
    ...before,
    description: description === undefined ? before.description : description,
    enabled_events: readEvents(parameters) ?? before.enabled_events,
    metadata: parameters.metadata("metadata", before.metadata),
    status: disabled === undefined ? before.status : disabled ? "disabled" : "enabled",
    url: readUrl(parameters) ?? before.url,
  });
}

function remove({ context, id }: ApiCall): object {
  context.store.get("webhook_endpoint", id);
  const tombstone = { id, object: "webhook_endpoint", deleted: true } as const;
  context.store.markDeleted(id, tombstone);
  return tombstone;
}

export const webhookEndpointRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/webhook_endpoints", handle: create },
  { method: "POST", url: "/v1/webhook_endpoints/:id", handle: update },
  { method: "DELETE", url: "/v1/webhook_endpoints/:id", handle: remove },
  listRoute("webhook_endpoint", "/v1/webhook_endpoints", () => []),
  retrieveRoute("webhook_endpoint", "/v1/webhook_endpoints"),
];
