/** Files for programs: sitemap, robots.txt and the blog's feed. */
import { fallbackLanguage } from "#domain/languages.ts";
import type { DrawnPage } from "../prerender.tsx";
import { addressOf, alternatesOf, escapeHtml, originPlaceholder } from "./head.ts";

interface Article {
  "@type"?: string;
  headline?: string;
  description?: string;
  datePublished?: string;
  dateModified?: string;
}

function articleOf({ head }: DrawnPage): Article | undefined {
  return (head.structuredData as Article[] | undefined)?.find((data) => /Article|BlogPosting/.test(data["@type"] ?? ""));
}

export function sitemapOf(pages: readonly DrawnPage[]): string {
  const entries = pages.map((page) => {
    const changed = articleOf(page)?.dateModified ?? articleOf(page)?.datePublished;
    const alternates = alternatesOf(page.path).map(
      ({ language, address }) => `    <xhtml:link rel="alternate" hreflang="${language}" href="${address}"/>`,
    );
    return [
      "  <url>",
      `    <loc>${addressOf(page.path, page.language)}</loc>`,
      ...(changed ? [`    <lastmod>${changed}</lastmod>`] : []),
      ...alternates,
      "  </url>",
    ].join("\n");
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ...entries,
    "</urlset>",
    "",
  ].join("\n");
}

/**
 * Private pages say `noindex` themselves. They are not disallowed here, because a crawler that may not read a page can't see
 * its `noindex`.
 */
export function robotsOf(): string {
  return ["User-agent: *", "Disallow: /api/", "", `Sitemap: ${originPlaceholder}/sitemap.xml`, ""].join("\n");
}

/** The articles under /blog as RSS 2.0, the newest first. They are written in English. */
export function feedOf(pages: readonly DrawnPage[]): string {
  const blog = pages.find(({ path, language }) => path === "/blog" && language === fallbackLanguage);
  const items = pages
    .filter(({ path, language }) => path.startsWith("/blog/") && language === fallbackLanguage)
    .map((page) => ({ page, published: articleOf(page)?.datePublished ?? "" }))
    .toSorted((one, other) => other.published.localeCompare(one.published))
    .map(({ page, published }) => {
      const address = addressOf(page.path, page.language);
      return [
        "    <item>",
        `      <title>${escapeHtml(page.head.title ?? "")}</title>`,
        `      <link>${address}</link>`,
        `      <guid isPermaLink="true">${address}</guid>`,
        `      <description>${escapeHtml(page.head.description ?? "")}</description>`,
        ...(published ? [`      <pubDate>${new Date(published).toUTCString()}</pubDate>`] : []),
        "    </item>",
      ].join("\n");
    });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    "  <channel>",
    `    <title>${escapeHtml(blog?.head.title ? `${blog.head.title} · Tessera` : "Tessera")}</title>`,
    `    <link>${originPlaceholder}/blog</link>`,
    `    <atom:link href="${originPlaceholder}/blog/rss.xml" rel="self" type="application/rss+xml"/>`,
    `    <description>${escapeHtml(blog?.head.description ?? "Tessera")}</description>`,
    `    <language>${fallbackLanguage}</language>`,
    ...items,
    "  </channel>",
    "</rss>",
    "",
  ].join("\n");
}
