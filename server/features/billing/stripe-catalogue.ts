/** Products and prices at Stripe. They are made from `#domain/plans.ts`, which alone decides what is sold. */
import type Stripe from "stripe";
import type { BillingInterval, PackKey, Plan, PriceId } from "#domain/plans.ts";
import { billingIntervals, currency, packs, parsePriceId, planList, priceCents, priceIdOf } from "#domain/plans.ts";
import type { Config } from "../../config.ts";
import type { Deps } from "../../deps.ts";
import type { Payments } from "../../providers/stripe.ts";
import { isAlreadyThere } from "../../providers/stripe.ts";
import { isTaxed, taxCode } from "./stripe-tax.ts";

type PriceKey = PriceId | PackKey;
type StripePrices = ReadonlyMap<PriceKey, string>;

export interface CatalogueDeps extends Pick<Deps, "payments"> {
  config: { stripe: Pick<Config["stripe"], "tax"> };
}

const made = new WeakMap<Payments, Promise<StripePrices>>();

/** A price as Stripe should have it. */
export interface Sold {
  /** Also the lookup key. */
  key: PriceKey;
  product: { id: string; name: string; metadata: Record<string, string> };
  amountCents: number;
  /** Null: paid once. */
  interval: BillingInterval | null;
}

const planPrices = planList.flatMap((plan): Sold[] => {
  const product = { id: `tessera_${plan.key}`, name: `Tessera ${plan.name}`, metadata: { plan: plan.key } };
  return billingIntervals.map((interval) => ({
    key: priceIdOf(plan.key, interval),
    product,
    amountCents: priceCents(plan, interval),
    interval,
  }));
});
const packPrices = packs.map(({ key, credits, priceCents: amountCents }): Sold => {
  const product = { id: `tessera_${key}`, name: `${credits} credits`, metadata: { pack: key } };
  return { key, product, amountCents, interval: null };
});
export const sold: readonly Sold[] = [...planPrices, ...packPrices];

/** Stripe's limit for one list by lookup keys. */
const keysAtOnce = 10;

/** False if the price has to be replaced, because it has another amount or excludes tax: Stripe lets us change neither. */
export function isCurrent(price: Stripe.Price, { amountCents, interval }: Sold, taxed: boolean): boolean {
  if (taxed && price.tax_behavior === "exclusive") return false;
  return price.unit_amount === amountCents && price.currency === currency && (price.recurring?.interval ?? null) === interval;
}

/** By lookup key. Without `active`, those that can't be bought any more too. */
export async function listPrices(payments: Payments, active: true | undefined): Promise<Map<string, Stripe.Price>> {
  const found = new Map<string, Stripe.Price>();
  for (let start = 0; start < sold.length; start += keysAtOnce) {
    const keys = sold.slice(start, start + keysAtOnce).map(({ key }) => key);
    const page = await payments.prices.list({ lookup_keys: keys, ...(active ? { active } : {}), limit: 100 });
    for (const price of page.data) if (price.lookup_key) found.set(price.lookup_key, price);
  }
  return found;
}

/** Several processes may create it at the same moment. We choose the id, so the second one is told that it exists. */
export async function createProduct(payments: Payments, { id, name, metadata }: Sold["product"], taxed: boolean): Promise<void> {
  const tax = taxed ? { tax_code: taxCode } : {};
  try {
    await payments.products.create({ id, name, metadata, ...tax }, { idempotencyKey: `product:${id}${taxed ? ":taxed" : ""}` });
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
}

export async function createPrice(
  payments: Payments,
  { key, product, amountCents, interval }: Sold,
  { replaced, taxed }: { replaced: Stripe.Price | undefined; taxed: boolean },
): Promise<void> {
  try {
    await payments.prices.create(
      {
        product: product.id,
        currency,
        unit_amount: amountCents,
        ...(interval ? { recurring: { interval } } : {}),
        lookup_key: key,
        // Stripe's prices can't be changed, so a new price gets a new object. Subscribers keep the old one.
        transfer_lookup_key: replaced !== undefined,
        metadata: { price_id: key },
        ...(taxed ? { tax_behavior: "inclusive" } : {}),
      },
      { idempotencyKey: `price:${key}:${amountCents}:${replaced?.id ?? "first"}${taxed ? ":taxed" : ""}` },
    );
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
}

/** A price that says nothing about tax from now on includes it. Stripe allows no other change. */
export async function includeTax(payments: Payments, price: Stripe.Price): Promise<void> {
  await payments.prices.update(price.id, { tax_behavior: "inclusive" }, { idempotencyKey: `price-taxed:${price.id}` });
}

async function makeCatalogue(payments: Payments, taxed: boolean): Promise<StripePrices> {
  let prices = await listPrices(payments, true);
  const absent = sold.filter((item) => {
    const price = prices.get(item.key);
    return price === undefined || !isCurrent(price, item, taxed);
  });
  if (absent.length > 0) {
    for (const product of new Set(absent.map((item) => item.product))) await createProduct(payments, product, taxed);
    for (const item of absent) await createPrice(payments, item, { replaced: prices.get(item.key), taxed });
    prices = await listPrices(payments, true);
  }
  if (taxed) for (const price of prices.values()) if (price.tax_behavior === "unspecified") await includeTax(payments, price);
  return new Map(
    sold.map(({ key }) => {
      const price = prices.get(key);
      if (!price) throw new Error(`Stripe has no price ${key} after it was made`);
      return [key, price.id];
    }),
  );
}

/** Products and prices at Stripe, made where they are missing; remembered until it fails. */
export function ensureCatalogue(deps: CatalogueDeps): Promise<StripePrices> {
  const known = made.get(deps.payments);
  if (known) return known;
  const making = makeCatalogue(deps.payments, isTaxed(deps.config.stripe));
  made.set(deps.payments, making);
  making.catch(() => made.delete(deps.payments));
  return making;
}

/** Stripe's id of one of our prices. */
export async function stripePriceOf(deps: CatalogueDeps, key: PriceKey): Promise<string> {
  const id = (await ensureCatalogue(deps)).get(key);
  if (id === undefined) throw new Error(`the catalogue lacks ${key}`);
  return id;
}

/** Call it after Stripe has refused an id from here: the next call reads the catalogue again. */
export function forgetCatalogue(deps: Pick<Deps, "payments">): void {
  made.delete(deps.payments);
}

/** Returns undefined if the price is not one of ours. A price that was replaced has lost its lookup key, but still has our name. */
export function planOfPrice(price: Stripe.Price): { plan: Plan; interval: BillingInterval } | undefined {
  return parsePriceId(price.lookup_key ?? price.metadata.price_id ?? "");
}

/** Reads prices by id, each only once. */
export class KnownPrices {
  private readonly payments: Payments;
  private readonly byId: Map<string, Stripe.Price>;

  constructor(payments: Payments, known: readonly Stripe.Price[]) {
    this.payments = payments;
    this.byId = new Map(known.map((price) => [price.id, price]));
  }

  async get(priceId: string): Promise<Stripe.Price> {
    const price = this.byId.get(priceId) ?? (await this.payments.prices.retrieve(priceId));
    this.byId.set(priceId, price);
    return price;
  }
}

/** Returns a coupon for the first period and makes it if there is none; there is one for each percentage. */
export async function ensureCoupon(deps: Pick<Deps, "payments">, percent: number): Promise<string> {
  const id = `tessera_first_period_${percent}`;
  try {
    await deps.payments.coupons.create(
      { id, percent_off: percent, duration: "once", name: `${percent}% off the first period` },
      { idempotencyKey: `coupon:${id}` },
    );
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
  return id;
}
