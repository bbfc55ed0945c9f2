import { setTimeout as delay } from "node:timers/promises";
import Stripe from "stripe";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import { refuseWithinTransaction } from "../db/transaction.ts";

export type Payments = Stripe;

/** The version of Stripe's API that the package's types describe. */
export const stripeVersion: string = Stripe.API_VERSION;

export function isLiveKey(secretKey: string): boolean {
  return /^[sr]k_live_/.test(secretKey);
}

/** How long one try may take, until the last byte of the response. */
export interface StripeTimeouts {
  tryMs: number;
  /** How long a call with all its tries may take. */
  callMs: number;
}
const usualTimeouts: StripeTimeouts = { tryMs: 8_000, callMs: 20_000 };
/** The pauses before the second and the third try. */
const pausesMs = [500, 1_000];

/** Whether to try again, decided as the SDK does: if Stripe says so, if another request has a lock, or if Stripe itself failed. */
function mayTryAgain(response: Response): boolean {
  const asked = response.headers.get("stripe-should-retry");
  return asked === null ? response.status === 409 || response.status >= 500 : asked === "true";
}

/**
 * `fetch` with the tries that the SDK would make, so that one signal ends all of them: the SDK's when the call's time is over, or
 * `ended`. It may try again, since every write has an idempotency key.
 */
function createFetch(ended: AbortSignal, tryMs: number): typeof fetch {
  return async (address, init) => {
    refuseWithinTransaction("Stripe");
    const signal = AbortSignal.any(init?.signal ? [ended, init.signal] : [ended]);
    for (const pauseMs of [...pausesMs, undefined]) {
      try {
        const response = await fetch(address, {
          ...init,
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(tryMs)]),
        });
        if (pauseMs === undefined || !mayTryAgain(response)) return response;
        await response.body?.cancel();
      } catch (error) {
        if (pauseMs === undefined || signal.aborted) throw error;
      }
      await delay(pauseMs, undefined, { signal });
    }
    throw new Error("no try was left");
  };
}

/**
 * The Stripe SDK for Stripe, or for the sandbox, which speaks the same protocol. Once `ended` is aborted its calls fail as in an outage. A
 * call within a transaction is refused.
 */
export function createPayments(
  config: Config["stripe"],
  ended: AbortSignal = new AbortController().signal,
  { tryMs, callMs } = usualTimeouts,
): Payments {
  const { apiUrl } = config;
  const protocol = apiUrl?.protocol === "http:" ? "http" : "https";
  return new Stripe(config.secretKey, {
    ...(apiUrl ? { host: apiUrl.hostname, port: apiUrl.port || (protocol === "http" ? "80" : "443"), protocol } : {}),
    httpClient: Stripe.createFetchHttpClient(createFetch(ended, tryMs)),
    maxNetworkRetries: 0,
    timeout: callMs,
    telemetry: false,
  });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Stripe.errors.StripeError ? error.code : undefined;
}

/** Stripe does not have the object, or has it no longer. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === "resource_missing";
}

/** We have created an object with this id or lookup key before, or another process has just done so. */
export function isAlreadyThere(error: unknown): boolean {
  return codeOf(error) === "resource_already_exists";
}

export function isRefundedAlready(error: unknown): boolean {
  return codeOf(error) === "charge_already_refunded";
}

/** Stripe does not accept the request, so it has not been done. */
export function isRefused(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError;
}

export function isPaidAlready(error: unknown): boolean {
  return codeOf(error) === "invoice_already_paid";
}

/** Whether Stripe Tax knows where the customer is. The customer must have been read with `tax` expanded. */
export function isLocationKnown(customer: Stripe.Customer | Stripe.DeletedCustomer): boolean {
  const known = customer.deleted ? undefined : customer.tax?.automatic_tax;
  return known === "supported" || known === "not_collecting";
}

const keyInUse = "idempotency_key_in_use";

/** No response came, or the first request is still running. Stripe may have done the work, so we may retry only with the same idempotency key. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeConnectionError || codeOf(error) === keyInUse;
}

/** The idempotency key was used before with other parameters. */
export function isOtherContent(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeIdempotencyError && error.code !== keyInUse;
}

/** Stripe's codes for a customer whose address does not show where tax is due. */
const locationCodes: ReadonlySet<unknown> = new Set(["customer_tax_location_invalid", "invalid_tax_location"]);
const taxCodes: ReadonlySet<unknown> = new Set(["stripe_tax_inactive", "taxes_calculation_failed", "failed_tax_calculation"]);

/**
 * `address`: the tax depends on where the customer lives, which Stripe doesn't know. `account`: Stripe Tax is not set up, or can't calculate the tax;
 * some of these errors have no code, but are about a tax parameter or say so.
 */
function taxProblem(error: InstanceType<typeof Stripe.errors.StripeError>): "address" | "account" | undefined {
  const { code, param = "", message } = error;
  if (locationCodes.has(code)) return "address";
  if (taxCodes.has(code)) return "account";
  return isRefused(error) && code === undefined && /(\b|_)tax(es)?(\b|_)/i.test(`${param} ${message}`) ? "account" : undefined;
}

/** The refusal that an error from Stripe becomes: one that somebody can act on if it is about tax, else `payment_provider_unavailable`. */
function refusalFor(error: InstanceType<typeof Stripe.errors.StripeError>): DomainError {
  const problem = taxProblem(error);
  if (problem === "address")
    return new DomainError(
      "tax_address_needed",
      "The tax depends on the billing address. Enter it under Manage subscription; nothing was ordered",
    );
  if (problem === "account")
    return new DomainError("tax_unavailable", "The tax can't be worked out right now. Nothing was ordered or charged; we have been told");
  return new DomainError(
    "payment_provider_unavailable",
    "The payment provider cannot be reached right now. Nothing was charged; try again in a moment",
  );
}

interface Log {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/**
 * Runs `work` and turns an error from Stripe into the refusal `payment_provider_unavailable` (502), or, where it is about tax,
 * `tax_address_needed` or `tax_unavailable`. Only the operator can mend `tax_unavailable`, so it is logged as an error.
 */
export async function orUnavailable<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const refusal = refusalFor(error);
    const details = { err: { type: error.type, code: error.code, message: error.message } };
    if (refusal.code === "tax_unavailable") log.error(details, "Stripe Tax refuses: npm run stripe:check says what is missing");
    else log.warn(details, "a call to Stripe failed");
    throw refusal;
  }
}

/** Undefined instead of an error if Stripe does not have the object. */
export async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Stripe's timestamps are Unix seconds. */
export function fromUnix(seconds: number): Date {
  return new Date(seconds * 1000);
}

/** Stripe returns a reference as an id, or as the object itself if the call expanded it. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === "object" ? reference?.id : reference;
}
