/** What the errors of providers mean, whether they come instead of a response or in its middle. */
import { reasonOfError } from "./filter-words.ts";
import { ModelOutage, ModelRefusal, RequestRefused } from "./protocol.ts";
import type { EventData } from "./response-stream.ts";
import { fieldsOf } from "./response-stream.ts";

/** OpenAI and Anthropic name the same thing in different fields. */
const rateCodes: ReadonlySet<unknown> = new Set(["rate_limit_exceeded", "rate_limit_error", "insufficient_quota"]);

/** Statuses that are not about the content of our request but about our key or account at the provider, a conflict, or too many requests. */
const outageStatuses: ReadonlySet<number> = new Set([401, 402, 403, 408, 409, 425]);

/** Codes and types for a model that the provider does not serve (any more), or not to us: OpenAI's, Anthropic's, Mistral's. */
const unservedCodes: ReadonlySet<unknown> = new Set(["model_not_found", "not_found_error", "invalid_model"]);
/** DeepSeek has no code for it, only these words. */
const unservedWords = "Model Not Exist";

/** Whether an error is about the model, not about what it was asked. `status` is undefined for one that came in a stream. */
export function isModelGone(status: number | undefined, { code, type, message }: ProviderError): boolean {
  if (status === 404 || status === 410) return true;
  return unservedCodes.has(code) || unservedCodes.has(type) || message === unservedWords;
}

interface ProviderError {
  type?: unknown;
  code?: unknown;
  message?: unknown;
}

/** An error of the provider's own, as it came in the stream. */
export function errorNamed(error: EventData): Error {
  const filtered = reasonOfError(error);
  if (filtered) return new ModelRefusal("the provider filtered the answer", filtered);
  if (rateCodes.has(error.code) || rateCodes.has(error.type))
    return new ModelOutage("provider_rate_limited", "the provider turned the request away in its stream");
  if (isModelGone(undefined, error)) return new ModelOutage("model_gone", "the provider does not serve the model");
  return new ModelOutage("provider_error", "the provider reported an error in its stream");
}

/** The packages of OpenAI and Anthropic are made alike: a class for what has a status, and one for what did not begin in time. */
export interface ErrorClasses {
  APIError: abstract new (
    ...parameters: never[]
  ) => Error & {
    readonly status: number | undefined;
    readonly headers: Headers | undefined;
    /** What the provider has sent: of OpenAI's package what is in its field `error`, of Anthropic's the whole. */
    readonly error: unknown;
  };
  APIConnectionTimeoutError: abstract new (...parameters: never[]) => Error;
}

const shortPauseMs = 300;
/** If the provider wants us to wait for longer than this, the person decides whether to ask again. */
const longestPauseMs = 1_000;

/**
 * When to send a refused request again; undefined: not at all. A refusal was not billed, so trying again bills nothing twice; of a broken
 * connection we don't know that. After a refusal because of our rate we try again only if the provider says when.
 */
function againAfterMs(status: number, headers: Headers | undefined): number | undefined {
  const header = headers?.get("retry-after");
  const askedMs = header && /^\d{1,4}$/.test(header) ? Number(header) * 1_000 : undefined;
  const pauseMs = askedMs ?? (status >= 500 ? shortPauseMs : undefined);
  return pauseMs !== undefined && pauseMs <= longestPauseMs ? pauseMs : undefined;
}

/** The provider's own words are left out, because they may quote the person's, and errors are logged. */
export function toModelError(error: unknown, { APIConnectionTimeoutError, APIError }: ErrorClasses): unknown {
  if (error instanceof APIConnectionTimeoutError) return new ModelOutage("provider_timeout", "the provider's response did not begin");
  if (!(error instanceof APIError) || error.status === undefined) return error;
  const { status, headers } = error;
  const { type, code }: ProviderError = error;
  const message = `the provider answered ${status} (type ${type ?? "unknown"}, code ${code ?? "unknown"})`;
  if (status === 429) return new ModelOutage("provider_rate_limited", message, againAfterMs(status, headers));
  const filtered = reasonOfError({ ...fieldsOf(error.error), code, message: error.message });
  if (filtered) return new ModelRefusal(message, filtered);
  if (status >= 500) return new ModelOutage("provider_error", message, againAfterMs(status, headers));
  if (isModelGone(status, { code, type, message: fieldsOf(error.error).message })) return new ModelOutage("model_gone", message);
  if (outageStatuses.has(status)) return new ModelOutage("provider_error", message);
  // We follow no redirect. That is about the address, not about the request.
  return status >= 400 ? new RequestRefused(message, status) : new Error(message);
}
