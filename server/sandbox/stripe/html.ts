/** Markup that is safe to send as it is. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | null | undefined | false | readonly Markup[];

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map((item) => item.text).join("");
  return escaped(String(part));
}

/** Every value is escaped unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.reduce((text, string, index) => text + string + (index < parts.length ? render(parts[index]) : ""), ""));
}

export function money(cents: number, currency: string): string {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);
}

export function day(seconds: number): string {
  return new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" }).format(new Date(seconds * 1000));
}

const mark = html`<svg class="mark" viewBox="0 0 22 22" aria-hidden="true"><rect x="0" y="0" width="6" height="6" /><rect x="8" y="0" width="6" height="6" /><rect x="16" y="0" width="6" height="6" class="bright" /><rect x="0" y="8" width="6" height="6" /><rect x="8" y="8" width="6" height="6" class="faint" /><rect x="16" y="8" width="6" height="6" /><rect x="0" y="16" width="6" height="6" class="faint" /><rect x="8" y="16" width="6" height="6" /><rect x="16" y="16" width="6" height="6" /></svg>`;

export function page(title: string, body: Markup): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/stripe/page.css">
<script src="/stripe/page.js" defer></script>
</head>
<body>
<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox</strong> <span>A stand-in for Stripe. No card is real, no money moves.</span></aside>
<header>${mark}<span>Tessera</span></header>
<main>${body}</main>
</body>
</html>
`.text;
}

/** No inline script or style; forms may lead on to the addresses the page redirects to. */
export function pageHeaders(formTargets: readonly (string | null)[]): Record<string, string> {
  const origins = [...new Set(formTargets.filter((target) => target !== null).map((target) => new URL(target).origin))];
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; form-action ${["'self'", ...origins].join(" ")}; base-uri 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}
