/** The head of a prerendered page: what search engines, previews and the browser's preloader read. */
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages } from "#domain/languages.ts";
import type { DrawnPage } from "../prerender.tsx";

/** Stands for the product's address until the server knows it (server/http/pages.ts). */
export const originPlaceholder = "https://origin.invalid";

/** Open Graph's names of the languages. */
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
 * The address of a page in one language. The bare address is negotiated, and English where nothing is asked for, so
 * search engines know English by it.
 */
export function addressOf(path: string, language: LanguageCode): string {
  return `${originPlaceholder}${path}${language === fallbackLanguage ? "" : `?lang=${language}`}`;
}

/** Every language's address of a page, with the negotiated one for all others. */
export function alternatesOf(path: string): { language: string; address: string }[] {
  const all = languages.map(({ code }) => ({ language: code as string, address: addressOf(path, code) }));
  return [...all, { language: "x-default", address: addressOf(path, fallbackLanguage) }];
}

function isRooted(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/");
}

/** Addresses in structured data are written from the root on; they are read without the page around them. */
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

/** `picture` is the file of the preview's picture, in `public/og/`. */
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

/** Data, which no policy on scripts concerns. It stands at the page's end, where nothing waits for it. */
export function structuredDataOf({ head }: DrawnPage): string {
  return (head.structuredData ?? []).map(scriptOf).join("\n    ");
}
