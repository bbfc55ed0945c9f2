import type { Provider } from "#domain/models.ts";
import type { ModelFault } from "./faults.ts";
import { filterResults, filterWord } from "./filter-words.ts";

/** OpenAI's error body, as the `openai` package reads it. */
export interface OpenAiErrorBody {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: string | null;
    moderation_details?: object;
    innererror?: object;
  };
}

/** A refusal of the model server, sent with OpenAI's status and body. */
export class OpenAiError extends Error {
  override readonly name = "OpenAiError";
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: OpenAiErrorBody;
  /** The body that is sent; it differs from `body` where a provider has a form of its own. */
  readonly sent: object;

  constructor(statusCode: number, error: OpenAiErrorBody["error"], headers: Readonly<Record<string, string>> = {}, sent?: object) {
    super(error.message);
    this.statusCode = statusCode;
    this.headers = headers;
    this.body = { error };
    this.sent = sent ?? this.body;
  }
}

export function invalidRequest(message: string, param: string | null, code: string | null = null): OpenAiError {
  return new OpenAiError(400, { message, type: "invalid_request_error", param, code });
}

/** Mistral's refusal of a field that it does not know. It has its own status and form. */
export function extraForbidden(name: string, input: unknown): OpenAiError {
  const message = "Extra inputs are not permitted";
  const error = { message, type: "invalid_request_error", param: null, code: null };
  const detail = [{ type: "extra_forbidden", loc: ["body", name], msg: message, input }];
  return new OpenAiError(422, error, {}, { ...error, object: "error", message: { detail } });
}

/** The refusal of a model that the provider does not serve (any more), in each provider's form. Anthropic's is in anthropic-error.ts. */
export function unknownModel(provider: Provider, model: string): OpenAiError {
  const [param, type] = [null, "invalid_request_error"];
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  const error = { message, type, param, code: "model_not_found" };
  if (provider === "mistral") {
    const invalid = { message: `Invalid model: ${model}`, type: "invalid_model", param, code: "1500" };
    return new OpenAiError(400, invalid, {}, { object: "error", ...invalid });
  }
  if (provider === "deepseek") return new OpenAiError(400, { message: "Model Not Exist", type, param, code: type });
  if (provider === "google") {
    const status = { code: 404, message: `models/${model} is not found for API version v1main.`, status: "NOT_FOUND" };
    return new OpenAiError(404, error, {}, [{ error: status }]);
  }
  if (provider === "xai") return new OpenAiError(404, error, {}, { code: "Some requested entity was not found", error: message });
  if (provider === "perplexity")
    return new OpenAiError(400, { message: `Invalid model '${model}'.`, type: "invalid_model", param, code: null });
  return new OpenAiError(404, error);
}

export function missingKey(): OpenAiError {
  return new OpenAiError(401, {
    message: "You didn't provide an API key. Send it in an Authorization header: Bearer YOUR_KEY. The sandbox takes any key.",
    type: "invalid_request_error",
    param: null,
    code: "invalid_api_key",
  });
}

export function unknownAddress(method: string, url: string): OpenAiError {
  return new OpenAiError(404, {
    message: `Invalid URL (${method} ${url})`,
    type: "invalid_request_error",
    param: null,
    code: "unknown_url",
  });
}

export function rateLimited(model: string, retryAfterSeconds: number): OpenAiError {
  return new OpenAiError(
    429,
    {
      message: `Rate limit reached for ${model}. Please try again in ${retryAfterSeconds}s. (Switched on in the sandbox.)`,
      type: "requests",
      param: null,
      code: "rate_limit_exceeded",
    },
    { "retry-after": String(retryAfterSeconds) },
  );
}

export function contentFiltered(fault?: ModelFault): OpenAiError {
  const results = filterResults(fault);
  return new OpenAiError(400, {
    message: "The prompt was stopped by the content filter. (Switched on in the sandbox.)",
    type: "invalid_request_error",
    param: "messages",
    code: filterWord("openAiCodes", fault) ?? "content_filter",
    ...(results && { innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: results } }),
  });
}

/** xAI refuses with 403, and its `error` is a text. */
export function grokRefused(fault?: ModelFault): OpenAiError {
  const word = filterWord("xai", fault);
  const message = `Content violates usage guidelines. (Switched on in the sandbox.)${word ? ` Failed check: SAFETY_CHECK_TYPE_${word}` : ""}`;
  return new OpenAiError(
    403,
    { message, type: "permission_denied", param: null, code: null },
    {},
    { code: "permission-denied", error: message },
  );
}

export function serverError(): OpenAiError {
  return new OpenAiError(500, {
    message: "The server had an error while processing your request. (Switched on in the sandbox.)",
    type: "server_error",
    param: null,
    code: null,
  });
}

/** xAI's refusal of a clip. If xAI has a word for the reason, it refuses as for a text. */
export function clipBlocked(fault?: ModelFault): OpenAiError {
  const word = filterWord("xai", fault);
  if (word) return grokRefused(fault);
  const message = "Generated video rejected by content moderation. (Switched on in the sandbox.)";
  return new OpenAiError(400, { message, type: "invalid_request_error", param: null, code: "content_moderation" });
}

/** The refusal by the filter for pictures, which has its own error type. */
export function pictureBlocked(fault?: ModelFault): OpenAiError {
  const word = filterWord("moderation", fault);
  const listed = word ? ` safety_violations=[${word}].` : "";
  return new OpenAiError(400, {
    message: `Your request was rejected by the safety system. (Switched on in the sandbox.)${listed}`,
    type: "image_generation_user_error",
    param: null,
    code: "moderation_blocked",
    ...(word && { moderation_details: { moderation_stage: "input", categories: [word] } }),
  });
}
