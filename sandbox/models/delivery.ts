import type { FastifyReply, FastifyRequest } from "fastify";
import type { ModelCall } from "./calls.ts";
import type { ModelFault } from "./faults.ts";
import { contentFiltered, invalidRequest, rateLimited, serverError } from "./openai-error.ts";

/** Milliseconds per token, unless the request sets its own; 0 for no delay. */
export interface Pace {
  milliseconds: number;
}

export const slowestPaceMs = 10_000;
const retryAfterSeconds = 2;

export function paceOf(request: FastifyRequest, usual: Pace): () => number {
  const header = request.headers["x-sandbox-pace-ms"];
  if (header === undefined) return () => usual.milliseconds;
  const pace = Number(header);
  if (Number.isInteger(pace) && pace >= 0 && pace <= slowestPaceMs && header !== "") return () => pace;
  throw invalidRequest(`The header x-sandbox-pace-ms is a whole number of milliseconds from 0 to ${slowestPaceMs}.`, null);
}

/** Throws for a fault that turns the call away. `filtered`: how the provider says that a filter refused it before anything was sent. */
export function turnAway(
  fault: ModelFault | undefined,
  model: string,
  call: ModelCall,
  filtered: (fault?: ModelFault) => Error = contentFiltered,
): void {
  const kind = fault?.fault;
  if (kind !== "rate_limited" && kind !== "server_error" && !(kind === "content_filter" && fault?.afterTokens === 0)) return;
  call.outcome = "failed";
  if (kind === "content_filter") throw filtered(fault);
  throw kind === "rate_limited" ? rateLimited(model, retryAfterSeconds) : serverError();
}

/** Sends with `deliver`, and notes how the call ended. */
export async function produce(
  reply: FastifyReply,
  fault: ModelFault | undefined,
  call: ModelCall,
  deliver: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  reply.hijack();
  reply.raw.on("error", () => gone.abort());
  reply.raw.on("close", () => gone.abort());
  await deliver(gone.signal);
  const broken = fault?.fault === "die_mid_stream" || fault?.fault === "garbage" || fault?.fault === "hang";
  if (broken) call.outcome = "failed";
  else call.outcome = reply.raw.writableEnded ? "completed" : "aborted";
}
