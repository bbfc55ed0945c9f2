import i18next from "i18next";
import { isBusy, whenFree } from "#client/lib/busy.ts";
import { showToast } from "#client/lib/interface-store.ts";
import type { WorkerMessage } from "./messages.ts";

const address = "/service-worker.js";
const checkEveryMs = 60 * 60_000;

interface TrustedTypePolicyFactory {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

/**
 * Returns the service worker's address through a Trusted Types policy. It is the only policy that may return a script's
 * address, and it allows only this one.
 */
function trustedAddress(): string {
  const factory = (window as { trustedTypes?: TrustedTypePolicyFactory }).trustedTypes;
  if (!factory) return address;
  const policy = factory.createPolicy("tessera-sw", {
    createScriptURL: (url) => {
      if (url !== address) throw new TypeError("This policy allows only the service worker's address.");
      return url;
    },
  });
  return policy.createScriptURL(address);
}

/** Waits until the page is visible: a page prerendered by the browser may never be opened and must not count as a visit. */
async function untilVisible(): Promise<void> {
  if (!(document as { prerendering?: boolean }).prerendering) return;
  await new Promise((resolve) => document.addEventListener("prerenderingchange", resolve, { once: true }));
}

/** Calls `waits` when a new version is installed and waits to replace the active one, and `fails` when the first installation fails. */
function follow(registration: ServiceWorkerRegistration, waits: () => void, fails: () => void): void {
  const watch = () => {
    const { installing } = registration;
    installing?.addEventListener("statechange", () => {
      if (installing.state === "installed" && navigator.serviceWorker.controller) waits();
      if (installing.state === "redundant" && !registration.active) fails();
    });
  };
  if (registration.waiting && navigator.serviceWorker.controller) waits();
  watch();
  registration.addEventListener("updatefound", watch);
}

/** Tells the service worker what only pages know: the reader's language, and pages opened by client-side navigation. */
async function keepInformed(): Promise<void> {
  const { active } = await navigator.serviceWorker.ready;
  const tell = (message: WorkerMessage) => (navigator.serviceWorker.controller ?? active)?.postMessage(message);
  const tellLanguage = () => tell({ type: "LANGUAGE", language: i18next.language });
  // With data saving on, pages are not fetched again only to be kept.
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  const tellVisit = () => !connection?.saveData && tell({ type: "VISITED", path: location.pathname, language: i18next.language });
  tellLanguage();
  tellVisit();
  i18next.on("languageChanged", tellLanguage);
  // The router fires "pushState" itself, because browsers have no event for it.
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

/** The wait before a failed first installation is tried again. It doubles after each failure. */
const againAfterMs = 10_000;

/**
 * Registers the service worker and offers a waiting version once. Nothing reloads before the person accepts it, in this tab or
 * another, and no tab reloads during an answer or with a half-filled form.
 */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  await untilVisible();
  let hadController = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    // The very first service worker takes over pages of its own release, so they need no reload.
    if (hadController) whenFree(() => location.reload());
    hadController = true;
  });

  const script = trustedAddress();
  let registration: ServiceWorkerRegistration;
  let offered = false;
  const offer = () => {
    if (offered) return;
    offered = true;
    whenFree(() => offerUpdate(() => whenFree(() => registration.waiting?.postMessage({ type: "SKIP_WAITING" } satisfies WorkerMessage))));
  };
  // The installation fetches everything that offline use needs, and a short loss of the network makes it fail.
  async function begin(waitMs: number): Promise<void> {
    registration = await navigator.serviceWorker.register(script, { updateViaCache: "none" });
    follow(registration, offer, () => setTimeout(() => void begin(2 * waitMs).catch(() => undefined), waitMs));
  }
  await begin(againAfterMs);
  setInterval(() => void registration.update().catch(() => undefined), checkEveryMs);
  await keepInformed();
}
