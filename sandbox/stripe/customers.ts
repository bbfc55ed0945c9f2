import { readPostalAddress } from "./address.ts";
import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId, randomText } from "./ids.ts";
import type { Metadata, Parameters } from "./parameters.ts";
import { requireOwnCard } from "./payment-methods.ts";
import { cancelSubscription } from "./subscription-status.ts";
import { countryOf } from "./tax-places.ts";
import { locationInvalid } from "./tax-rates.ts";
import type { Address, Customer } from "./wire.ts";

interface NewCustomer {
  email: string | null;
  name: string | null;
  description: string | null;
  phone: string | null;
  metadata: Metadata;
  address?: Address | null;
  /** Languages in order of preference (RFC 4646). */
  locales: string[];
}

export function createCustomer(context: Context, fields: NewCustomer): Customer {
  const customer: Customer = {
    id: newId("cus", 14),
    object: "customer",
    address: fields.address ?? null,
    balance: 0,
    created: context.now(),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: fields.description,
    discount: null,
    email: fields.email,
    invoice_prefix: randomText(8).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: fields.metadata,
    name: fields.name,
    next_invoice_sequence: 1,
    phone: fields.phone,
    preferred_locales: fields.locales,
    shipping: null,
    tax_exempt: "none",
    test_clock: null,
  };
  context.store.insert("customer", customer);
  emit(context, "customer.created", customer);
  return customer;
}

function readEmail(parameters: Parameters): string | null | undefined {
  const email = parameters.text("email");
  if (email && (email.length > 512 || !/^[^\s@]+@[^\s@]+$/.test(email)))
    throw invalidRequest(`Invalid email address: ${email}`, "email", "email_invalid");
  return email;
}

/** Undefined if it is not given; null if it is taken away. */
function readAddress(parameters: Parameters): Address | null | undefined {
  if (!parameters.has("address")) return undefined;
  const address = parameters.object("address");
  return address ? readPostalAddress(address) : null;
}

/** Stripe may check an address at once. */
function checkLocation(parameters: Parameters, address: Address | null): void {
  const tax = parameters.object("tax");
  tax?.refuse("ip_address");
  const when = tax?.oneOf("validate_location", ["auto", "deferred", "immediately"]);
  if (when === "immediately" && countryOf(address) === undefined)
    throw locationInvalid(
      "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
      "address",
    );
}

function create({ context, parameters }: ApiCall): Customer {
  const fields = {
    email: readEmail(parameters) ?? null,
    name: parameters.text("name") ?? null,
    description: parameters.text("description") ?? null,
    phone: parameters.text("phone") ?? null,
    metadata: parameters.metadata("metadata"),
    address: readAddress(parameters) ?? null,
    locales: parameters.texts("preferred_locales") ?? [],
  };
  checkLocation(parameters, fields.address);
  parameters.refuse("shipping", "tax_id_data", "test_clock", "balance", "cash_balance", "payment_method", "source", "invoice_prefix");
  parameters.only("tax_exempt", "none");
  return createCustomer(context, fields);
}

function update({ context, id, parameters }: ApiCall): Customer {
  const before = context.store.get("customer", id);
  const email = readEmail(parameters);
  const name = parameters.text("name");
  const description = parameters.text("description");
  const phone = parameters.text("phone");
  const settings = parameters.object("invoice_settings");
  const method = settings?.text("default_payment_method");
  const given = readAddress(parameters);
  const address = given === undefined ? (before.address ?? null) : given;
  checkLocation(parameters, address);
  parameters.refuse("shipping", "balance", "cash_balance", "source", "default_source", "invoice_prefix");
  parameters.only("tax_exempt", "none");
  const locales = parameters.texts("preferred_locales");
  if (method) requireOwnCard(context, method, id, "invoice_settings[default_payment_method]");
  return saveChange(context, "customer", "customer.updated", {
    ...before,
    address,
    email: email === undefined ? before.email : email,
    name: name === undefined ? (before.name ?? null) : name,
    description: description === undefined ? before.description : description,
    phone: phone === undefined ? (before.phone ?? null) : phone,
    metadata: parameters.metadata("metadata", before.metadata),
    preferred_locales: locales ?? before.preferred_locales ?? [],
    invoice_settings: {
      ...before.invoice_settings,
      default_payment_method: method === undefined ? before.invoice_settings.default_payment_method : method,
    },
  });
}

/** Deletes a customer, ends its subscriptions at once and detaches its cards for good; its charges and invoices can still be read. */
function remove({ context, id }: ApiCall): object {
  const customer = context.store.get("customer", id);
  for (const subscription of context.store.where("subscription", [{ path: "customer", operator: "=", value: id }])) {
    if (subscription.status !== "canceled") cancelSubscription(context, subscription, "cancellation_requested");
  }
  for (const method of context.store.where("payment_method", [{ path: "customer", operator: "=", value: id }])) {
    context.store.hide("payment_method", method.id, { ...context.store.hidden("payment_method", method.id), spent: true });
    saveChange(context, "payment_method", "payment_method.detached", { ...method, customer: null });
  }
  const tombstone = { id, object: "customer", deleted: true } as const;
  emit(context, "customer.deleted", customer);
  context.store.markDeleted(id, tombstone);
  return tombstone;
}

export const customerRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/customers", handle: create },
  { method: "POST", url: "/v1/customers/:id", handle: update },
  { method: "DELETE", url: "/v1/customers/:id", handle: remove },
  listRoute("customer", "/v1/customers", (parameters) => equalityFilters(parameters, { email: "email" })),
  {
    method: "GET",
    url: "/v1/customers/:id",
    // A deleted customer can still be retrieved, as `{deleted: true}`.
    handle: ({ context, id }) => {
      const deleted = id.startsWith("cus_") ? context.store.findAny(id) : undefined;
      return deleted ?? context.store.get("customer", id);
    },
  },
];
