import { create } from "zustand";
import { forgetInstallPrompt, installPrompt, onInstallPrompt } from "#client/lib/install-prompt.ts";
import { askToPersist } from "#client/offline/kept-pages.ts";

/** `prompt`: the browser asks on a click. `ios`: only the person can do it, and is told how. */
type Way = "none" | "prompt" | "ios";

/** Where the button for sharing stands. */
export type IosBrowser = "safari" | "other";

interface InstallState {
  way: Way;
  iosBrowser: IosBrowser;
}

interface AppleNavigator extends Navigator {
  standalone?: boolean;
}

interface RelatedAppsNavigator extends Navigator {
  getInstalledRelatedApps?: () => Promise<readonly unknown[]>;
}

export const useInstall = create<InstallState>(() => ({ way: "none", iosBrowser: "safari" }));

const ownWindow =
  "(display-mode: standalone), (display-mode: minimal-ui), (display-mode: fullscreen), (display-mode: window-controls-overlay)";

function runsInstalled(): boolean {
  return matchMedia(ownWindow).matches || (navigator as AppleNavigator).standalone === true;
}

/** A tab can't see the app beside it; some browsers tell. */
async function isInstalled(): Promise<boolean> {
  if (runsInstalled()) return true;
  const apps = await (navigator as RelatedAppsNavigator).getInstalledRelatedApps?.().catch(() => []);
  return (apps?.length ?? 0) > 0;
}

/** An iPad says that it is a Mac, but no Mac has a touch screen. */
function isIos(): boolean {
  return /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
}

/** Chrome, Edge, Firefox, Opera and the rest name themselves; so does every app with a browser inside. */
function iosBrowser(): IosBrowser {
  return /CriOS|EdgiOS|FxiOS|OPiOS|OPT\/|DuckDuckGo|GSA\//.test(navigator.userAgent) ? "other" : "safari";
}

let installed = false;

function follow(): void {
  const way: Way = installed ? "none" : installPrompt() ? "prompt" : isIos() ? "ios" : "none";
  useInstall.setState({ way, iosBrowser: iosBrowser() });
}

async function start(): Promise<void> {
  installed = await isInstalled();
  if (installed) await askToPersist();
  onInstallPrompt(follow);
  // Moved into a window of its own while open, or back.
  matchMedia(ownWindow).addEventListener("change", () => {
    installed = runsInstalled();
    follow();
  });
  addEventListener("appinstalled", () => {
    installed = true;
    follow();
    void askToPersist();
  });
  follow();
}

let started = false;

/** Finds out whether, and how, the product can be installed here. Once, however many ask. */
export function startInstall(): void {
  if (started) return;
  started = true;
  void start();
}

export async function install(): Promise<void> {
  const offered = installPrompt();
  if (!offered) return;
  forgetInstallPrompt();
  await offered.prompt();
}
