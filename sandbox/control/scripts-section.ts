import type { Html } from "./html.ts";
import { html } from "./html.ts";

const endpoints = [
  { call: "GET /mail?to=ada@example.com", body: undefined, does: "Mails to an address, newest first, with their links" },
  { call: "POST /clock", body: '{"advance": "P1M"}', does: "Moves time and answers once everything due is done" },
  { call: "POST /checkout/:session/pay", body: '{"card": "success"}', does: "Pays a checkout session; also declined, authentication" },
  {
    call: "POST /models/fault",
    body: '{"model": "gpt-6-luna", "fault": "die_mid_stream", "count": 1}',
    does: "Sets a model's fault; null clears it",
  },
  { call: "POST /models/pace", body: '{"paceMs": 0}', does: "Sets the time of a token" },
  { call: "GET /models/calls", body: undefined, does: "What the models were asked lately" },
  {
    call: "POST /stripe/fault",
    body: '{"fault": "lose", "eventType": "invoice.paid", "count": 1}',
    does: "Disturbs events; null clears it",
  },
  {
    call: "POST /stripe/api-fault",
    body: '{"fault": "silent_after_work", "method": "POST", "path": "/v1/customers"}',
    does: "Disturbs Stripe's API; null clears it",
  },
] as const;

export function scriptsSection(): Html {
  const rows = endpoints.map(
    ({ call, body, does }) =>
      html`<li class="item"><p><code>${call}</code></p>${body === undefined ? undefined : html`<p><code class="soft">${body}</code></p>`}<p class="soft">${does}.</p></li>`,
  );
  return html`
  <section id="scripts" class="card" aria-labelledby="scripts-heading">
    <h2 id="scripts-heading">For scripts</h2>
    <p class="soft">Every switch on this page is an endpoint that takes JSON and answers in JSON.</p>
    <ul class="items endpoints">${rows}</ul>
  </section>`;
}
