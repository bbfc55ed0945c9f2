/** Where somebody of the team looks at something at Stripe. */
import type { Config } from "../../config.ts";

/** Ends with a slash. Null for the sandbox's Stripe, which has no dashboard. */
export function dashboardUrl({ apiUrl, livemode }: Config["stripe"]): string | null {
  return apiUrl === undefined ? `https://dashboard.stripe.com/${livemode ? "" : "test/"}` : null;
}

export function dashboardAddress(stripe: Config["stripe"], kind: "payments" | "invoices", id: string): string | null {
  const url = dashboardUrl(stripe);
  return url === null ? null : `${url}${kind}/${encodeURIComponent(id)}`;
}
