/** Scripts, styles, texts, fonts: once fetched, kept as long as a tab may ask for them. */
import { isHashed, release } from "./release.ts";

declare const self: ServiceWorkerGlobalScope;

export const assetsCache = `assets-${release}`;
const atOnce = 6;

/** `work` for each, a few at a time. Rejects with the first failure. */
export async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

/** An answer worth keeping: a gateway's HTML under a script's name is none. */
function isWhole(response: Response): boolean {
  return response.status === 200 && !(response.headers.get("content-type") ?? "").includes("text/html");
}

/** From an earlier release where the name says that it is the same, else from the server. Throws where there is none. */
async function obtain(path: string): Promise<Response> {
  const known = isHashed(path) ? await caches.match(path, { ignoreVary: true }) : undefined;
  if (known) return known;
  const response = await fetch(path, { cache: isHashed(path) ? "default" : "no-cache", credentials: "same-origin" });
  if (!isWhole(response)) throw new Error(`${path} → ${response.status}`);
  return response;
}

/** Keeps all of them, or throws: half a release is none. */
export async function keepAssets(paths: readonly string[]): Promise<void> {
  const cache = await caches.open(assetsCache);
  const kept = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  const missing = [...new Set(paths)].filter((path) => !kept.has(path));
  await forEachOf(missing, async (path) => cache.put(path, await obtain(path)));
}

/** An asset that is nowhere stays the server's 404. */
export async function answerAsset(event: FetchEvent): Promise<Response> {
  const { pathname } = new URL(event.request.url);
  const own = await caches.match(pathname, { cacheName: assetsCache, ignoreVary: true });
  const known = own ?? (await caches.match(pathname, { ignoreVary: true }));
  if (known) return known;
  const response = await fetch(event.request);
  if (isHashed(pathname) && isWhole(response)) {
    const copy = response.clone();
    event.waitUntil(caches.open(assetsCache).then((cache) => cache.put(pathname, copy)));
  }
  return response;
}
