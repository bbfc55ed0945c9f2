/** The account's settings for Stripe Tax: where the business is, and where it collects tax. */
import { readPostalAddress } from "./address.ts";
import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute, pageOf, retrieveRoute } from "./api.ts";
import { readTaxCode } from "./catalogue.ts";
import type { Context } from "./context.ts";
import { invalidParameter, missingParameter, notPlayed } from "./errors.ts";
import { emit } from "./events.ts";
import { newId } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
import { percentages } from "./tax-places.ts";
import type { TaxRegistration, TaxSettings } from "./wire.ts";

const settingsId = "tax_settings";
const noDefaults = { provider: "stripe", tax_behavior: null, tax_code: null } as const;

/** Members of the European Union: one registration with its one-stop shop is for all of them. */
export const union = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" ");

export function taxSettings(context: Context): TaxSettings {
  const { headOffice, defaults } = context.store.findHidden("tax.settings", settingsId) ?? {
    headOffice: null,
    defaults: noDefaults,
  };
  return {
    object: "tax.settings",
    defaults,
    head_office: headOffice && { address: headOffice },
    livemode: false,
    ...(headOffice
      ? { status: "active", status_details: { active: {} } }
      : { status: "pending", status_details: { pending: { missing_fields: ["head_office"] } } }),
  };
}

/** Sets up taxes as an operator does. Does nothing to an account that has settings. */
export function startTaxes(context: Context): void {
  if (context.store.findHidden("tax.settings", settingsId)) return;
  const headOffice = { city: "Berlin", country: "DE", line1: "Example Street 1", line2: null, postal_code: "10115", state: null };
  context.store.hide("tax.settings", settingsId, { headOffice, defaults: noDefaults });
  insertRegistration(context, "DE", { de: { type: "oss_union" } }, { active_from: context.now(), expires_at: null });
}

function updateSettings({ context, parameters }: ApiCall): TaxSettings {
  const before = taxSettings(context);
  const given = parameters.object("defaults");
  const behaviour = given?.oneOf("tax_behavior", ["exclusive", "inclusive", "inferred_by_currency"]);
  const taxCode = given && readTaxCode(given);
  const office = parameters.object("head_office")?.object("address");
  const headOffice = office ? readPostalAddress(office) : (before.head_office?.address ?? null);
  if (office && !headOffice?.country) throw missingParameter("head_office[address][country]");
  const defaults = {
    ...before.defaults,
    ...(behaviour ? { tax_behavior: behaviour } : {}),
    ...(taxCode ? { tax_code: taxCode } : {}),
  };
  context.store.hide("tax.settings", settingsId, { headOffice, defaults });
  const after = taxSettings(context);
  emit(context, "tax.settings.updated", after);
  return after;
}

function statusOf(context: Context, { active_from: from, expires_at: until }: Pick<TaxRegistration, "active_from" | "expires_at">) {
  if (until !== null && until <= context.now()) return "expired";
  return from > context.now() ? "scheduled" : "active";
}

function registrations(context: Context): TaxRegistration[] {
  return context.store.where("tax.registration").map((registration) => ({ ...registration, status: statusOf(context, registration) }));
}

/** Whether the business collects tax of customers in `country`. */
export function isCollecting(context: Context, country: string): boolean {
  return registrations(context).some(({ status, country: registered, country_options: options }) => {
    if (status !== "active") return false;
    const type = Object.values(options)[0]?.type;
    return registered === country || (type === "oss_union" && union.includes(country));
  });
}

function readTime(context: Context, parameters: Parameters, key: string): number | undefined {
  return parameters.text(key) === "now" ? context.now() : parameters.integer(key, 0);
}

/** Only the standard registration of a country whose rate is known here and, in the European Union, the one-stop shop. */
function readOptions(parameters: Parameters, country: string): TaxRegistration["country_options"] {
  const key = country.toLowerCase();
  const options = parameters.object("country_options")?.object(key);
  if (!options) throw missingParameter(`country_options[${key}]`);
  const type = options.requiredText("type");
  const scheme = options.object("standard");
  if (percentages[country] === undefined) throw notPlayed("country", Object.keys(percentages).join(", "));
  if (type === "oss_union" && union.includes(country)) return { [key]: { type } };
  if (type !== "standard") throw notPlayed(options.nameOf("type"), "standard, and as oss_union in the European Union");
  scheme?.only("place_of_supply_scheme", "standard");
  return { [key]: { type, standard: { place_of_supply_scheme: "standard" } } };
}

function createRegistration({ context, parameters }: ApiCall): TaxRegistration {
  const country = parameters.requiredText("country").toUpperCase();
  const from = readTime(context, parameters, "active_from");
  if (from === undefined) throw missingParameter("active_from");
  const until = parameters.integer("expires_at", context.now()) ?? null;
  const options = readOptions(parameters, country);
  if (registrations(context).some((known) => known.country === country && known.status !== "expired"))
    throw invalidParameter(`There is a registration for ${country} already.`, "country");
  return insertRegistration(context, country, options, { active_from: from, expires_at: until });
}

function insertRegistration(
  context: Context,
  country: string,
  options: TaxRegistration["country_options"],
  times: Pick<TaxRegistration, "active_from" | "expires_at">,
): TaxRegistration {
  return context.store.insert("tax.registration", {
    id: newId("taxreg"),
    object: "tax.registration",
    ...times,
    country,
    country_options: options,
    created: context.now(),
    livemode: false,
    status: statusOf(context, times),
  });
}

function updateRegistration({ context, id, parameters }: ApiCall): TaxRegistration {
  const before = context.store.get("tax.registration", id);
  const times = {
    active_from: readTime(context, parameters, "active_from") ?? before.active_from,
    expires_at: parameters.text("expires_at") === null ? null : (readTime(context, parameters, "expires_at") ?? before.expires_at),
  };
  return context.store.save("tax.registration", { ...before, ...times, status: statusOf(context, times) });
}

export const taxRoutes: ApiRoute[] = [
  { method: "GET", url: "/v1/tax/settings", handle: ({ context }) => taxSettings(context) },
  { method: "POST", url: "/v1/tax/settings", handle: updateSettings },
  {
    method: "GET",
    url: "/v1/tax/registrations",
    handle: ({ context, parameters }) => {
      const status = parameters.oneOf("status", ["active", "all", "expired", "scheduled"]) ?? "all";
      const shown = registrations(context).filter((registration) => status === "all" || registration.status === status);
      return pageOf(shown.reverse(), "/v1/tax/registrations", parameters);
    },
  },
  { method: "POST", url: "/v1/tax/registrations", handle: createRegistration },
  { method: "POST", url: "/v1/tax/registrations/:id", handle: updateRegistration },
  retrieveRoute("tax.registration", "/v1/tax/registrations"),
  listRoute("tax_rate", "/v1/tax_rates", () => []),
  retrieveRoute("tax_rate", "/v1/tax_rates"),
];
