/**
 * What the product needs of its Stripe account: products and prices, the portal's configuration, the webhook endpoint. Everything is found again
 * by lookup key, id or metadata, so that setting up again changes only what differs. A price is never changed: it is replaced by a new one, which
 * takes its lookup key over, and people who have the old one keep it.
 */
import type Stripe from "stripe";
import { currency } from "#domain/plans.ts";
import type { Payments } from "../../providers/stripe.ts";
import { orMissing, stripeVersion } from "../../providers/stripe.ts";
import type { StripeTax } from "../../stripe-config.ts";
import { handledTypes } from "./event-handlers.ts";
import type { Sold } from "./stripe-catalogue.ts";
import { createPrice, createProduct, includeTax, isCurrent, listPrices, sold } from "./stripe-catalogue.ts";
import { findPortal, portalSettings, taxDetails } from "./stripe-portal.ts";
import { isTaxed, taxCode } from "./stripe-tax.ts";

/** One thing that differs, in words, and how it is put right; without `repair` an operator has to do it. */
export interface Difference {
  what: string;
  /** Returns what was done, and the webhook's secret if it is a new one. */
  repair?: () => Promise<{ done: string; secret?: string }>;
}

const owner = { tessera: "webhook" } as const;

function priceText({ amountCents, interval }: Sold): string {
  return `${(amountCents / 100).toFixed(2)} ${currency}${interval ? ` a ${interval}` : ""}`;
}

async function compareProduct(payments: Payments, product: Sold["product"], taxed: boolean): Promise<Difference[]> {
  const { id, name, metadata } = product;
  const found = await orMissing(payments.products.retrieve(id));
  if (!found) {
    return [
      {
        what: `the product ${id} is missing`,
        repair: async () => {
          await createProduct(payments, product, taxed);
          return { done: `created the product ${id}` };
        },
      },
    ];
  }
  const isNamed = found.name === name && Object.entries(metadata).every(([key, value]) => found.metadata[key] === value);
  const lacksCode = taxed && !found.tax_code;
  if (found.active && isNamed && !lacksCode) return [];
  const what = isNamed ? `the product ${id} has no tax code` : `the product ${id} has another name or other metadata`;
  return [
    {
      what: found.active ? what : `the product ${id} is not active`,
      repair: async () => {
        await payments.products.update(id, { active: true, name, metadata, ...(lacksCode ? { tax_code: taxCode } : {}) });
        return { done: `updated the product ${id}` };
      },
    },
  ];
}

function compareTaxBehaviour(payments: Payments, key: string, price: Stripe.Price): Difference[] {
  if (price.tax_behavior !== "unspecified") return [];
  return [
    {
      what: `the price ${key} (${price.id}) does not say that it includes tax`,
      repair: async () => {
        await includeTax(payments, price);
        return { done: `the price ${key} includes tax` };
      },
    },
  ];
}

function comparePrice(payments: Payments, item: Sold, price: Stripe.Price | undefined, taxed: boolean): Difference[] {
  const { key } = item;
  if (price && isCurrent(price, item, taxed) && price.active) return taxed ? compareTaxBehaviour(payments, key, price) : [];
  if (price && isCurrent(price, item, taxed)) {
    return [
      {
        what: `the price ${key} (${price.id}) is not active`,
        repair: async () => {
          await payments.prices.update(price.id, { active: true });
          if (taxed && price.tax_behavior === "unspecified") await includeTax(payments, price);
          return { done: `activated the price ${key}` };
        },
      },
    ];
  }
  return [
    {
      what: price
        ? `the price ${key} (${price.id}) is not ${priceText(item)}${taxed ? ", tax included" : ""}`
        : `the price ${key} is missing`,
      repair: async () => {
        await createPrice(payments, item, { replaced: price, taxed });
        const replaced = price ? `; it replaces ${price.id}, which its subscribers keep` : "";
        return { done: `created the price ${key}, ${priceText(item)}${replaced}` };
      },
    },
  ];
}

async function compareCatalogue(payments: Payments, taxed: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const product of new Set(sold.map((item) => item.product))) differences.push(...(await compareProduct(payments, product, taxed)));
  const prices = await listPrices(payments, undefined);
  return [...differences, ...sold.flatMap((item) => comparePrice(payments, item, prices.get(item.key), taxed))];
}

