import type { ApiFaultKind } from "../stripe/api-faults.ts";
import { apiFaultKinds } from "../stripe/api-faults.ts";
import type { EventFault } from "../stripe/deliver.ts";
import type { SandboxListing } from "../stripe/plugin.ts";
import { dollars, timeOf } from "./format.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";
import { eventFaultKinds } from "./routes.ts";

const faultNames: Readonly<Record<EventFault["kind"], string>> = { delay: "Delay", double: "Send twice", reorder: "Reorder", lose: "Lose" };

function sessionItem(session: SandboxListing["sessions"][number]): Html {
  const what = `${dollars(session.amountCents)} for ${session.email ?? "a new customer"}`;
  return html`
    <li class="item"><p class="item-head">${session.url === null ? html`<span>${what}</span>` : html`<a href="${session.url}">${what}</a>`}<span class="soft">${timeOf(new Date(session.createdAt))}</span></p></li>`;
}

function subscriptionItem(subscription: SandboxListing["subscriptions"][number]): Html {
  const end =
    subscription.cancelsAt === null ? (["Renews", subscription.periodEndsAt] as const) : (["Ends", subscription.cancelsAt] as const);
  const state = html`<span class="state state-${subscription.status}">${subscription.status.replaceAll("_", " ")}</span>`;
  return html`
    <li class="item"><p class="item-head"><span><strong>${subscription.plan}</strong> ${subscription.email ?? subscription.customer}</span>${state}</p>
      ${subscription.status === "canceled" ? undefined : html`<p class="soft">${end[0]} ${timeOf(new Date(end[1]))}</p>`}</li>`;
}

function eventRow(event: SandboxListing["events"][number]): Html {
  const delivery = event.delivered ? "delivered" : "not delivered";
  return html`<tr><th scope="row">${event.type}</th><td><span class="state state-${event.delivered ? "completed" : "running"}">${delivery}</span></td><td class="soft">${timeOf(new Date(event.createdAt))}</td></tr>`;
}

function listed(heading: string, items: readonly Html[], empty: string): Html {
  return html`<h3>${heading}</h3>${items.length === 0 ? html`<p class="empty">${empty}</p>` : html`<ul class="items">${items}</ul>`}`;
}

export function paymentsSection(overview: SandboxListing): Html {
  return html`
  <section id="payments" class="card" aria-labelledby="payments-heading" data-live>
    <h2 id="payments-heading">Payments</h2>
    ${listed("Open checkout sessions", overview.sessions.filter((session) => session.status === "open").map(sessionItem), "None. Choose a plan in the product to open one.")}
    ${listed("Subscriptions", overview.subscriptions.map(subscriptionItem), "None yet.")}
  </section>`;
}

function faultForms(): Html {
  return html`
    <form method="post" action="/stripe/fault" class="grid">
      <label class="field">Fault<select name="fault">${eventFaultKinds.map((kind) => html`<option value="${kind}">${faultNames[kind]}</option>`)}</select></label>
      <label class="field">Event type<input name="eventType" placeholder="every event" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
      <label class="field">Times<input name="count" inputmode="numeric" pattern="[0-9]*" placeholder="1" autocomplete="off"></label>
      <label class="field">Delay in milliseconds<input name="delayMs" inputmode="numeric" pattern="[0-9]*" placeholder="2000" autocomplete="off"></label>
      <button class="button primary">Set the fault</button>
    </form>
    <form method="post" action="/stripe/fault"><input type="hidden" name="fault" value=""><button class="button small secondary">Clear what has not struck yet</button></form>`;
}

export function eventsSection(overview: SandboxListing): Html {
  const rows = overview.events.map(eventRow);
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Latest events"><table>${rows}</table></div>`;
  return html`
  <section id="events" class="card" aria-labelledby="events-heading">
    <h2 id="events-heading">Stripe events</h2>
    <p class="soft">Webhooks are signed and retried as Stripe does it. Disturb the next ones here; the books must still agree. A new fault takes the place of the last.</p>
    ${faultForms()}
    <div id="event-list" data-live>${rows.length > 0 ? html`<h3>Latest events</h3>${table}` : html`<p class="empty">No event yet.</p>`}</div>
  </section>`;
}

const apiFaultNames: Readonly<Record<ApiFaultKind, string>> = {
  rate_limited: "Answers 429",
  server_error: "Answers 500",
  cut: "Cuts the connection",
  cut_after_work: "Does the work, then cuts the connection",
  silent_after_work: "Does the work, then never answers",
};

export function apiSection(): Html {
  return html`
  <section id="api" class="card" aria-labelledby="api-heading">
    <h2 id="api-heading">Stripe's API</h2>
    <p class="soft">Let the next calls of the product fail. Trying again must never do the same thing twice. A new fault takes the place of the last.</p>
    <form method="post" action="/stripe/api-fault" class="grid">
      <label class="field">Fault<select name="fault">${apiFaultKinds.map((kind) => html`<option value="${kind}">${apiFaultNames[kind]}</option>`)}</select></label>
      <label class="field">Method<input name="method" placeholder="every method" autocomplete="off" autocapitalize="characters" spellcheck="false"></label>
      <label class="field">Path begins with<input name="path" placeholder="/v1/" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
      <label class="field">Times<input name="count" inputmode="numeric" pattern="[0-9]*" placeholder="1" autocomplete="off"></label>
      <button class="button primary">Set the fault</button>
    </form>
    <form method="post" action="/stripe/api-fault"><input type="hidden" name="fault" value=""><button class="button small secondary">Clear what has not struck yet</button></form>
  </section>`;
}
