import Stripe from "stripe";
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
