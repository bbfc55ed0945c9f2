import { describeLead } from "./format.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";

const monthAndYear = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
const wholeDay = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const timeOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC" });

const steps = [
  { advance: "P1D", label: "+ 1 day" },
  { advance: "P7D", label: "+ 1 week" },
  { advance: "P1M", label: "+ 1 month" },
];

/** The month as a field of tiles: the past days are filled, today is highlighted. */
function monthOf(now: Date): Html {
  const today = now.getUTCDate();
  const firstWeekday = (new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).getUTCDay() + 6) % 7;
  const days = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  const weeks = Math.ceil((firstWeekday + days) / 7);
  const stones = Array.from({ length: days }, (_, index) => {
    const place = firstWeekday + index;
    const kind = index + 1 < today ? "laid" : index + 1 === today ? "today" : "open";
    return html`<rect class="stone-${kind}" x="${(place % 7) * 10}" y="${Math.floor(place / 7) * 10}" width="9" height="9"/>`;
  });
  return html`<figure class="month"><svg viewBox="0 0 69 ${weeks * 10 - 1}" role="img" aria-label="Day ${today} of ${days}">${stones}</svg><figcaption>${monthAndYear.format(now)}</figcaption></figure>`;
}

export function clockSection(now: Date, movable: boolean, moving: boolean): Html {
  const buttons = steps.map(
    ({ advance, label }) => html`<button class="button secondary" name="advance" value="${advance}">${label}</button>`,
  );
  const forms = html`
    <form method="post" action="/clock" data-busy="Moving time. Everything that falls due on the way is done in order; a month takes a while.">
      <div class="row">${buttons}</div>
    </form>
    <form method="post" action="/clock" class="row end" data-busy="Moving time. Everything that falls due on the way is done in order; a month takes a while.">
      <label class="field">Another step, ISO 8601
        <input name="advance" placeholder="P1M2DT3H" required maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false">
      </label>
      <button class="button secondary">Move</button>
    </form>`;
  return html`
  <section id="clock" class="clock card" aria-labelledby="clock-heading">
    ${monthOf(now)}
    <div class="clock-text">
      <h2 id="clock-heading" class="eyebrow">Business time</h2>
      <p class="date"><time datetime="${now.toISOString()}" data-now><span data-day>${wholeDay.format(now)}</span> <span class="hour"><span data-time>${timeOfDay.format(now)}</span> UTC</span></time></p>
      <p class="soft">${describeLead(now.getTime() - Date.now())}. Renewals, grace and expiry follow it; it only goes forward.</p>
      ${movable ? forms : html`<p class="notice">Stripe is the real one here, so its time, and with it the product's, can't be moved.</p>`}
      <p class="soft" role="status" data-status>${moving ? "Time is being moved right now." : ""}</p>
    </div>
  </section>`;
}
