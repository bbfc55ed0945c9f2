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

/** The preloader finds what the page's script would only ask for once it runs: three round trips become one. */
function loadingTags(page: DrawnPage, { scripts, styles }: ReturnType<Assets["filesOf"]>, assets: Assets): string[] {
  return [
    ...assets.fontsOf(page).map((file) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="${file}">`),
    ...styles.map((file) => `<link rel="stylesheet" crossorigin href="${file}">`),
    // In a mere frame nothing can be read until the scripts have run.
    ...(page.kind === "frame" ? scripts.map((file) => `<link rel="modulepreload" crossorigin href="${file}">`) : []),
  ];
}

/** Instead of tags that would take the line from styles and fonts: boot.js fetches these once the page is in sight. */
function withLateScripts(html: string, scripts: readonly string[]): string {
  const [tag, entry] = /<script type="module" crossorigin src="([^"]+)"><\/script>\s*/.exec(html) ?? [];
  if (tag === undefined || entry === undefined) throw new Error("index.html has no script for the prerendered page");
  const [boot] = /<script src="\/assets\/boot-[^"]+">/.exec(html) ?? [];
  if (boot === undefined) throw new Error("index.html has no boot file for the prerendered page");
  return replaceOnce(html.replace(tag, ""), boot, `<meta name="scripts" content="${[entry, ...scripts].join(" ")}">\n    ${boot}`);
}

export function documentOf(page: DrawnPage, template: string, assets: Assets, picture: string): string {
  const title = documentTitle(page.head.title);
  // What is hydrated says for which address it was drawn; anything else is drawn anew (main.tsx).
  const mark = page.kind === "page" ? ` data-path="${escapeHtml(page.path)}"` : "";
  let html = replaceOnce(template, '<html lang="en">', `<html lang="${page.language}">`);
  html = replaceOnce(html, /<meta name="description"[^>]*>\s*/, "");
  html = replaceOnce(html, /<title>[^<]*<\/title>/, headOf(page, title, picture).join("\n    "));
  const files = assets.filesOf(page);
  html = replaceOnce(html, "</head>", `  ${loadingTags(page, files, assets).join("\n    ")}\n  </head>`);
  if (page.kind !== "frame") html = withLateScripts(html, files.scripts);
  html = replaceOnce(html, '<div id="root"></div>', `<div id="root"${mark}>${page.html}</div>`);
  html = replaceOnce(html, "</body>", `  ${structuredDataOf(page)}\n  </body>`);
  // A prerendered page can be read without scripts; in a mere frame there is nothing to read.
  return page.kind === "frame" ? html : replaceOnce(html, /<noscript>[^<]*<\/noscript>\s*/, "");
}
