/**
 * The shell is precached; a page address without a connection gets it. `/api` never passes through a cache, and an asset
 * that is not there stays a 404: only navigations are answered with HTML.
 */
import type { PrecacheEntry } from "workbox-precaching";
import { cleanupOutdatedCaches, matchPrecache, precacheAndRoute } from "workbox-precaching";
import { NavigationRoute, registerRoute } from "workbox-routing";
import { CacheFirst } from "workbox-strategies";

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: (PrecacheEntry | string)[] };

precacheAndRoute(self.__WB_MANIFEST, { directoryIndex: "", cleanURLs: false });
cleanupOutdatedCaches();

/** The server's page while it answers, so that it may differ by language; the cached shell when it can't be reached. */
async function pageOrShell(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    // 5xx means the server is starting or gone behind its proxy: the shell can say so, a proxy's page can't.
    if (response.status < 500) return response;
    return (await matchPrecache("/index.html")) ?? response;
  } catch (error) {
    const shell = await matchPrecache("/index.html");
    if (shell) return shell;
    throw error;
  }
}

registerRoute(
  new NavigationRoute(({ request }) => pageOrShell(request), {
    denylist: [/^\/(api|assets|icons)\//, /^\/(healthz|readyz|metrics)$/],
  }),
);

/** Texts of other languages and the letters they need: kept once used, so that a switched language works offline. */
const textsCache = "texts";
registerRoute(({ url }) => /^\/assets\/(locale|spectral)-/.test(url.pathname), new CacheFirst({ cacheName: textsCache }));

// Hashed names change with a release: what the old one kept is dropped, and comes back with use.
self.addEventListener("activate", (event) => event.waitUntil(caches.delete(textsCache)));

// A waiting version takes over on the person's word only.
self.addEventListener("message", (event) => {
  if ((event.data as { type?: unknown } | null)?.type === "SKIP_WAITING") event.waitUntil(self.skipWaiting());
});
