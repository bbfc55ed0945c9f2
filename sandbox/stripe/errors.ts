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

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly fields: ApiErrorFields;
  /** True for a declined card, whose failed charge is stored. Every other refusal rolls back the call. */
  readonly keepsChanges: boolean;

  constructor(status: number, fields: ApiErrorFields, keepsChanges = false) {
    super(fields.message);
    this.status = status;
    this.fields = fields;
    this.keepsChanges = keepsChanges;
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

export function missingParameter(param: string): ApiError {
  return invalidRequest(`Missing required param: ${param}.`, param, "parameter_missing");
}

export function resourceMissing(noun: string, id: string, param: string): ApiError {
  return new ApiError(404, { type: "invalid_request_error", code: "resource_missing", param, message: `No such ${noun}: '${id}'` });
}

/** For an unknown id in a request's parameters: 400. (An unknown id in the address is a 404.) */
export function referenceMissing(noun: string, id: string, param: string): ApiError {
  return invalidRequest(`No such ${noun}: '${id}'`, param, "resource_missing");
}
