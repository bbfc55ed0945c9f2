import i18next from "i18next";
import { isBusy, whenFree } from "#client/lib/busy.ts";
import { showToast } from "#client/lib/interface-store.ts";
import type { WorkerMessage } from "./messages.ts";

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

/** A page drawn ahead of a click that may never come is nobody's visit. */
async function shown(): Promise<void> {
  if (!(document as { prerendering?: boolean }).prerendering) return;
  await new Promise((resolve) => document.addEventListener("prerenderingchange", resolve, { once: true }));
}

/** Calls back when a version has been fetched whole and waits to take over from one that is in charge. */
function onWaiting(registration: ServiceWorkerRegistration, waits: () => void): void {
  const follow = (worker: ServiceWorker | null) =>
    worker?.addEventListener("statechange", () => {
      if (worker.state === "installed" && navigator.serviceWorker.controller) waits();
    });
  if (registration.waiting && navigator.serviceWorker.controller) waits();
  follow(registration.installing);
  registration.addEventListener("updatefound", () => follow(registration.installing));
}

/** Tells the worker what only pages know: the reader's language, and which pages are opened without being loaded. */
async function keepInformed(): Promise<void> {
  const { active } = await navigator.serviceWorker.ready;
  const tell = (message: WorkerMessage) => (navigator.serviceWorker.controller ?? active)?.postMessage(message);
  const tellLanguage = () => tell({ type: "LANGUAGE", language: i18next.language });
  // Whoever saves data fetches nothing twice.
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  const tellVisit = () => !connection?.saveData && tell({ type: "VISITED", path: location.pathname, language: i18next.language });
  tellLanguage();
  tellVisit();
  i18next.on("languageChanged", tellLanguage);
  // Both are the router's words: the browser has no event of its own for the first.
  for (const event of ["pushState", "popstate"]) addEventListener(event, tellVisit);
}

function offerUpdate(accept: () => void): void {
  showToast({
    title: i18next.t("update.title"),
    text: i18next.t("update.text"),
    action: {
      label: i18next.t("update.action"),
      run: () => {
        if (isBusy()) showToast({ title: i18next.t("update.later") });
        accept();
      },
    },
  });
}

/**
 * Registers the service worker, and offers a waiting version once; nothing reloads before that is accepted, in this tab or
 * another, and no tab while an answer is under way or a form half filled in.
 */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  await shown();
  let hadController = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    // The first worker of all takes over pages that are as new as itself.
    if (hadController) whenFree(() => location.reload());
    hadController = true;
  });

  const registration = await navigator.serviceWorker.register(trustedAddress(), { updateViaCache: "none" });
  let offered = false;
  onWaiting(registration, () => {
    if (offered) return;
    offered = true;
    whenFree(() => offerUpdate(() => whenFree(() => registration.waiting?.postMessage({ type: "SKIP_WAITING" } satisfies WorkerMessage))));
  });
  setInterval(() => void registration.update().catch(() => undefined), checkEveryMs);
  await keepInformed();
}
