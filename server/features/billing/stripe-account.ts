/**
 * What the product needs of its Stripe account: products and prices, the portal's configuration, the webhook endpoint. Everything is found again
 * by lookup key, id or metadata, so that setting up again changes only what differs. A price is never changed: it is replaced by a new one, which
 * takes its lookup key over, and people who have the old one keep it.
 */
import type Stripe from "stripe";
import { currency } from "#domain/plans.ts";
import type { Payments } from "../../providers/stripe.ts";
import { orMissing, stripeVersion } from "../../providers/stripe.ts";
import { handledTypes } from "./event-handlers.ts";
import type { Sold } from "./stripe-catalogue.ts";
import { createPrice, createProduct, isCurrent, listPrices, sold } from "./stripe-catalogue.ts";
import { findPortal, portalSettings } from "./stripe-portal.ts";

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

async function compareProduct(payments: Payments, product: Sold["product"]): Promise<Difference[]> {
  const { id, name, metadata } = product;
  const found = await orMissing(payments.products.retrieve(id));
  if (!found) {
    return [
      {
        what: `the product ${id} is missing`,
        repair: async () => {
          await createProduct(payments, product);
          return { done: `created the product ${id}` };
        },
      },
    ];
  }
  const isNamed = found.name === name && Object.entries(metadata).every(([key, value]) => found.metadata[key] === value);
  if (found.active && isNamed) return [];
  return [
    {
      what: found.active ? `the product ${id} has another name or other metadata` : `the product ${id} is not active`,
      repair: async () => {
        await payments.products.update(id, { active: true, name, metadata });
        return { done: `updated the product ${id}` };
      },
    },
  ];
}

function comparePrice(payments: Payments, item: Sold, price: Stripe.Price | undefined): Difference[] {
  const { key } = item;
  if (price && isCurrent(price, item) && price.active) return [];
  if (price && isCurrent(price, item)) {
    return [
      {
        what: `the price ${key} (${price.id}) is not active`,
        repair: async () => {
          await payments.prices.update(price.id, { active: true });
          return { done: `activated the price ${key}` };
        },
      },
    ];
  }
  return [
    {
      what: price ? `the price ${key} (${price.id}) is not ${priceText(item)}` : `the price ${key} is missing`,
      repair: async () => {
        await createPrice(payments, item, price);
        const replaced = price ? `; it replaces ${price.id}, which its subscribers keep` : "";
        return { done: `created the price ${key}, ${priceText(item)}${replaced}` };
      },
    },
  ];
}

async function compareCatalogue(payments: Payments): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const product of new Set(sold.map((item) => item.product))) differences.push(...(await compareProduct(payments, product)));
  const prices = await listPrices(payments, undefined);
  return [...differences, ...sold.flatMap((item) => comparePrice(payments, item, prices.get(item.key)))];
}

async function comparePortal(payments: Payments, origin: string): Promise<Difference[]> {
  const settings = portalSettings(origin);
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
  } = found.features;
  const isRight = history.enabled && cards.enabled && cancel.enabled && cancel.mode === "at_period_end" && !update.enabled;
  if (found.active && isRight && found.default_return_url === settings.default_return_url) return [];
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
export async function compareAccount(payments: Payments, origin: string): Promise<Difference[]> {
  return [...(await compareCatalogue(payments)), ...(await comparePortal(payments, origin)), ...(await compareWebhook(payments, origin))];
}
