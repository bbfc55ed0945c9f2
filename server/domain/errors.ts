/**
 * Expected refusals, with the HTTP status of each. The client translates the `code`, so it must not change; `details` are the
 * figures that the text needs (RFC 9457 extension members). Any other exception is a bug.
 */
export const refusals = {
  validation_failed: 400,
  invalid_json: 400,
  invalid_signature: 400,
  unknown_price: 400,
  unknown_model: 400,
  invalid_credits: 400,
  consent_required: 400,
  unauthenticated: 401,
  invalid_credentials: 401,
  session_expired: 401,
  sign_in_expired: 401,
  account_deleted: 401,
  email_not_confirmed: 403,
  sign_ups_closed: 403,
  confirmation_password_needed: 403,
  step_up_required: 403,
  way_too_new: 403,
  wrong_password: 403,
  wrong_code: 403,
  passkey_refused: 403,
  daily_cap_reached: 403,
  forbidden_origin: 403,
  subscription_required: 402,
  model_not_in_trial: 402,
  insufficient_credits: 402,
  wallet_frozen: 402,
  link_invalid: 400,
  google_expired: 400,
  google_denied: 403,
  google_refused: 400,
  google_unverified: 403,
  google_taken: 409,
  google_linked_already: 409,
  google_other_account: 403,
  google_not_fresh: 403,
  google_unavailable: 503,
  last_way_in: 409,
  not_found: 404,
  method_not_allowed: 405,
  already_subscribed: 409,
  plan_suspended: 409,
  no_running_plan: 409,
  plan_unpaid: 409,
  plan_ending: 409,
  same_plan: 409,
  preview_outdated: 409,
  trial_used: 409,
  trials_paused: 409,
  purchases_paused: 409,
  money_back_too_late: 409,
  money_back_used: 409,
  nothing_to_refund: 409,
  refund_refused: 409,
  withdrawal_too_late: 409,
  withdrawal_used: 409,
  payment_disputed: 409,
  tax_address_needed: 409,
  price_changed: 409,
  confirmation_required: 409,
  idempotency_conflict: 409,
  conflict: 409,
  price_below_cost: 422,
  finding_closed: 409,
  last_admin: 409,
  named_admin: 409,
  own_account: 409,
  adjustment_limit: 403,
  second_factor_needed: 403,
  support_access_needed: 403,
  generation_ended: 409,
  set_up_expired: 409,
  passkey_expired: 409,
  passkey_exists: 409,
  too_many_passkeys: 409,
  answer_gone: 410,
  export_gone: 410,
  storage_full: 409,
  file_too_large: 413,
  file_unsupported: 415,
  file_damaged: 422,
  file_heic: 415,
  file_encrypted: 422,
  file_pages: 413,
  file_exhausting: 422,
  recording_unsupported: 415,
  recording_moving: 415,
  recording_silent: 422,
  recording_too_long: 413,
  recording_missing: 422,
  speech_too_long: 413,
  attachment_gone: 410,
  attachment_unreadable: 422,
  attachments_too_large: 422,
  prompt_too_long: 422,
  body_too_large: 413,
  picture_too_large: 413,
  picture_unsupported: 415,
  picture_damaged: 422,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_answers: 429,
  too_many_attempts: 429,
  sign_in_busy: 429,
  model_unavailable: 503,
  answers_paused: 503,
  payment_provider_unavailable: 502,
  tax_unavailable: 503,
  model_retired: 422,
  passkeys_unavailable: 422,
  service_unavailable: 503,
} as const;

export type RefusalCode = keyof typeof refusals;

export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return refusals[this.code];
  }
}

/** Trying again can't help: the worker turns the job into a dead letter at once. */
export class PermanentFailure extends Error {
  override readonly name: string = "PermanentFailure";
}
