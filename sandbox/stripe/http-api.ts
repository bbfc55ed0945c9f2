import { setImmediate } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiRoute } from "./api.ts";
import type { ApiFaults } from "./api-faults.ts";
import { balanceRoutes, releaseBalance } from "./balance.ts";
import { catalogueRoutes } from "./catalogue.ts";
import { checkoutRoutes } from "./checkout.ts";
import type { Context } from "./context.ts";
import { apiVersion } from "./context.ts";
import { couponRoutes } from "./coupons.ts";
import { creditNoteRoutes } from "./credit-notes.ts";
import { customerRoutes } from "./customers.ts";
import { disputeRoutes } from "./disputes.ts";
import { ApiError, invalidRequest } from "./errors.ts";
import { eventRoutes } from "./event-routes.ts";
import { expand } from "./expand.ts";
import { parseForm } from "./form.ts";
import type { StoredResponse } from "./idempotency.ts";
import { fingerprintOf, keyInUse, recallResponse, refuseLongKey, rememberResponse } from "./idempotency.ts";
import { newId } from "./ids.ts";
import { invoiceRoutes } from "./invoices.ts";
import { unplayed, unplayedRoutes } from "./not-played.ts";
import { Parameters } from "./parameters.ts";
import { paymentIntentRoutes } from "./payment-intents.ts";
import { paymentMethodRoutes } from "./payment-methods.ts";
import { portalRoutes } from "./portal.ts";
import { portalConfigurationRoutes } from "./portal-configurations.ts";
import { refundRoutes } from "./refunds.ts";
import { scheduleRoutes } from "./schedules.ts";
import { subscriptionRoutes } from "./subscriptions.ts";
import { taxIdRoutes } from "./tax-ids.ts";
import { taxRoutes } from "./tax-settings.ts";
import { webhookEndpointRoutes } from "./webhook-endpoints.ts";

const apiRoutes: readonly ApiRoute[] = [
  ...creditNoteRoutes,
  ...customerRoutes,
  ...catalogueRoutes,
  ...couponRoutes,
  ...checkoutRoutes,
  ...paymentMethodRoutes,
  ...paymentIntentRoutes,
  ...refundRoutes,
  ...balanceRoutes,
  ...disputeRoutes,
  ...subscriptionRoutes,
  ...scheduleRoutes,
  ...unplayedRoutes,
  ...invoiceRoutes,
  ...portalRoutes,
  ...portalConfigurationRoutes,
  ...taxIdRoutes,
  ...taxRoutes,
  ...webhookEndpointRoutes,
  ...eventRoutes,
];

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The sandbox accepts every test key and refuses live keys. */
function checkKey(request: FastifyRequest): void {
  const [scheme, credentials] = (headerOf(request, "authorization") ?? "").split(" ");
  const key =
    scheme?.toLowerCase() === "basic"
      ? Buffer.from(credentials ?? "", "base64")
          .toString()
          .split(":")[0]
      : credentials;
  if (!key)
    throw new ApiError(401, {
      type: "invalid_request_error",
      message:
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    });
  if (!/^(sk|rk)_test_\w+$/.test(key))
    throw new ApiError(401, { type: "invalid_request_error", message: `Invalid API Key provided: ${key.slice(0, 8)}${"*".repeat(8)}` });
}

function checkVersion(request: FastifyRequest): void {
  const version = headerOf(request, "stripe-version");
  if (version !== undefined && version !== apiVersion)
    throw invalidRequest(`Invalid Stripe API version: ${version.slice(0, 50)}. The sandbox speaks ${apiVersion}.`);
}

function textOf(request: FastifyRequest): string {
  const query = request.raw.url?.split("?")[1] ?? "";
  const body = typeof request.body === "string" ? request.body : "";
  return [query, body].filter((part) => part !== "").join("&");
}

function failure(error: ApiError, requestId: string): StoredResponse {
  return { status: error.status, body: JSON.stringify(error.body(requestId)) };
}

