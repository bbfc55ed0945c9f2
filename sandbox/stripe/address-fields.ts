import type { Markup } from "./html.ts";
import { html } from "./html.ts";
import { percentages } from "./tax-places.ts";
import type { Address } from "./wire.ts";

const names = new Intl.DisplayNames("en", { type: "region" });
/** Where tax is collected, and some countries where it isn't. */
const countries = [...Object.keys(percentages), "CA", "JP", "US"]
  .map((key) => ({ key, name: names.of(key) ?? key }))
  .sort((one, other) => one.name.localeCompare(other.name));

/** The part of an address that tax needs. */
export function addressFields(address: Address | null | undefined): Markup {
  const options = countries.map(
    ({ key, name }) => html`<option value="${key}"${key === address?.country ? html` selected` : null}>${name}</option>`,
  );
  return html`<fieldset class="address"><legend>Billing address</legend>
<label>Country<select name="country" required><option value="">Choose</option>${options}</select></label>
<label>Postal code<input name="postal_code" autocomplete="billing postal-code" maxlength="20" value="${address?.postal_code ?? ""}"></label></fieldset>`;
}