/** What only the operator knows: where the business is, and where it has to collect tax. */
async function compareTax(payments: Payments): Promise<Difference[]> {
  const { status, status_details: details } = await payments.tax.settings.retrieve();
  const missing = details.pending?.missing_fields ?? [];
  const origin = missing.includes("head_office") ? "your business address (head office) is missing" : missing.join(", ");
  const { data } = await payments.tax.registrations.list({ status: "active", limit: 1 });
  return [
    ...(status === "active" ? [] : [{ what: `Stripe Tax is not active: ${origin || "complete it"} (dashboard.stripe.com/settings/tax)` }]),
    ...(data.length > 0
      ? []
      : [{ what: "there is no active tax registration: Stripe Tax collects none anywhere (dashboard.stripe.com/tax/registrations)" }]),
  ];
}

async function comparePortal(payments: Payments, origin: string, taxed: boolean): Promise<Difference[]> {
  const settings = portalSettings(origin, taxed);
  const found = await findPortal(payments);
  if (!found) {
    return [
      {
        what: "the portal has no configuration of ours",
        repair: async () => {
          await payments.billingPortal.configurations.create(settings);
          return { done: "created the portal's configuration" };
        },
      },
    ];
  }
  const {
    invoice_history: history,
    payment_method_update: cards,
    subscription_cancel: cancel,
    subscription_update: update,
    customer_update: customer,
  } = found.features;
  const asksDetails = !taxed || (customer.enabled && taxDetails.every((detail) => customer.allowed_updates.includes(detail)));
  const isRight = history.enabled && cards.enabled && cancel.enabled && cancel.mode === "at_period_end" && !update.enabled;
  if (found.active && isRight && asksDetails && found.default_return_url === settings.default_return_url) return [];
  return [
    {
      what: `the portal's configuration ${found.id} differs`,
      repair: async () => {
        await payments.billingPortal.configurations.update(found.id, { ...settings, active: true });
        return { done: "updated the portal's configuration" };
      },
    },
  ];
}

async function createEndpoint(payments: Payments, url: string): Promise<{ done: string; secret?: string }> {
  const created = await payments.webhookEndpoints.create({
    url,
    enabled_events: handledTypes as Stripe.WebhookEndpointCreateParams.EnabledEvent[],
    api_version: stripeVersion as Stripe.WebhookEndpointCreateParams.ApiVersion,
    description: "Tessera",
    metadata: owner,
  });
  return { done: `created the webhook endpoint ${created.id}`, ...(created.secret ? { secret: created.secret } : {}) };
}

function compareEndpoint(payments: Payments, endpoint: Stripe.WebhookEndpoint): Difference[] {
  const { id, status, enabled_events: enabled } = endpoint;
  const missing = enabled.includes("*") ? [] : handledTypes.filter((type) => !enabled.includes(type));
  const what = [
    ...(status === "enabled" ? [] : [`the webhook endpoint ${id} is disabled`]),
    ...(missing.length === 0 ? [] : [`the webhook endpoint ${id} does not send ${missing.join(", ")}`]),
  ];
  if (what.length === 0) return [];
  const events = (enabled.includes("*") ? enabled : handledTypes) as Stripe.WebhookEndpointUpdateParams.EnabledEvent[];
  const repair = async () => {
    await payments.webhookEndpoints.update(id, { disabled: false, enabled_events: events });
    return { done: `updated the webhook endpoint ${id}` };
  };
  return [{ what: what.join("; "), repair }];
}

/** An endpoint keeps its version for good. A second one does no harm while both secrets are known: an event is recorded once. */
async function compareWebhook(payments: Payments, origin: string): Promise<Difference[]> {
  const url = `${origin}/api/stripe/webhook`;
  const all = await payments.webhookEndpoints.list({ limit: 100 }).autoPagingToArray({ limit: 100 });
  const ours = all.filter((endpoint) => endpoint.url === url);
  const right = ours.find((endpoint) => endpoint.api_version === stripeVersion);
  const old = ours.filter((endpoint) => endpoint.api_version !== stripeVersion && endpoint.status === "enabled");
  const remove = old.map(
    ({ id, api_version: version }): Difference => ({
      what: `the webhook endpoint ${id} sends events of version ${version ?? "of the account"}, not ${stripeVersion}: once the new one's secret is in use, delete it`,
    }),
  );
  if (right) return [...compareEndpoint(payments, right), ...remove];
  const what = old.length > 0 ? `no webhook endpoint for ${url} has version ${stripeVersion}` : `there is no webhook endpoint for ${url}`;
  return [{ what, repair: () => createEndpoint(payments, url) }, ...remove];
}

/** What differs in the account from what the product needs. `origin` is the product's public address. */
export async function compareAccount(payments: Payments, origin: string, tax: StripeTax = "off"): Promise<Difference[]> {
  const taxed = isTaxed({ tax });
  return [
    ...(taxed ? await compareTax(payments) : []),
    ...(await compareCatalogue(payments, taxed)),
    ...(await comparePortal(payments, origin, taxed)),
    ...(await compareWebhook(payments, origin)),
  ];
}
