import type { Html } from "./html.ts";
import { html } from "./html.ts";

const mark = html`<svg class="mark" viewBox="0 0 29 29" aria-hidden="true"><path d="M0 0h9v9H0zM10 0h9v9h-9zM20 0h9v9h-9zM10 10h9v9h-9zM10 20h9v9h-9z"/><path class="bright" d="M20 20h9v9h-9z"/></svg>`;

export interface PageParts {
  title: string;
  productUrl: URL;
  /** Links to the parts of the page. */
  places: readonly { id: string; name: string }[];
  content: Html;
  script: boolean;
}

export function page({ title, productUrl, places, content, script }: PageParts): string {
  const navigation = html`<nav class="places" aria-label="On this page">${places.map(({ id, name }) => html`<a href="#${id}">${name}</a>`)}</nav>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/control/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/control/control.css">
${script ? html`<script src="/control/control.js" defer></script>` : undefined}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><a class="brand" href="/">${mark}<span>Tessera <span class="soft">Sandbox</span></span></a>
<a class="button secondary" href="${productUrl.href}">Open Tessera</a></header>
${places.length > 0 ? navigation : undefined}
<main id="content">${content}</main>
</body>
</html>`.text;
}

const notices: Readonly<Record<string, string>> = {
  clock: "Time has moved. Everything that fell due on the way is done.",
  models: "Set. The next answer of the model shows it.",
  events: "Set. The next event shows it.",
  api: "Set. The next call shows it.",
};

export function introduction(done: string | undefined): Html {
  const notice = done === undefined ? undefined : notices[done];
  return html`
  <div class="introduction">
    <h1>A stand-in for the world outside</h1>
    <p class="lead">Stripe, the model providers and the mail server, played on this machine in their own protocols. No keys, no accounts, no money: what you do here stays here.</p>
    ${notice === undefined ? undefined : html`<p class="notice good" role="status">${notice}</p>`}
  </div>`;
}

export function problemPage(productUrl: URL, title: string, detail: string): string {
  const content = html`<div class="introduction"><h1>${title}</h1><p class="lead">${detail}</p><p><a class="button primary" href="/">Back to the sandbox</a></p></div>`;
  return page({ title: `${title} · Tessera sandbox`, productUrl, places: [], content, script: false });
}
