import { Workbox } from "workbox-window";

const address = "/service-worker.js";
const checkEveryMs = 60 * 60_000;

interface TrustedTypePolicyFactory {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

/** Under Trusted Types only this policy may name a script, and it lets one address through. */
function trustedAddress(): string {
  const factory = (window as { trustedTypes?: TrustedTypePolicyFactory }).trustedTypes;
  if (!factory) return address;
  const policy = factory.createPolicy("tessera-sw", {
    createScriptURL: (url) => {
      if (url !== address) throw new TypeError("Only the service worker may be loaded by address.");
      return url;
    },
  });
  return policy.createScriptURL(address);
}

/** The texts this page was drawn with came before a first service worker could keep them. */
async function keepTextsInUse(): Promise<void> {
  await navigator.serviceWorker.ready;
  const cache = await caches.open("texts");
  for (const { name } of performance.getEntriesByType("resource")) {
    const { origin, pathname } = new URL(name);
    const wanted = origin === location.origin && /^\/assets\/(locale|spectral)-/.test(pathname);
    if (wanted && !(await caches.match(pathname))) await cache.add(pathname);
  }
}

/**
 * Registers the service worker. `onUpdateReady` is called with the way to take the waiting version over; nothing reloads
 * before that is used. A tab whose worker was replaced from another tab is told through `onReplaced`.
 */
export async function registerServiceWorker(onUpdateReady: (accept: () => void) => void, onReplaced: () => void): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const hadController = navigator.serviceWorker.controller !== null;
  let accepted = false;
  const workbox = new Workbox(trustedAddress());

  // The first worker takes control of no page that is open, so a change here always means another version took over.
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (accepted) location.reload();
    else if (hadController) onReplaced();
  });
  workbox.addEventListener("waiting", () =>
    onUpdateReady(() => {
      accepted = true;
      workbox.messageSkipWaiting();
    }),
  );

  await workbox.register();
  await keepTextsInUse();
  setInterval(() => void workbox.update().catch(() => undefined), checkEveryMs);
}
