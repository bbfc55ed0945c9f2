import { create } from "zustand";
import { forgetInstallPrompt, installPrompt, onInstallPrompt } from "#client/lib/install-prompt.ts";
import { askToPersist } from "#client/offline/kept-pages.ts";

/** `prompt`: a click opens the browser's install dialog. `ios`: the person must do it in Apple's menu, and is told how. */
type Way = "none" | "prompt" | "ios";

/** The browser, which decides where the share button is. */
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

/** In a tab, only some browsers tell whether the app is installed. */
async function isInstalled(): Promise<boolean> {
  if (runsInstalled()) return true;
  const apps = await (navigator as RelatedAppsNavigator).getInstalledRelatedApps?.().catch(() => []);
  return (apps?.length ?? 0) > 0;
}

/** An iPad reports that it is a Mac, but no Mac has a touch screen. */
function isIos(): boolean {
  return /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
}

/** Other browsers, and apps with a built-in browser, have their own name in the user agent. */
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
  // The page can be moved into an app window or back while it is open.
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

/** Finds out whether and how the product can be installed here. Further calls do nothing. */
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
