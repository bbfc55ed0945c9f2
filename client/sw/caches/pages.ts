/**
 * Caches pages as the server sent them, by language and address. Each is kept together with all its assets and fetched again
 * for a new release, so that a page never runs with another release's scripts.
 */
import type { Keeping, KeptPage } from "../messages.ts";
import { assetsCache, forEachOf, keepAssets } from "./assets.ts";
import { isPieceFile, pieceFiles, release } from "./release.ts";

const prefix = "pages-";
export const pagesCache = prefix + release;
const visitedMaximum = 30;
/** An address that does not exist, to get the server's not-found page. */
export const notFoundPath = "/404";

const keepingHeader = "x-kept";
const keptAtHeader = "x-kept-at";
const titleHeader = "x-kept-title";
const rank: readonly Keeping[] = ["visited", "base", "saved"];

function keyOf(path: string, language: string): string {
  return `${path}?lang=${language}`;
}

function ofKey(address: string): { path: string; language: string } {
  const url = new URL(address);
  return { path: url.pathname, language: url.searchParams.get("lang") ?? "" };
}

function titleOf(html: string): string {
  const [, title = ""] = /<title>([^<]*)<\/title>/.exec(html) ?? [];
  const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
  return title.replace(/ · Tessera$/, "").replaceAll(/&(amp|lt|gt|quot);/g, (entity) => entities[entity] ?? entity);
}

/** The scripts, styles and fonts in the page's HTML, and the text that the page will fetch. */
function assetsOf(html: string, path: string, language: string): string[] {
  return [...(html.match(/\/assets\/[\w.-]+\.(?:js|css|woff2)/g) ?? []), ...pieceFiles(path, language)];
}

/** Whether the HTML is the page of this address, not a frame or an error page. */
export function isPageOf(html: string, path: string): boolean {
  return html.includes(` data-path="${path}"`);
}

export function languageOf(html: string): string | undefined {
  return /<html lang="([\w-]+)"/.exec(html)?.[1];
}

interface Found {
  html: string;
  headers: Headers;
  status: number;
}

/** Caches a page and everything it needs. If the page was already kept for a stronger reason, that reason stays. */
export async function storePage(path: string, language: string, found: Found, keeping: Keeping, keptAtMs = Date.now()): Promise<void> {
  await keepAssets(assetsOf(found.html, path, language));
  const cache = await caches.open(pagesCache);
  const before = await cache.match(keyOf(path, language), { ignoreVary: true });
  const known = before?.headers.get(keepingHeader) as Keeping | undefined;
  const headers = new Headers(found.headers);
  // The cached body is not compressed.
  headers.delete("content-encoding");
  headers.delete("content-length");
  // An offline page must not ask for speculation rules, which would make it fetch more.
  headers.delete("speculation-rules");
  headers.set(keepingHeader, known && rank.indexOf(known) > rank.indexOf(keeping) ? known : keeping);
  headers.set(keptAtHeader, String(keptAtMs));
  headers.set(titleHeader, encodeURIComponent(titleOf(found.html)));
  await cache.put(keyOf(path, language), new Response(found.html, { status: found.status, headers }));
}

/** Fetches and caches a page. Returns false if there is none; throws if the server can't be reached. */
export async function keepPage(path: string, language: string, keeping: Keeping, keptAtMs?: number): Promise<boolean> {
  // `?lang=` selects the language. Without cookies the server does not store it as the reader's choice.
  const response = await fetch(keyOf(path, language), { credentials: "omit", cache: "no-cache", headers: { accept: "text/html" } });
  if (response.status >= 500 || response.status === 429) throw new Error(`${path} → ${response.status}`);
  const isPage = (response.headers.get("content-type") ?? "").includes("text/html");
  if (!isPage || (!response.ok && path !== notFoundPath)) return false;
  const { headers, status } = response;
  const html = await response.text();
  if (keeping !== "base" && !isPageOf(html, path)) return false;
  await storePage(path, language, { html, headers, status }, keeping, keptAtMs);
  return true;
}