/** Runs a call in one transaction. A refusal rolls it back, except for a declined card, whose failed charge is stored. */
function execute(context: Context, route: ApiRoute, id: string, form: string): StoredResponse {
  const requestId = context.request?.id ?? "";
  return context.store.transaction(() => {
    try {
      const parameters = new Parameters(parseForm(form));
      const paths = parameters.texts("expand") ?? [];
      releaseBalance(context);
      const object = route.handle({ context, id, parameters });
      parameters.refuseUnknown();
      return { status: 200, body: JSON.stringify(expand(context, object, paths)) };
    } catch (error) {
      if (error instanceof ApiError && error.progress === "kept") return failure(error, requestId);
      throw error;
    }
  });
}

/** A refusal of a call that had begun is an answer too: the same key gets it again. Throws only for calls that did not begin. */
function executeOrRefuse(context: Context, route: ApiRoute, id: string, form: string): StoredResponse {
  try {
    return execute(context, route, id, form);
  } catch (error) {
    if (!(error instanceof ApiError) || error.progress === "not begun") throw error;
    return failure(error, context.request?.id ?? "");
  }
}

function executeOnce(context: Context, route: ApiRoute, request: FastifyRequest, key: string): StoredResponse & { replayed: boolean } {
  const form = textOf(request);
  const path = request.raw.url?.split("?")[0] ?? "";
  const fingerprint = fingerprintOf(route.method, path, form);
  return context.store.transaction(() => {
    const known = recallResponse(context, key, fingerprint);
    if (known) return { ...known, replayed: true };
    const response = executeOrRefuse(context, route, idOf(request), form);
    rememberResponse(context, key, fingerprint, response);
    return { ...response, replayed: false };
  });
}

function idOf(request: FastifyRequest): string {
  return (request.params as { id?: string }).id ?? "";
}

function send(reply: FastifyReply, response: StoredResponse): FastifyReply {
  return reply.code(response.status).type("application/json; charset=utf-8").send(response.body);
}

/** Registers `/v1/*`. `afterChange` is called after each commit, to deliver the queued webhooks. */
export function mountApi(server: FastifyInstance, context: Context, faults: ApiFaults, afterChange: () => void): void {
  const inProgress = new Set<string>();

  async function answer(route: ApiRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const requestId = newId("req", 14);
    const key = route.method === "GET" ? undefined : headerOf(request, "idempotency-key");
    reply.headers({
      "request-id": requestId,
      "stripe-version": apiVersion,
      "cache-control": "no-cache, no-store",
      ...(key && { "idempotency-key": key }),
    });
    const called: Context = { ...context, request: { id: requestId, idempotencyKey: key ?? null } };
    try {
      checkKey(request);
      checkVersion(request);
      if (faults.strikeBefore(request, reply)) return reply;
      if (!key) return send(reply, execute(called, route, idOf(request), textOf(request)));
      refuseLongKey(key);
      if (inProgress.has(key)) throw keyInUse(key);
      inProgress.add(key);
      try {
        // Wait one turn of the event loop, so that a second request sent at the same time finds this one in progress, as at Stripe.
        await setImmediate();
        const response = executeOnce(called, route, request, key);
        if (response.replayed) reply.header("idempotent-replayed", "true");
        return send(reply, response);
      } finally {
        inProgress.delete(key);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return send(reply, failure(error, requestId));
    } finally {
      if (route.method !== "GET") afterChange();
    }
  }

  server.addHook("onSend", (request) => faults.strikeAfter(request));
  for (const route of apiRoutes) {
    server.route({ method: route.method, url: route.url, handler: (request, reply) => answer(route, request, reply) });
  }
  server.all("/v1/*", (request, reply) => {
    const path = request.raw.url?.split("?")[0] ?? "";
    const message = `Unrecognized request URL (${request.method}: ${path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`;
    const error = unplayed(request.method, path) ?? new ApiError(404, { type: "invalid_request_error", message });
    return send(reply, failure(error, newId("req", 14)));
  });
}
