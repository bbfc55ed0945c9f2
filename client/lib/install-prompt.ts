/**
 * Keeps the browser's install prompt event. The browser fires it once, at a time it chooses, often before the parts that show
 * it are loaded.
 */

export interface InstallPrompt extends Event {
  prompt(): Promise<{ outcome: "accepted" | "dismissed" }>;
}

let offered: InstallPrompt | null = null;
const listeners = new Set<() => void>();

function keep(prompt: InstallPrompt | null): void {
  offered = prompt;
  for (const listener of listeners) listener();
}

declare global {
  interface Window {
    /** The install prompt event, if it was fired before the scripts ran (boot.js). */
    installOffer?: InstallPrompt;
  }
}

/** Call once, at start. */
export function watchInstallPrompt(): void {
  offered = window.installOffer ?? null;
  addEventListener("beforeinstallprompt", (event) => {
    // The product shows the offer in its own place.
    event.preventDefault();
    keep(event as InstallPrompt);
  });
  addEventListener("appinstalled", () => keep(null));
}

export function installPrompt(): InstallPrompt | null {
  return offered;
}

/** An install prompt can be used only once. */
export function forgetInstallPrompt(): void {
  keep(null);
}

export function onInstallPrompt(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
