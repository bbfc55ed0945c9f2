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

/** Escapes every value unless it is `Markup` itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.reduce((text, string, index) => text + string + (index < parts.length ? render(parts[index]) : ""), ""));
}

export function money(cents: number, currency: string): string {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);
}

export function day(seconds: number): string {
  return new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" }).format(new Date(seconds * 1000));
}

/** The product's mark, the same as in client/features/frame/mark.tsx. */
const mark = html`<svg class="mark" viewBox="0 0 29 29" aria-hidden="true"><path d="M0 0h9v9H0zM10 0h9v9h-9zM20 0h9v9h-9zM10 10h9v9h-9zM10 20h9v9h-9z" /><path class="bright" d="M20 20h9v9h-9z" /></svg>`;

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

/** The policy allows no inline scripts or styles. Forms may redirect to the addresses in `formTargets`. */
export function pageHeaders(formTargets: readonly (string | null)[]): Record<string, string> {
  const origins = [...new Set(formTargets.filter((target) => target !== null).map((target) => new URL(target).origin))];
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; form-action ${["'self'", ...origins].join(" ")}; base-uri 'none'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}
