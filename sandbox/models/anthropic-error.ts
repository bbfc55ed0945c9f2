/** Anthropic's error body. It names the kind of an error where OpenAI has a code. */
import { randomUUID } from "node:crypto";
import type { FastifyReply } from "fastify";
import type { OpenAiError } from "./openai-error.ts";

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
};

/** Anthropic has no error code for blocked content; only the message says so. */
const blocked = "Output blocked by content filtering policy";

export function sendAnthropicError(reply: FastifyReply, { statusCode, headers, body }: OpenAiError): FastifyReply {
  const message = body.error.code === "content_filter" ? blocked : body.error.message;
  const error = { type: types[statusCode] ?? "api_error", message };
  return reply
    .code(statusCode)
    .headers(headers)
    .send({ type: "error", error, request_id: `req_${randomUUID()}` });
}
