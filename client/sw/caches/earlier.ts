/**
 * Deletes caches of earlier releases once no tab runs those releases any more and this release has taken over the pages that
 * the reader kept.
 */
import { assetsCache } from "./assets.ts";
import { carryOver, pagesCache } from "./pages.ts";
import { readNote, writeNote } from "./reader.ts";

declare const self: ServiceWorkerGlobalScope;

const note = "earlier-releases";

interface Earlier {
  caches: string[];
  /** Ids of the tabs that were open when this release took over. A reload gives a tab a new id. */
  tabs: string[];
}

async function openTabs(): Promise<string[]> {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return tabs.map(({ id }) => id);
}

/** Notes the caches and tabs of earlier releases. Call when this release takes over. */
export async function noteEarlier(): Promise<void> {
  const own = [assetsCache, pagesCache];
  const names = (await caches.keys()).filter((name) => /^(assets|pages)-/.test(name) && !own.includes(name));
  // Caches of the first service worker, which had no releases.
  const ancient = (await caches.keys()).filter((name) => name === "texts" || name.startsWith("workbox-"));
  const earlier: Earlier = { caches: [...names, ...ancient], tabs: await openTabs() };
  await writeNote(note, JSON.stringify(earlier));
}

let sweeping: Promise<void> | undefined;

async function sweep(): Promise<void> {
  const text = await readNote(note);
  const earlier = text === undefined ? undefined : (JSON.parse(text) as Earlier);
  if (!earlier || earlier.caches.length === 0) return;
  const open = await openTabs();
  if (earlier.tabs.some((tab) => open.includes(tab))) return;
  // Pages saved while this release was waiting are only in the earlier caches.
  await carryOver();
  // A release being installed may be an earlier one that was deployed again, and may use one of these caches.
  if (self.registration.installing || self.registration.waiting) return;
  await Promise.all(earlier.caches.map((name) => caches.delete(name)));
  await writeNote(note, JSON.stringify({ caches: [], tabs: [] }));
}

/** Deletes earlier releases once they are not needed. A failure doesn't matter: the next page load tries again. */
export async function dropEarlier(): Promise<void> {
  sweeping ??= sweep()
    .catch(() => undefined)
    .finally(() => {
      sweeping = undefined;
    });
  await sweeping;
}
