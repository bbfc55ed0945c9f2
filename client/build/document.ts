/** Puts a drawn page into the template that the bundler made of index.html. */
import { documentTitle } from "../components/document-title.ts";
import type { DrawnPage } from "../prerender.tsx";
import type { Assets } from "./assets.ts";
import { escapeHtml, headOf, structuredDataOf } from "./head.ts";

function replaceOnce(text: string, what: string | RegExp, by: string): string {
  const found = typeof what === "string" ? text.includes(what) : what.test(text);
  if (!found) throw new Error(`index.html has no ${what} for the prerendered page`);
  return text.replace(what, () => by);
}

/**
 * The preloader finds what the page's script would only ask for once it runs: three round trips become one. What is drawn
 * already comes to life after what it is drawn with.
 */
function loadingTags(page: DrawnPage, assets: Assets): string[] {
  const { scripts, styles } = assets.filesOf(page);
  return [
    ...assets.fontsOf(page.language).map((file) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="${file}">`),
    ...styles.map((file) => `<link rel="stylesheet" crossorigin href="${file}">`),
    ...scripts.map((file) => `<link rel="modulepreload" fetchpriority="low" crossorigin href="${file}">`),
  ];
}

export function documentOf(page: DrawnPage, template: string, assets: Assets, picture: string): string {
  const title = documentTitle(page.head.title);
  // What is hydrated says for which address it was drawn; anything else is drawn anew (main.tsx).
  const mark = page.kind === "page" ? ` data-path="${escapeHtml(page.path)}"` : "";
  let html = replaceOnce(template, '<html lang="en">', `<html lang="${page.language}">`);
  html = replaceOnce(html, /<meta name="description"[^>]*>\s*/, "");
  html = replaceOnce(html, /<title>[^<]*<\/title>/, headOf(page, title, picture).join("\n    "));
  html = replaceOnce(html, "</head>", `  ${loadingTags(page, assets).join("\n    ")}\n  </head>`);
  html = replaceOnce(html, '<div id="root"></div>', `<div id="root"${mark}>${page.html}</div>`);
  html = replaceOnce(html, "</body>", `  ${structuredDataOf(page)}\n  </body>`);
  if (page.kind !== "frame") html = replaceOnce(html, /(?<=<script type="module"[^>]*)>/, ' fetchpriority="low">');
  // A prerendered page can be read without scripts; in a mere frame there is nothing to read.
  return page.kind === "frame" ? html : replaceOnce(html, /<noscript>[^<]*<\/noscript>\s*/, "");
}
