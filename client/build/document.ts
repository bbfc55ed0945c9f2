/** Inserts a prerendered page into the HTML file that the bundler made from index.html. */
import { documentTitle } from "../components/document-title.ts";
import type { DrawnPage } from "../prerender.tsx";
import type { Assets } from "./assets.ts";
import { escapeHtml, headOf, structuredDataOf } from "./head.ts";

function replaceOnce(text: string, what: string | RegExp, by: string): string {
  const found = typeof what === "string" ? text.includes(what) : what.test(text);
  if (!found) throw new Error(`index.html has no ${what} for the prerendered page`);
  return text.replace(what, () => by);
}

/** The disabled links are not fetched. They tell the bundler's loader that the styles within the joined sheet are loaded already. */
function styleTags(styles: readonly string[], sheet: string | undefined): string[] {
  const tag = (file: string) => `<link rel="stylesheet" crossorigin href="${file}">`;
  if (sheet === undefined) return styles.map(tag);
  return [tag(sheet), ...styles.map((file) => `<link disabled rel="stylesheet" crossorigin href="${file}">`)];
}

/** Preload tags let the browser fetch at once what the page's script would only request later: three round trips become one. */
function loadingTags(
  page: DrawnPage,
  { frameScripts, styles }: ReturnType<Assets["filesOf"]>,
  sheet: string | undefined,
  fonts: readonly string[],
): string[] {
  return [
    ...fonts.map((file) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="${file}">`),
    ...styleTags(styles, sheet),
    // A frame has nothing to read until its scripts have run, so they are preloaded.
    ...(page.kind === "frame" ? frameScripts.map((file) => `<link rel="modulepreload" crossorigin href="${file}">`) : []),
  ];
}

/**
 * Replaces the script tags, which would compete with styles and fonts for bandwidth, with lists: boot.js fetches the first one's scripts
 * once the page is visible, sleeping-content.ts the other's when the reader begins to use the page.
 */
function withLateScripts(html: string, page: DrawnPage, { frameScripts, contentScripts }: ReturnType<Assets["filesOf"]>): string {
  const [tag, entry] = /<script type="module" crossorigin src="([^"]+)"><\/script>\s*/.exec(html) ?? [];
  if (tag === undefined || entry === undefined) throw new Error("index.html has no script for the prerendered page");
  const [boot] = /<script src="\/assets\/boot-[^"]+">/.exec(html) ?? [];
  if (boot === undefined) throw new Error("index.html has no boot file for the prerendered page");
  const first = [entry, ...frameScripts, ...(page.sleeps ? [] : contentScripts)];
  const lists = [
    `<meta name="scripts" content="${first.join(" ")}">`,
    ...(page.sleeps ? [`<meta name="content-scripts" content="${contentScripts.join(" ")}">`] : []),
  ];
  return replaceOnce(html.replace(tag, ""), boot, [...lists, boot].join("\n    "));
}

export async function documentOf(page: DrawnPage, template: string, assets: Assets, picture: string): Promise<string> {
  const title = documentTitle(page.head.title);
  // Only a page with the address it was rendered for is hydrated; everything else is rendered anew (main.tsx).
  const mark = page.kind === "page" ? ` data-path="${escapeHtml(page.path)}"` : "";
  let html = replaceOnce(template, '<html lang="en">', `<html lang="${page.language}">`);
  html = replaceOnce(html, /<meta name="description"[^>]*>\s*/, "");
  html = replaceOnce(html, /<title>[^<]*<\/title>/, headOf(page, title, picture).join("\n    "));
  const files = assets.filesOf(page);
  html = replaceOnce(
    html,
    "</head>",
    `  ${loadingTags(page, files, await assets.sheetOf(files.styles), assets.fontsOf(page)).join("\n    ")}\n  </head>`,
  );
  if (page.kind !== "frame") html = withLateScripts(html, page, files);
  html = replaceOnce(html, '<div id="root"></div>', `<div id="root"${mark}>${page.html}</div>`);
  html = replaceOnce(html, "</body>", `  ${structuredDataOf(page)}\n  </body>`);
  // A prerendered page can be read without scripts, so it needs no <noscript>; a frame does.
  return page.kind === "frame" ? html : replaceOnce(html, /<noscript>[^<]*<\/noscript>\s*/, "");
}
