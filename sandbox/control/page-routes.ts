import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { SandboxListing } from "../stripe/plugin.ts";
import { clockSection } from "./clock-section.ts";
import { html } from "./html.ts";
import { readFields, readInteger, readText } from "./input.ts";
import { mailSection } from "./mail-section.ts";
import { modelsSection } from "./models-section.ts";
import { introduction, page } from "./page.ts";
import { apiSection, eventsSection, paymentsSection } from "./payments-section.ts";
import { ControlProblem } from "./problem.ts";
import type { ControlParts } from "./routes.ts";
import { scriptsSection } from "./scripts-section.ts";

export interface PageSources extends ControlParts {
  productUrl: URL;
  /** Undefined with the real Stripe. */
  payments: (() => SandboxListing) | undefined;
}

const mailsShown = 20;

/** `form-action` needs no other origin, because the page's forms post to the sandbox. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/** The HTML of a mail is not trusted: it gets an opaque origin, and no scripts or resources from elsewhere. */
const mailPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'";

const assets = [
  { name: "control.css", type: "text/css; charset=utf-8" },
  { name: "control.js", type: "text/javascript; charset=utf-8" },
  { name: "mark.svg", type: "image/svg+xml" },
];

export function sendPage(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .headers({
      "content-security-policy": pagePolicy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    })
    .type("text/html; charset=utf-8")
    .send(text);
}

function renderControlPage(sources: PageSources, done: string | undefined): string {
  const overview = sources.payments?.();
  const places = [
    { id: "clock", name: "Time" },
    { id: "mail", name: "Mail" },
    ...(overview === undefined ? [] : [{ id: "payments", name: "Payments" }]),
    { id: "models", name: "Models" },
    ...(overview === undefined
      ? []
      : [
          { id: "events", name: "Events" },
          { id: "api", name: "API" },
        ]),
    { id: "scripts", name: "Scripts" },
  ];
  const content = html`
    ${introduction(done)}
    ${clockSection(sources.clock.now(), sources.stepper !== undefined, sources.stepper?.moving() ?? false)}
    <div class="columns">
      <div class="column">${mailSection(sources.mails.list(undefined, mailsShown), sources.mails.count())}${overview === undefined ? undefined : paymentsSection(overview)}</div>
      <div class="column">${modelsSection(sources.models)}${overview === undefined ? undefined : [eventsSection(overview), apiSection()]}</div>
    </div>
    ${scriptsSection()}`;
  return page({ title: "Tessera sandbox", productUrl: sources.productUrl, places, content, script: true });
}

/** Serves the control page with its style and script, and each mail's HTML as a document of its own. */
export function registerPageRoutes(instance: FastifyInstance, sources: PageSources): void {
  instance.get("/", async (request, reply) => {
    const query: unknown = request.query;
    return sendPage(reply, renderControlPage(sources, readText(readFields(query, ["done"]), "done")));
  });
  for (const { name, type } of assets) {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url));
    instance.get(`/control/${name}`, async (_request, reply) =>
      reply.headers({ "cache-control": "no-cache", "x-content-type-options": "nosniff" }).type(type).send(content),
    );
  }
  instance.get("/mail/:id/body", async (request, reply) => {
    const id = readInteger(readFields(request.params, ["id"]), "id", 1, 999_999_999);
    const mail = id === undefined ? undefined : sources.mails.find(id);
    if (mail === undefined) throw new ControlProblem(404, "not_found", "There is no such mail.");
    return reply
      .headers({
        "content-security-policy": mailPolicy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      })
      .type("text/html; charset=utf-8")
      .send(`<!doctype html><meta charset="utf-8"><base target="_blank">${mail.html}`);
  });
}
