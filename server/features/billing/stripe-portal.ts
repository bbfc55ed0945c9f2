/** The portal at Stripe: cards, invoices and cancelling. Plans are changed in the product, which knows what becomes of the credits. */
import type Stripe from "stripe";
import type { Deps } from "../../deps.ts";
import type { Payments } from "../../providers/stripe.ts";

const owner = { tessera: "portal" } as const;

/** What people can correct there because their tax depends on it. */
export const taxDetails = ["address", "tax_id"] as const;

export function portalSettings(origin: string, taxed: boolean) {
  return {
    name: "Tessera",
    default_return_url: `${origin}/profile`,
    business_profile: { privacy_policy_url: `${origin}/privacy`, terms_of_service_url: `${origin}/terms` },
    features: {
      ...(taxed ? { customer_update: { enabled: true, allowed_updates: [...taxDetails] } } : {}),
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true },
      subscription_cancel: { enabled: true, mode: "at_period_end" },
      subscription_update: { enabled: false },
    },
    metadata: owner,
  } satisfies Stripe.BillingPortal.ConfigurationCreateParams;
}

export async function findPortal(payments: Payments): Promise<Stripe.BillingPortal.Configuration | undefined> {
  const all = await payments.billingPortal.configurations.list({ limit: 100 }).autoPagingToArray({ limit: 100 });
  return all.find((configuration) => configuration.metadata?.tessera === owner.tessera);
}

/** The configuration's id, once there is one. Until then it is looked for each time, so that an operator who makes one needs no restart. */
const found = new WeakMap<Payments, string>();

/** Our configuration's id; undefined if there is none or it is not active: then the account's default applies. */
export async function portalConfiguration({ payments }: Pick<Deps, "payments">): Promise<string | undefined> {
  const known = found.get(payments);
  if (known !== undefined) return known;
  const configuration = await findPortal(payments);
  if (!configuration?.active) return undefined;
  found.set(payments, configuration.id);
  return configuration.id;
}
