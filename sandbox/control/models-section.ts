import type { FilterReason } from "#domain/filter-reasons.ts";
import { filterReasons } from "#domain/filter-reasons.ts";
import { catalogue } from "#domain/models.ts";
import type { ModelCall } from "../models/calls.ts";
import { slowestPaceMs } from "../models/delivery.ts";
import type { ModelFault, ModelFaultKind } from "../models/faults.ts";
import { modelFaultKinds } from "../models/faults.ts";
import type { ModelServer } from "../models/plugin.ts";
import { humanPaceMs } from "../models/plugin.ts";
import { timeOf } from "./format.ts";
import type { Html } from "./html.ts";
import { html } from "./html.ts";

const faultNames: Readonly<Record<ModelFaultKind, string>> = {
  die_mid_stream: "Dies mid-stream",
  rate_limited: "Answers 429",
  server_error: "Answers 500",
  hang: "Hangs",
  garbage: "Sends garbage",
  half_file: "Sends half a file",
  no_usage: "Ends without usage",
  zero_usage: "Reports a usage of zero",
  empty: "Says nothing",
  length: "Reaches its length limit",
  content_filter: "Is stopped by a filter",
  tool_calls: "Asks for a tool",
  slow_first_token: "Is slow to begin",
  failed_job: "Fails at a clip",
  expired_address: "Names an address that has ended",
};

const reasonNames: Readonly<Record<FilterReason, string>> = {
  self_harm: "Self-harm",
  sexual: "Sexual content",
  violence: "Violence",
  hate: "Hate",
  harassment: "Harassment",
  bio: "Biology",
  cyber: "Cybersecurity",
  dangerous: "Dangerous or illegal",
  copyright: "Copyright",
  personal_data: "Personal data",
  wording: "A word on a list",
  instructions: "The model's rules",
  provider_terms: "The provider's terms",
  other: "A word that nobody knows yet",
  unspecified: "Says nothing",
};

const callsShown = 8;

function nameOf(model: string): string {
  return model === "*" ? "Every model" : (catalogue.find((candidate) => candidate.id === model)?.name ?? model);
}

function activeFault(fault: ModelFault): Html {
  const extent = fault.count === null ? "until cleared" : `${fault.count} more ${fault.count === 1 ? "time" : "times"}`;
  return html`
    <li class="switch"><span><strong>${nameOf(fault.model)}</strong> ${faultNames[fault.fault].toLowerCase()}${fault.reason ? `: ${reasonNames[fault.reason].toLowerCase()}` : ""} <span class="soft">${extent}</span></span>
      <form method="post" action="/models/fault"><input type="hidden" name="model" value="${fault.model}"><input type="hidden" name="fault" value="">
        <button class="button small secondary" aria-label="Clear the fault of ${nameOf(fault.model)}">Clear</button></form></li>`;
}

function faultForm(): Html {
  const served = catalogue.filter((model) => model.category === "text");
  return html`
    <form method="post" action="/models/fault" class="grid">
      <label class="field">Model<select name="model"><option value="*">Every model</option>${served.map((model) => html`<option value="${model.id}">${model.name}</option>`)}</select></label>
      <label class="field">Fault<select name="fault">${modelFaultKinds.map((kind) => html`<option value="${kind}">${faultNames[kind]}</option>`)}</select></label>
      <label class="field">Times<input name="count" inputmode="numeric" pattern="[0-9]*" placeholder="until cleared" autocomplete="off"></label>
      <label class="field">After tokens<input name="afterTokens" inputmode="numeric" pattern="[0-9]*" placeholder="8" autocomplete="off"></label>
      <label class="field">Why the filter stops it<select name="reason">${filterReasons.toReversed().map((reason) => html`<option value="${reason}">${reasonNames[reason]}</option>`)}</select></label>
      <button class="button primary">Set the fault</button>
    </form>`;
}

function callRow(call: ModelCall): Html {
  return html`<tr><th scope="row">${call.model}</th><td>${call.promptTokens} in, ${call.completionTokens} out</td><td><span class="state state-${call.outcome}">${call.outcome}</span></td><td class="soft">${timeOf(new Date(call.at))}</td></tr>`;
}

export function modelsSection(server: ModelServer): Html {
  const faults = server.faults.list();
  const calls = server.calls.list().slice(0, callsShown);
  const pace = server.pace.milliseconds;
  return html`
  <section id="models" class="card" aria-labelledby="models-heading">
    <h2 id="models-heading">Models</h2>
    <p class="soft">Text models without a key are answered here, at a person's reading pace. A failed answer costs the customer nothing: try it.</p>
    ${faults.length > 0 ? html`<ul class="items">${faults.map(activeFault)}</ul>` : undefined}
    ${faultForm()}
    <form method="post" action="/models/pace" class="row end">
      <label class="field">Milliseconds a token<input name="paceMs" value="${pace}" inputmode="numeric" pattern="[0-9]+" required autocomplete="off" aria-describedby="pace-hint"></label>
      <button class="button secondary">Set the pace</button>
    </form>
    <p id="pace-hint" class="soft">${humanPaceMs} is the usual pace, 0 as fast as it can, ${slowestPaceMs.toLocaleString("en-US")} the slowest.</p>
    <div id="calls" data-live>
      ${calls.length > 0 ? html`<h3>Latest calls</h3><div class="scroll" tabindex="0" role="region" aria-label="Latest calls"><table>${calls.map(callRow)}</table></div>` : undefined}
    </div>
  </section>`;
}
