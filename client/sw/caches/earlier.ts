/** Earlier releases: what they kept stays until no tab runs them any more and this one has taken over what the reader kept. */
import { assetsCache } from "./assets.ts";
import { carryOver, pagesCache } from "./pages.ts";
import { readNote, writeNote } from "./reader.ts";

declare const self: ServiceWorkerGlobalScope;

const note = "earlier-releases";

interface Earlier {
  caches: string[];
  /** Ids of the tabs that were open when this release took over; a reload gives a tab another. */
  tabs: string[];
}

async function openTabs(): Promise<string[]> {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return tabs.map(({ id }) => id);
}

/** Call when this release takes over. */
export async function noteEarlier(): Promise<void> {
  const own = [assetsCache, pagesCache];
  const names = (await caches.keys()).filter((name) => /^(assets|pages)-/.test(name) && !own.includes(name));
  // Kept by the worker before this one, which knew no releases.
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
  // What was saved while this release waited is in theirs alone.
  await carryOver();
  // A release on its way in may be one of them that has come back, or was fetched while this one took over.
  if (self.registration.installing || self.registration.waiting) return;
  await Promise.all(earlier.caches.map((name) => caches.delete(name)));
  await writeNote(note, JSON.stringify({ caches: [], tabs: [] }));
}

/** Drops earlier releases once that harms nobody. Failing is no harm either: it is tried again with the next page. */
export async function dropEarlier(): Promise<void> {
  sweeping ??= sweep()
    .catch(() => undefined)
    .finally(() => {
      sweeping = undefined;
    });
  await sweeping;
}