async function cacheNames(): Promise<string[]> {
  const names = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== pagesCache);
  // This release's cache first, then the earlier ones, the newest first.
  return [pagesCache, ...names.reverse()];
}

async function entriesOf(name: string): Promise<{ path: string; language: string; response: Response }[]> {
  const cache = await caches.open(name);
  const requests = await cache.keys();
  const entries = await Promise.all(
    requests.map(async ({ url }) => ({ ...ofKey(url), response: await cache.match(url, { ignoreVary: true }) })),
  );
  return entries.flatMap(({ response, ...entry }) => (response ? [{ ...entry, response }] : []));
}

/**
 * The page in that language, or else in any. Reads without caches.open, because opening a cache that is being deleted would
 * create it again.
 */
export async function findPage(path: string, language: string): Promise<Response | undefined> {
  const names = await cacheNames();
  for (const cacheName of names) {
    const exact = await caches.match(keyOf(path, language), { cacheName, ignoreVary: true });
    if (exact) return exact;
  }
  for (const cacheName of names) {
    const other = await caches.match(path, { cacheName, ignoreSearch: true, ignoreVary: true });
    if (other) return other;
  }
  return undefined;
}

export async function hasPage(path: string, language: string): Promise<boolean> {
  const cache = await caches.open(pagesCache);
  return (await cache.match(keyOf(path, language), { ignoreVary: true })) !== undefined;
}

export async function listPages(): Promise<KeptPage[]> {
  const entries = await entriesOf(pagesCache);
  return await Promise.all(
    entries.map(async ({ path, language, response }) => ({
      path,
      language,
      keeping: (response.headers.get(keepingHeader) ?? "visited") as Keeping,
      title: decodeURIComponent(response.headers.get(titleHeader) ?? ""),
      keptAtMs: Number(response.headers.get(keptAtHeader)),
      bytes: (await response.blob()).size + (await sizeOf(pieceFiles(path, language))),
    })),
  );
}

async function sizeOf(files: readonly string[]): Promise<number> {
  const kept = await Promise.all(files.map((file) => caches.match(file, { cacheName: assetsCache, ignoreVary: true })));
  const sizes = await Promise.all(kept.map(async (response) => (response ? (await response.blob()).size : 0)));
  return sizes.reduce((total, size) => total + size, 0);
}

/**
 * Deletes the pages that match, and texts that only they used. Deletes them in every release, because a waiting release would
 * otherwise restore them.
 */
export async function removePages(matches: (page: KeptPage) => boolean): Promise<void> {
  const pages = await listPages();
  const removed = pages.filter(matches);
  const left = pages.filter((page) => !removed.includes(page)).map(({ path }) => path);
  const gone = removed.map(({ path }) => path).filter((path) => !left.includes(path));
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    if (name.startsWith(prefix)) {
      for (const { path, language } of removed) await cache.delete(keyOf(path, language), { ignoreVary: true });
    } else {
      const files = (await cache.keys()).filter(({ url }) => gone.some((path) => isPieceFile(new URL(url).pathname, path)));
      for (const file of files) await cache.delete(file, { ignoreVary: true });
    }
  }
}

/** Deletes the oldest visited pages beyond the limit. */
export async function limitVisited(): Promise<void> {
  const visited = (await listPages()).filter(({ keeping }) => keeping === "visited");
  const tooMany = visited.sort((one, other) => other.keptAtMs - one.keptAtMs).slice(visitedMaximum);
  if (tooMany.length === 0) return;
  await removePages(({ path, language }) => tooMany.some((page) => page.path === path && page.language === language));
}

/**
 * Fetches the pages kept by earlier releases for this one. Throws if the server can't be reached; the earlier caches are then
 * still needed.
 */
export async function carryOver(): Promise<void> {
  const [, ...earlier] = await cacheNames();
  for (const name of earlier) {
    await forEachOf(await entriesOf(name), async ({ path, language, response }) => {
      if (await hasPage(path, language)) return;
      const keeping = (response.headers.get(keepingHeader) ?? "visited") as Keeping;
      await keepPage(path, language, keeping, Number(response.headers.get(keptAtHeader)) || undefined);
    });
  }
}
