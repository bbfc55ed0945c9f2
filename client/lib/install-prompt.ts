/** The browser's offer to install comes once, when it likes, often before anything that could show it has been fetched. */

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
    /** The browser's offer, if it came before the scripts did (boot.js). */
    installOffer?: InstallPrompt;
  }
}

/** Call once, at start. */
export function watchInstallPrompt(): void {
  offered = window.installOffer ?? null;
  addEventListener("beforeinstallprompt", (event) => {
    // The product has a place of its own for it.
    event.preventDefault();
    keep(event as InstallPrompt);
  });
  addEventListener("appinstalled", () => keep(null));
}

export function installPrompt(): InstallPrompt | null {
  return offered;
}

/** An offer can be taken up once. */
export function forgetInstallPrompt(): void {
  keep(null);
}

export function onInstallPrompt(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
