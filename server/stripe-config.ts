import type { Environment } from "./environment.ts";

export type StripeTax = "included" | "off";

export interface StripeConfig {
  secretKey: string;
  /** The new and the old one during a rotation; never empty. */
  webhookSecrets: string[];
  /** Undefined for Stripe itself. */
  apiUrl: URL | undefined;
  livemode: boolean;
  /** `included`: Stripe Tax calculates the tax within our prices. */
  tax: StripeTax;
}

/** Prices include the tax or there is none: no other way of showing prices is offered. */
export function readStripeTax(environment: Environment): StripeTax {
  const value = environment.text("STRIPE_TAX");
  if (value !== undefined && value !== "included")
    environment.faults.push(`STRIPE_TAX=${value} is not "included"; leave it out where Stripe Tax is not used`);
  return value === "included" ? value : "off";
}

export function readStripe(environment: Environment, production: boolean, sandbox: { url: URL; token: string } | undefined): StripeConfig {
  const own = environment.text("STRIPE_SECRET_KEY");
  const tax = readStripeTax(environment);
  if (!own && sandbox) {
    return { secretKey: "sk_test_sandbox", webhookSecrets: [`whsec_${sandbox.token}`], apiUrl: sandbox.url, livemode: false, tax };
  }
  const secretKey = environment.required("STRIPE_SECRET_KEY", "payments need it (dashboard.stripe.com, Developers, API keys)");
  const webhookSecret = environment.required("STRIPE_WEBHOOK_SECRET", "Stripe's events are verified with it");
  const previous = environment.text("STRIPE_WEBHOOK_SECRET_PREVIOUS");
  const livemode = /^[sr]k_live_/.test(secretKey);
  // Only production insists on the product's own addresses: otherwise paying people would get mails with links that lead nowhere.
  if (livemode && !production) environment.faults.push("STRIPE_SECRET_KEY is a live key; with it NODE_ENV has to be production");
  return {
    secretKey,
    webhookSecrets: previous ? [webhookSecret, previous] : [webhookSecret],
    apiUrl: environment.url("STRIPE_API_URL", ["https:", "http:"]),
    livemode,
    tax,
  };
}
