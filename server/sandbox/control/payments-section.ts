import { money, timeOf } from "./format.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";
import type { EventFault } from "./routes.ts";
import { eventFaultKinds } from "./routes.ts";

/** What the Stripe sandbox shows of itself on the page. */
export interface PaymentsOverview {
  sessions: readonly { id: string; url: string; email: string | null; amountCents: number; currency: string; createdAt: Date }[];
  subscriptions: readonly { id: string; email: string | null; plan: string; status: string; periodEndsAt: Date | null }[];
  events: readonly { id: string; type: string; delivery: string; createdAt: Date }[];
}

const faultNames: Readonly<Record<EventFault["kind"], string>> = { delay: "Delay", double: "Send twice", reorder: "Reorder", lose: "Lose" };

function sessionItem(session: PaymentsOverview["sessions"][number]): Html {
  return html`
    <li class="item"><p class="item-head"><a href="${session.url}">${money(session.amountCents, session.currency)} for ${session.email ?? "a new customer"}</a><span class="soft">${timeOf(session.createdAt)}</span></p></li>`;
}

function subscriptionItem(subscription: PaymentsOverview["subscriptions"][number]): Html {
  const until =
    subscription.periodEndsAt === null ? undefined : html`<span class="soft">period ends ${timeOf(subscription.periodEndsAt)}</span>`;
  return html`
    <li class="item"><p class="item-head"><span><strong>${subscription.plan}</strong> ${subscription.email ?? subscription.id}</span><span class="state state-${subscription.status}">${subscription.status.replaceAll("_", " ")}</span></p>${until}</li>`;
}

function eventRow(event: PaymentsOverview["events"][number]): Html {
  return html`<tr><th scope="row">${event.type}</th><td><span class="state state-${event.delivery}">${event.delivery}</span></td><td class="soft">${timeOf(event.createdAt)}</td></tr>`;
}

function listed(heading: string, items: readonly Html[], empty: string): Html {
  return html`<h3>${heading}</h3>${items.length === 0 ? html`<p class="empty">${empty}</p>` : html`<ul class="items">${items}</ul>`}`;
}

export function paymentsSection(overview: PaymentsOverview): Html {
  return html`
  <section id="payments" class="card" aria-labelledby="payments-heading" data-live>
    <h2 id="payments-heading">Payments</h2>
    ${listed("Open checkout sessions", overview.sessions.map(sessionItem), "None. Choose a plan in the product to open one.")}
    ${listed("Subscriptions", overview.subscriptions.map(subscriptionItem), "None yet.")}
  </section>`;
}

function activeFault(fault: EventFault): Html {
  const extent = fault.count === undefined ? "until cleared" : `${fault.count} ${fault.count === 1 ? "time" : "times"}`;
  const delay = fault.delayMs === undefined ? "" : `, by ${fault.delayMs} ms`;
  return html`<li class="switch"><span><strong>${faultNames[fault.kind]}</strong> ${fault.eventType ?? "every event"} <span class="soft">${extent}${delay}</span></span></li>`;
}

function faultForms(faults: readonly EventFault[]): Html {
  const clear = html`
    <ul class="items">${faults.map(activeFault)}</ul>
    <form method="post" action="/stripe/fault"><input type="hidden" name="fault" value=""><button class="button small secondary">Clear all event faults</button></form>`;
  return html`
    ${faults.length > 0 ? clear : undefined}
    <form method="post" action="/stripe/fault" class="grid">
      <label class="field">Fault<select name="fault">${eventFaultKinds.map((kind) => html`<option value="${kind}">${faultNames[kind]}</option>`)}</select></label>
      <label class="field">Event type<input name="eventType" placeholder="every event" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
      <label class="field">Times<input name="count" inputmode="numeric" pattern="[0-9]*" placeholder="until cleared" autocomplete="off"></label>
      <label class="field">Delay in milliseconds<input name="delayMs" inputmode="numeric" pattern="[0-9]*" autocomplete="off"></label>
      <button class="button primary">Set the fault</button>
    </form>`;
}

export function eventsSection(overview: PaymentsOverview, faults: readonly EventFault[]): Html {
  const rows = overview.events.map(eventRow);
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Latest events"><table>${rows}</table></div>`;
  return html`
  <section id="events" class="card" aria-labelledby="events-heading">
    <h2 id="events-heading">Stripe events</h2>
    <p class="soft">Webhooks are signed and retried as Stripe does it. Disturb them here; the books must still agree.</p>
    ${faultForms(faults)}
    <div id="event-list" data-live>${rows.length > 0 ? html`<h3>Latest events</h3>${table}` : html`<p class="empty">No event yet.</p>`}</div>
  </section>`;
}
