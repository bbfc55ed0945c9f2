/**
 * The numbers under which businesses are registered for value added tax. Checkout and the portal ask for them, an operator may give one
 * with a customer, and invoices show them.
 */
import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { emit } from "./events.ts";
import { newId } from "./ids.ts";
import { taxSettings, union } from "./tax-settings.ts";
import type { CheckoutSession, Customer, TaxId } from "./wire.ts";

const played = ["ch_vat", "eu_vat", "gb_vat", "no_vat"] as const;

/** What sessions and invoices show. */
export interface ShownTaxId {
  type: (typeof played)[number];
  value: string;
}

const elsewhere: Readonly<Record<string, { type: ShownTaxId["type"]; form: RegExp }>> = {
  CH: { type: "ch_vat", form: /^CHE-?\d{3}\.?\d{3}\.?\d{3}( ?(MWST|TVA|IVA))?$/ },
  GB: { type: "gb_vat", form: /^GB\d{9}(\d{3})?$/ },
  NO: { type: "no_vat", form: /^\d{9}MVA$/ },
};

/** Greece has a prefix of its own in these numbers. */
const prefixOf = (country: string) => (country === "GR" ? "EL" : country);

/** The type and form of tax ids in `country`; undefined where the sandbox's page asks for none. */
function formIn(country: string | undefined): { type: ShownTaxId["type"]; form: RegExp } | undefined {
  if (country === undefined) return undefined;
  if (!union.includes(country)) return elsewhere[country];
  return { type: "eu_vat", form: new RegExp(`^${prefixOf(country)}[A-Z\\d+*]{2,12}$`) };
}

/** Throws 400 unless `text` is a tax id of that country. */
export function readTaxId(text: string, country: string | undefined): ShownTaxId {
  const value = text.trim().toUpperCase();
  const known = formIn(country);
  if (!known?.form.test(value)) throw invalidRequest("This is not a tax ID of this country.", "tax_id", "tax_id_invalid");
  return { type: known.type, value };
}

export function taxIdsOf(context: Context, customer: string): TaxId[] {
  return context.store.where("tax_id", [{ path: "customer", operator: "=", value: customer }]);
}

export function shownTaxIds(context: Context, customer: string): ShownTaxId[] {
  return taxIdsOf(context, customer).map(({ type, value }) => ({ type: type as ShownTaxId["type"], value }));
}

/** Does nothing if the customer has it. */
export function keepTaxId(context: Context, customer: Customer, taxId: ShownTaxId): void {
  const { type, value } = taxId;
  if (taxIdsOf(context, customer.id).some((known) => known.type === type && known.value === value)) return;
  insertTaxId(context, customer, taxId);
}

function insertTaxId(context: Context, customer: Customer, { type, value }: ShownTaxId): TaxId {
  const country = type === "eu_vat" ? value.slice(0, 2).replace("EL", "GR") : type.slice(0, 2).toUpperCase();
  const kept = context.store.insert("tax_id", {
    id: newId("txi"),
    object: "tax_id",
    country,
    created: context.now(),
    customer: customer.id,
    customer_account: null,
    livemode: false,
    owner: { customer: customer.id, customer_account: null, type: "customer" },
    type,
    value,
    verification: { status: "pending", verified_address: null, verified_name: null },
  });
  emit(context, "customer.tax_id.created", kept);
  return kept;
}

/** An operator gives a customer a tax id with this. Stripe knows more types than the sandbox plays. */
function create({ context, id, parameters }: ApiCall): TaxId {
  const customer = context.store.get("customer", id);
  const type = parameters.requiredText("type");
  const value = parameters.requiredText("value");
  if (!played.some((known) => known === type)) throw invalidRequest(`The sandbox does not play tax ids of the type ${type}.`, "type");
  const country = type === "eu_vat" ? value.slice(0, 2).toUpperCase().replace("EL", "GR") : type.slice(0, 2).toUpperCase();
  return insertTaxId(context, customer, readTaxId(value, country));
}

export function dropTaxId(context: Context, id: string): object {
  const known = context.store.get("tax_id", id);
  const tombstone = { id, object: "tax_id", deleted: true } as const;
  context.store.markDeleted(id, tombstone);
  emit(context, "customer.tax_id.deleted", known);
  return tombstone;
}

/**
 * A business in another member state of the European Union than ours owes the tax itself (directive 2006/112/EC, article 196). Stripe
 * decides by the number's form, before it has verified the number.
 */
export function isReverseCharged(context: Context, country: string, taxIds: readonly ShownTaxId[]): boolean {
  const home = taxSettings(context).head_office?.address.country ?? "";
  if (!union.includes(home) || !union.includes(country) || country === home) return false;
  return taxIds.some(({ type, value }) => type === "eu_vat" && value.startsWith(prefixOf(country)));
}

/** Takes over the number that a business gave on the page, with its name. Stripe shows the fields only where it knows such numbers. */
export function settleTaxId(session: CheckoutSession, given: { taxId: string; name: string } | null, country: string | undefined) {
  if (!given || !session.tax_id_collection?.enabled) return session;
  if (given.name === "") throw invalidRequest("Enter the name of the business.", "tax_id");
  const details = session.customer_details;
  if (!details) throw missingParameter("country");
  const collected = { business_name: given.name, individual_name: null, shipping_details: null };
  const customer_details = { ...details, business_name: given.name, tax_ids: [readTaxId(given.taxId, country)] };
  return { ...session, collected_information: collected, customer_details };
}

export const taxIdRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/customers/:id/tax_ids", handle: create },
  { method: "DELETE", url: "/v1/tax_ids/:id", handle: ({ context, id }) => dropTaxId(context, id) },
  {
    method: "GET",
    url: "/v1/customers/:id/tax_ids",
    handle: (call) =>
      listRoute("tax_id", `/v1/customers/${call.id}/tax_ids`, (_parameters, context) => [
        { path: "customer", operator: "=", value: context.store.get("customer", call.id).id },
      ]).handle(call),
  },
];
