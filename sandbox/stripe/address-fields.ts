import { readPostalAddress } from "./address.ts";
import type { Markup } from "./html.ts";
import { html } from "./html.ts";
import { Parameters } from "./parameters.ts";
import { percentages } from "./tax-places.ts";
import type { Address } from "./wire.ts";

const names = new Intl.DisplayNames("en", { type: "region" });
/** Where tax is collected, and some countries where it isn't. */
const countries = [...Object.keys(percentages), "CA", "JP", "US"]
  .map((key) => ({ key, name: names.of(key) ?? key }))
  .sort((one, other) => one.name.localeCompare(other.name));

/** For businesses; anybody else leaves them empty. */
export function taxIdFields({ name, value }: { name: string; value: string }): Markup {
  return html`<fieldset class="address"><legend>Buying for a business</legend>
<label>Name of the business<input name="business_name" autocomplete="billing organization" maxlength="150" value="${name}"></label>
<label>VAT number<input name="tax_id" maxlength="30" placeholder="DE123456789" value="${value}"></label></fieldset>`;
}

/** The part of an address that tax needs. */
export function addressFields(address: Address | null | undefined): Markup {
  const options = countries.map(
    ({ key, name }) => html`<option value="${key}"${key === address?.country ? html` selected` : null}>${name}</option>`,
  );
  return html`<fieldset class="address"><legend>Billing address</legend>
<label>Country<select name="country" required><option value="">Choose</option>${options}</select></label>
<label>Postal code<input name="postal_code" autocomplete="billing postal-code" maxlength="20" value="${address?.postal_code ?? ""}"></label></fieldset>`;
}

/** Null if none is given. Throws 400 if there is no such country. */
export function readBillingAddress(fields: Map<string, string>): Address | null {
  const given = Object.fromEntries(["country", "postal_code"].map((key) => [key, fields.get(key)?.trim() ?? ""]));
  return given.country === "" ? null : readPostalAddress(new Parameters(given));
}

/** Null if neither number nor name is given. */
export function readBusiness(fields: Map<string, string>): { taxId: string; name: string } | null {
  const [taxId = "", name = ""] = [fields.get("tax_id")?.trim(), fields.get("business_name")?.trim()];
  return taxId === "" && name === "" ? null : { taxId, name };
}
