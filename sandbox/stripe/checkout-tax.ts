/** Calculates the tax included in a checkout's prices, once the buyer has given an address. */
import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { saveChange } from "./events.ts";
import type { ShownTaxId } from "./tax-ids.ts";
import { keepTaxId, settleTaxId, shownTaxIds } from "./tax-ids.ts";
import { countryOf } from "./tax-places.ts";
import { locationInvalid, requireTaxable, taxWithin } from "./tax-rates.ts";
import type { Address, CheckoutSession, Customer, LineItem, Price } from "./wire.ts";

const off = { enabled: false, liability: null, provider: null, status: null } as const;

export function sessionTax(enabled: boolean): CheckoutSession["automatic_tax"] {
  return enabled ? { enabled: true, liability: { type: "self" }, provider: "stripe", status: "requires_location_inputs" } : off;
}

/** Throws Stripe's 400 if the tax of a new session could not be calculated. */
export function requireSessionTax(
  context: Context,
  session: Pick<CheckoutSession, "automatic_tax">,
  { prices, customer, savesAddress }: { prices: readonly Price[]; customer: Customer | null; savesAddress: boolean },
): void {
  if (!session.automatic_tax.enabled) return;
  for (const [index, price] of prices.entries()) requireTaxable(context, price, `line_items[${index}][price]`);
  if (customer && !savesAddress && countryOf(customer.address) === undefined)
    throw locationInvalid(
      "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set `customer_update[address]` to 'auto' to save the address entered in Checkout to the Customer.",
      "automatic_tax",
    );
}

/** The session with the tax of somebody at `address`, and its lines, which `expand` shows. */
export function withSessionTax(context: Context, session: CheckoutSession, address: Address | null | undefined): CheckoutSession {
  if (!session.automatic_tax.enabled) return session;
  const hidden = context.store.hidden("checkout.session", session.id);
  const country = countryOf(address);
  const taxIds = taxIdsIn(context, session);
  const items = hidden.items.map((item): LineItem => {
    const tax = country === undefined ? 0 : taxWithin(context, country, item.amount_total, taxIds).amount;
    return { ...item, amount_tax: tax };
  });
  context.store.hide("checkout.session", session.id, { ...hidden, items });
  const { amount_discount = 0 } = session.total_details ?? {};
  return {
    ...session,
    automatic_tax: { ...session.automatic_tax, status: country === undefined ? "requires_location_inputs" : "complete" },
    total_details: { amount_discount, amount_shipping: 0, amount_tax: items.reduce((sum, item) => sum + item.amount_tax, 0) },
  };
}

/** The tax ids given on the page, else the customer's. */
function taxIdsIn(context: Context, { customer, customer_details: details }: CheckoutSession): ShownTaxId[] {
  const given = (details?.tax_ids ?? []) as ShownTaxId[];
  return given.length > 0 || typeof customer !== "string" ? given : shownTaxIds(context, customer);
}

/** Where the buyer lives: as given on the page, else as the customer's address says. */
function billingAddress(context: Context, session: CheckoutSession, given: Address | null): Address | null {
  const known = typeof session.customer === "string" ? context.store.find("customer", session.customer)?.address : null;
  return given ?? known ?? null;
}

/** What somebody gave on the page besides the card. */
export interface GivenDetails {
  address: Address | null;
  /** Null for a private person. */
  business: { taxId: string; name: string } | null;
}

/** Saves what was given on the page. Throws 400 if tax needs an address and Stripe recognises none, and for a wrong tax id. */
export function settleDetails(context: Context, session: CheckoutSession, { address: given, business }: GivenDetails): CheckoutSession {
  const address = billingAddress(context, session, given);
  if (session.automatic_tax.enabled && countryOf(address) === undefined)
    throw invalidRequest("Enter a billing address, so that the tax can be worked out.", "country");
  const nobody = {
    business_name: null,
    email: null,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: "none",
    tax_ids: null,
  } as const;
  const details = session.customer_details ?? (address && nobody);
  const known = settleTaxId({ ...session, customer_details: details && { ...details, address } }, business, countryOf(address));
  return context.store.save("checkout.session", withSessionTax(context, known, address));
}

/** The address becomes the customer's if the session asked for that; a tax id and the name of a business do in any case. */
export function keepDetails(context: Context, session: CheckoutSession, payer: Customer): Customer {
  const { address, business_name: name, tax_ids: taxIds } = session.customer_details ?? {};
  for (const taxId of taxIds ?? []) keepTaxId(context, payer, taxId as ShownTaxId);
  const customer = name ? saveChange(context, "customer", "customer.updated", { ...payer, name }) : payer;
  const { savesAddress } = context.store.hidden("checkout.session", session.id);
  const isNew = session.customer === null;
  if (!address || !(savesAddress || isNew)) return customer;
  return saveChange(context, "customer", "customer.updated", { ...customer, address });
}
