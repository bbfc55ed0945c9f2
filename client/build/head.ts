/** The head of a prerendered page, for search engines, link previews and the browser's preloader. */
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages } from "#domain/languages.ts";
import type { DrawnPage } from "../prerender.tsx";

/** A placeholder for the product's address, which only the server knows (server/http/pages.ts). */
export const originPlaceholder = "https://origin.invalid";

/** Open Graph's locale names. */
const locales: Readonly<Record<LanguageCode, string>> = {
  en: "en_US",
  es: "es_ES",
  fr: "fr_FR",
  de: "de_DE",
  zh: "zh_CN",
  ja: "ja_JP",
  pt: "pt_PT",
  pl: "pl_PL",
  ro: "ro_RO",
  it: "it_IT",
  ru: "ru_RU",
};

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/**
 * The address of a page in one language. The address without `?lang=` is in the negotiated language, and in English for clients
 * that ask for none, such as search engines. So it is English's address.
 */
export function addressOf(path: string, language: LanguageCode): string {
  return `${originPlaceholder}${path}${language === fallbackLanguage ? "" : `?lang=${language}`}`;
}

/** The address of a page in every language, and the negotiated one as the default. */
export function alternatesOf(path: string): { language: string; address: string }[] {
  const all = languages.map(({ code }) => ({ language: code as string, address: addressOf(path, code) }));
  return [...all, { language: "x-default", address: addressOf(path, fallbackLanguage) }];
}

function isRooted(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/");
}

/** Makes addresses in structured data absolute, because it is read without the page around it. */
function absolute(value: unknown): unknown {
  if (isRooted(value)) return originPlaceholder + value;
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, absolute(inner)]));
}

function scriptOf(data: object): string {
  const json = JSON.stringify({ "@context": "https://schema.org", ...(absolute(data) as object) });
  return `<script type="application/ld+json">${json.replaceAll("<", "\\u003c")}</script>`;
}

function previewTags({ language, path, head }: DrawnPage, title: string, picture: string): string[] {
  const article = head.structuredData?.some((data) => /Article|BlogPosting/.test((data as { "@type"?: string })["@type"] ?? ""));
  const image = `${originPlaceholder}/og/${picture}`;
  const properties = [
    ["og:type", article ? "article" : "website"],
    ["og:site_name", "Tessera"],
    ["og:title", head.title ?? title],
    ["og:description", head.description],
    ["og:url", addressOf(path, language)],
    ["og:locale", locales[language]],
    ["og:image", image],
    ["og:image:width", "1200"],
    ["og:image:height", "630"],
    ["og:image:alt", head.title ?? title],
  ].flatMap(([property, content]) => (content ? [`<meta property="${property}" content="${escapeHtml(content)}">`] : []));
  return [...properties, '<meta name="twitter:card" content="summary_large_image">'];
}

/** `picture` is the file name of the preview picture in `public/og/`. */
export function headOf(page: DrawnPage, title: string, picture: string): string[] {
  const { head, kind, language, path } = page;
  const indexable = kind === "page" && head.indexable !== false;
  const tags = [`<title>${escapeHtml(title)}</title>`];
  if (head.description) tags.push(`<meta name="description" content="${escapeHtml(head.description)}">`);
  if (!indexable) return [...tags, '<meta name="robots" content="noindex">'];
  tags.push(`<link rel="canonical" href="${addressOf(path, language)}">`);
  for (const alternate of alternatesOf(path)) {
    tags.push(`<link rel="alternate" hreflang="${alternate.language}" href="${alternate.address}">`);
  }
  tags.push('<link rel="alternate" type="application/rss+xml" title="Tessera" href="/blog/rss.xml">');
  return [...tags, ...previewTags(page, title, picture)];
}

/** Structured data is not a script, so the CSP allows it inline. It is at the end of the page, where nothing waits for it. */
export function structuredDataOf({ head }: DrawnPage): string {
  return (head.structuredData ?? []).map(scriptOf).join("\n    ");
}
