/** Caches scripts, styles, texts and fonts, as long as any tab may request them. */
import { isHashed, release } from "./release.ts";

declare const self: ServiceWorkerGlobalScope;

export const assetsCache = `assets-${release}`;
const atOnce = 6;

/** Runs `work` for each item, a few at a time. Rejects with the first failure. */
export async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

/** Whether a response may be cached. A proxy may answer a script's address with an HTML page. */
function isWhole(response: Response): boolean {
  return response.status === 200 && !(response.headers.get("content-type") ?? "").includes("text/html");
}

/** Takes the file from an earlier release if its name contains a hash, otherwise from the server. Throws if the server has none. */
async function obtain(path: string): Promise<Response> {
  const known = isHashed(path) ? await caches.match(path, { ignoreVary: true }) : undefined;
  if (known) return known;
  const response = await fetch(path, { cache: isHashed(path) ? "default" : "no-cache", credentials: "same-origin" });
  if (!isWhole(response)) throw new Error(`${path} → ${response.status}`);
  return response;
}

/** Caches all of them or throws, because a part of a release is useless. */
export async function keepAssets(paths: readonly string[]): Promise<void> {
  const cache = await caches.open(assetsCache);
  const kept = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  const missing = [...new Set(paths)].filter((path) => !kept.has(path));
  await forEachOf(missing, async (path) => cache.put(path, await obtain(path)));
}

/** An asset that is neither cached nor on the server gives the server's 404. */
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
