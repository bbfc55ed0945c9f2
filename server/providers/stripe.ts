import Stripe from "stripe";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";

export type Payments = Stripe;

/** The Stripe SDK for Stripe, or for the sandbox, which speaks the same protocol. It may retry, since every write has an idempotency key. */
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

const keyInUse = "idempotency_key_in_use";

/** No response came, or the first request is still running. Stripe may have done the work, so we may retry only with the same idempotency key. */
export function isUncertain(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeConnectionError || codeOf(error) === keyInUse;
}

/** The idempotency key was used before with other parameters. */
export function isOtherContent(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeIdempotencyError && error.code !== keyInUse;
}

/** Runs `work` and turns an error from Stripe into the refusal `payment_provider_unavailable` (502). */
export async function orUnavailable<T>(log: { warn(details: object, message: string): void }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    log.warn({ err: { type: error.type, code: error.code, message: error.message } }, "a call to Stripe failed");
    throw new DomainError(
      "payment_provider_unavailable",
      "The payment provider cannot be reached right now. Nothing was charged; try again in a moment",
    );
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
