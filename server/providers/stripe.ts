import Stripe from "stripe";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";

export type Payments = Stripe;

/** The Stripe SDK: pointed at Stripe, or at the sandbox, which speaks the same protocol. Retries are safe: every write carries an idempotency key. */
export function createPayments(config: Config["stripe"]): Payments {
  const { apiUrl } = config;
  const protocol = apiUrl?.protocol === "http:" ? "http" : "https";
  return new Stripe(config.secretKey, {
    ...(apiUrl ? { host: apiUrl.hostname, port: apiUrl.port || (protocol === "http" ? "80" : "443"), protocol } : {}),
    maxNetworkRetries: 2,
    timeout: 10_000,
    telemetry: false,
  });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Stripe.errors.StripeError ? error.code : undefined;
}

/** What was asked for does not exist there, or not any more. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === "resource_missing";
}

/** Made before under the same id or lookup key, by ourselves or by another process at the same moment. */
export function isAlreadyThere(error: unknown): boolean {
  return codeOf(error) === "resource_already_exists";
}

export function isRefundedAlready(error: unknown): boolean {
  return codeOf(error) === "charge_already_refunded";
}

const keyInUse = "idempotency_key_in_use";

/** No answer came, or the first request is still under way: it may be done all the same, so only the same idempotency key may ask again. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeConnectionError || codeOf(error) === keyInUse;
}

/** The same idempotency key came with other parameters. */
export function isOtherContent(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeIdempotencyError && error.code !== keyInUse;
}

/** What `work` asks of Stripe on a person's behalf; where Stripe fails, a refusal that says so: 502 `payment_provider_unavailable`. */
export async function orUnavailable<T>(log: { warn(details: object, message: string): void }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    log.warn({ err: { type: error.type, code: error.code, message: error.message } }, "Stripe could not be asked");
    throw new DomainError(
      "payment_provider_unavailable",
      "The payment provider cannot be reached right now. Nothing was charged; try again in a moment",
    );
  }
}

/** Undefined instead of an error where Stripe has no such object. */
export async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Stripe's instants are Unix seconds. */
export function fromUnix(seconds: number): Date {
  return new Date(seconds * 1000);
}

/** Stripe refers to an object by its id, or by the object itself where it was expanded. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === "object" ? reference?.id : reference;
}
