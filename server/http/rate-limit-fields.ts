/** The response fields RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), which tell callers of a limit. */
import type { FastifyReply } from "fastify";
import type { RefusalCode } from "#domain/errors.ts";
import { DomainError } from "#domain/errors.ts";

export interface RateLimit {
  name: string;
  /** Requests or attempts within the window. */
  quota: number;
  windowSeconds: number;
  remaining: number;
  /** Until more of them are available. */
  resetSeconds: number;
}

/** A refusal because a limit is used up. */
export class RateLimitError extends DomainError {
  readonly limit: RateLimit;

  constructor(code: RefusalCode, message: string, limit: RateLimit) {
    super(code, message, { retryAfterSeconds: limit.resetSeconds });
    this.limit = limit;
  }
}

/** Adds a limit to those that the response tells of. */
export function addRateLimit(reply: FastifyReply, { name, quota, windowSeconds, remaining, resetSeconds }: RateLimit): void {
  const add = (field: string, item: string) => {
    const before = reply.getHeader(field);
    reply.header(field, before === undefined ? item : `${before}, ${item}`);
  };
  add("ratelimit-policy", `"${name}";q=${quota};w=${windowSeconds}`);
  add("ratelimit", `"${name}";r=${remaining};t=${resetSeconds}`);
}
