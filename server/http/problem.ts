/** Sends every refusal as `application/problem+json` (RFC 9457) with a stable code, and every bug as a 500 without details. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import type { Problem } from "../contract/common.ts";
import { failureKind } from "../failures.ts";
import { clientNetwork, shortNetwork } from "./client-network.ts";
import { addRateLimit, RateLimitError } from "./rate-limit-fields.ts";
import { optionalViewerOf } from "./viewer.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** An error on our side means that nothing was charged: what was not begun costs nothing, and a hold is released. */
    freeIfFailed?: boolean;
  }
}

interface FieldFault {
  field: string;
  message: string;
}

/** A request that does not fit its contract. */
export class ValidationError extends DomainError {
  constructor(fields: FieldFault[]) {
    super("validation_failed", fields[0]?.message ?? "The request does not have the expected form", { fields });
  }
}

const titles: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

export function toProblem(status: number, code: string, detail: string, details: Readonly<Record<string, unknown>> = {}): Problem {
  return { ...details, type: `urn:tessera:problem:${code}`, title: titles[status] ?? "Error", status, detail, code, error: detail };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.retryAfterSeconds !== undefined) reply.header("retry-after", String(problem.retryAfterSeconds));
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  reply.header("content-type", "application/problem+json; charset=utf-8");
  // Browsers and proxies must not cache a refusal, even at addresses whose normal response may be cached.
  reply.header("cache-control", "no-store");
  return reply.code(problem.status).serializer(JSON.stringify).send(problem);
}

/** Our refusal for an error that Fastify itself raises. */
function refusalOf(error: FastifyError): DomainError | undefined {
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return new DomainError("body_too_large", "The request is too large");
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new DomainError("unsupported_media_type", "The request's content type is not supported");
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new DomainError("invalid_json", "The request could not be read");
  return undefined;
}

/**
 * Logs every refusal, so that attempts at what is not allowed can be found later. The line contains nothing that the caller sent. Refusals of
 * a flood are not logged one by one; /metrics counts them.
 */
export function logRefusal(request: FastifyRequest, { code, status }: Pick<DomainError, "code" | "status">): void {
  if (code === "rate_limited") return;
  const { method, routeOptions } = request;
  // The address is missing if the caller has already disconnected.
  const network = shortNetwork(clientNetwork(request.ip ?? "gone"));
  request.log.info(
    { code, status, method, route: routeOptions.url, network, userId: optionalViewerOf(request)?.userId },
    "request refused",
  );
}

/** What a person may rely on after an error on our side. What a call changes at Stripe stays changed if we fail later. */
function afterFailure({ method, routeOptions }: FastifyRequest): string {
  if (routeOptions.config.freeIfFailed) return "Nothing was charged";
  if (method === "GET" || method === "HEAD") return "Try again in a moment";
  return "It may have been done all the same; look before you try again";
}

function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = error instanceof DomainError ? error : refusalOf(error);
  if (refusal instanceof RateLimitError) addRateLimit(reply, refusal.limit);
  if (refusal) {
    logRefusal(request, refusal);
    return sendProblem(reply, toProblem(refusal.status, refusal.code, refusal.message, refusal.details));
  }
  // For example, PostgreSQL can't be reached or is out of connections. This is not a refusal; the caller may try again.
  if (failureKind(error) === "outage") {
    request.log.warn({ err: { code: error.code, message: error.message } }, "a service we depend on does not answer");
    return sendProblem(
      reply,
      toProblem(503, "service_unavailable", "The service is briefly unavailable. Try again in a moment", { retryAfterSeconds: 2 }),
    );
  }
  request.log.error({ err: error }, "request failed");
  return sendProblem(reply, toProblem(500, "internal_error", `Something went wrong on our side. ${afterFailure(request)}`));
}

export function sendNotFound(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, toProblem(404, "not_found", "There is nothing at this address"));
}

export function registerProblems(app: FastifyInstance): void {
  app.setErrorHandler(handleError);
}
