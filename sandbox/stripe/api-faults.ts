/** Faults of Stripe's API, which a test or a person sets by method and path: refusals, lost connections and lost answers. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

/** The last two strike after the work was done: the connection is cut, or no answer ever comes. */
export const apiFaultKinds = ["rate_limited", "server_error", "cut", "cut_after_work", "silent_after_work"] as const;
export type ApiFaultKind = (typeof apiFaultKinds)[number];

export interface ApiFault {
  kind: ApiFaultKind;
  /** Every method by default. */
  method?: string;
  /** The beginning of the path, such as `/v1/customers`; every path by default. */
  path?: string;
  /** The number of calls it applies to; 1 by default. */
  count?: number;
}

const messages = {
  rate_limited: "Too many requests hit the API too quickly. We recommend an exponential backoff of your requests.",
  server_error: "An unknown error occurred. The sandbox was told to fail.",
} as const;
const retryAfterSeconds = "1";

export class ApiFaults {
  private faults: ApiFault[] = [];
  private readonly afterWork = new WeakMap<IncomingMessage, ApiFaultKind>();

  /** Replaces the pending faults. */
  set(faults: readonly ApiFault[]): void {
    this.faults = faults.map((fault) => ({ ...fault, count: fault.count ?? 1 }));
  }

  private take(method: string, path: string): ApiFaultKind | undefined {
    const fault = this.faults.find(
      (candidate) =>
        (candidate.count ?? 0) > 0 &&
        (candidate.method ?? method) === method &&
        (candidate.path === undefined || path.startsWith(candidate.path)),
    );
    if (fault) fault.count = (fault.count ?? 1) - 1;
    return fault?.kind;
  }

  /** Throws Stripe's refusal, or returns true if the connection was cut. A call that is struck here did nothing, so no key remembers it. */
  strikeBefore(request: FastifyRequest, reply: FastifyReply): boolean {
    const kind = this.take(request.method, request.raw.url?.split("?")[0] ?? "");
    if (kind === "rate_limited") {
      reply.headers({ "retry-after": retryAfterSeconds, "stripe-rate-limited-reason": "global-rate" });
      throw new ApiError(429, { type: "invalid_request_error", code: "rate_limit", message: messages[kind] });
    }
    if (kind === "server_error") throw new ApiError(500, { type: "api_error", message: messages[kind] });
    if (kind === "cut") {
      reply.hijack();
      request.raw.socket.destroy();
      return true;
    }
    if (kind) this.afterWork.set(request.raw, kind);
    return false;
  }

  /** Keeps the answer of a call that was to lose it. */
  async strikeAfter({ raw }: FastifyRequest): Promise<void> {
    const kind = this.afterWork.get(raw);
    if (kind === "cut_after_work") raw.socket.destroy();
    if (kind === "silent_after_work" && !raw.socket.destroyed)
      await new Promise<void>((resolve) => raw.socket.once("close", () => resolve()));
  }
}
