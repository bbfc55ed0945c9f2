/** Stripe's error bodies (docs.stripe.com/api/errors): `{error: {type, code, param, message, …}}`. */
export type ApiErrorType = "api_error" | "card_error" | "idempotency_error" | "invalid_request_error";

export interface ApiErrorFields {
  type: ApiErrorType;
  message: string;
  code?: string;
  param?: string;
  decline_code?: string;
  charge?: string;
  payment_intent?: unknown;
  payment_method?: unknown;
}

/** What became of the call: refused before it began, refused while it was done, or done as far as a declined card's failed charge. */
type Progress = "not begun" | "rolled back" | "kept";

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly fields: ApiErrorFields;
  readonly progress: Progress;

  constructor(status: number, fields: ApiErrorFields, progress: Progress = "rolled back") {
    super(fields.message);
    this.status = status;
    this.fields = fields;
    this.progress = progress;
  }

  body(requestId: string): { error: ApiErrorFields & { doc_url?: string; request_log_url: string } } {
    const documentation = this.fields.code
      ? { doc_url: `https://stripe.com/docs/error-codes/${this.fields.code.replaceAll("_", "-")}` }
      : {};
    return { error: { ...this.fields, ...documentation, request_log_url: `https://dashboard.stripe.com/test/logs/${requestId}` } };
  }
}

export function invalidRequest(message: string, param?: string, code?: string): ApiError {
  return new ApiError(400, { type: "invalid_request_error", message, ...(code && { code }), ...(param && { param }) });
}

/** For a parameter that is refused before the call begins, so that its idempotency key stays free (docs.stripe.com/api/idempotent_requests). */
export function invalidParameter(message: string, param?: string, code?: string): ApiError {
  return new ApiError(400, { type: "invalid_request_error", message, ...(code && { code }), ...(param && { param }) }, "not begun");
}

export function missingParameter(param: string): ApiError {
  return invalidParameter(`Missing required param: ${param}.`, param, "parameter_missing");
}

/** For what Stripe does and the sandbox does not: an answer that ignored it would be false. */
export function notPlayed(param: string, played?: string): ApiError {
  const message = played === undefined ? `The sandbox does not play ${param}.` : `The sandbox plays ${param} only as ${played}.`;
  return invalidParameter(message, param);
}

export function resourceMissing(noun: string, id: string, param: string): ApiError {
  return new ApiError(404, { type: "invalid_request_error", code: "resource_missing", param, message: `No such ${noun}: '${id}'` });
}

/** For an unknown id in a request's parameters: 400. (An unknown id in the address is a 404.) */
export function referenceMissing(noun: string, id: string, param: string): ApiError {
  return invalidRequest(`No such ${noun}: '${id}'`, param, "resource_missing");
}
