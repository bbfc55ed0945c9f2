/** Products and prices at Stripe. They are made from `#domain/plans.ts`, which alone decides what is sold. */
import type Stripe from "stripe";
import type { BillingInterval, Plan, PriceId } from "#domain/plans.ts";
import { billingIntervals, currency, parsePriceId, planList, priceCents, priceIdOf } from "#domain/plans.ts";
import type { Deps } from "../../deps.ts";
import type { Payments } from "../../providers/stripe.ts";
import { isAlreadyThere } from "../../providers/stripe.ts";

export type StripePrices = ReadonlyMap<PriceId, string>;

const made = new WeakMap<Payments, Promise<StripePrices>>();

const sold = planList.flatMap((plan) => billingIntervals.map((interval) => ({ priceId: priceIdOf(plan.key, interval), plan, interval })));

function productIdOf(plan: Plan): string {
  return `tessera_${plan.key}`;
}

function isCurrent(price: Stripe.Price, plan: Plan, interval: BillingInterval): boolean {
  return price.unit_amount === priceCents(plan, interval) && price.currency === currency && price.recurring?.interval === interval;
}

async function listPrices(payments: Payments): Promise<Map<string, Stripe.Price>> {
  const page = await payments.prices.list({ lookup_keys: sold.map((item) => item.priceId), active: true, limit: 100 });
  return new Map(page.data.flatMap((price) => (price.lookup_key ? [[price.lookup_key, price]] : [])));
}

/** Several processes may create it at the same moment. We choose the id, so the second one is told that it exists. */
async function createProduct(payments: Payments, plan: Plan): Promise<void> {
  try {
    await payments.products.create(
      { id: productIdOf(plan), name: `Tessera ${plan.name}`, metadata: { plan: plan.key } },
      { idempotencyKey: `product:${productIdOf(plan)}` },
    );
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
}

async function createPrice(payments: Payments, item: (typeof sold)[number], replaced: Stripe.Price | undefined): Promise<void> {
  const amount = priceCents(item.plan, item.interval);
  try {
    await payments.prices.create(
      {
        product: productIdOf(item.plan),
        currency,
        unit_amount: amount,
        recurring: { interval: item.interval },
        lookup_key: item.priceId,
        // Stripe's prices can't be changed, so a new price gets a new object. Subscribers keep the old one.
        transfer_lookup_key: replaced !== undefined,
        metadata: { price_id: item.priceId },
      },
      { idempotencyKey: `price:${item.priceId}:${amount}:${replaced?.id ?? "first"}` },
    );
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
}

async function makeCatalogue(payments: Payments): Promise<StripePrices> {
  let prices = await listPrices(payments);
  const absent = sold.filter(({ priceId, plan, interval }) => {
    const price = prices.get(priceId);
    return price === undefined || !isCurrent(price, plan, interval);
  });
  if (absent.length > 0) {
    for (const plan of new Set(absent.map((item) => item.plan))) await createProduct(payments, plan);
    for (const item of absent) await createPrice(payments, item, prices.get(item.priceId));
    prices = await listPrices(payments);
  }
  return new Map(
    sold.map(({ priceId }) => {
      const price = prices.get(priceId);
      if (!price) throw new Error(`Stripe has no price ${priceId} after it was made`);
      return [priceId, price.id];
    }),
  );
}

/** Makes missing products and prices at Stripe. Returns Stripe's id for each `PriceId`, and remembers them until a call fails. */
export function ensureCatalogue(deps: Pick<Deps, "payments">): Promise<StripePrices> {
  const known = made.get(deps.payments);
  if (known) return known;
  const making = makeCatalogue(deps.payments);
  made.set(deps.payments, making);
  making.catch(() => made.delete(deps.payments));
  return making;
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
