/** Finds the browser the tests run in: on the PATH, in the usual folders, or the one Playwright installed. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import type { Browser, LaunchOptions } from "playwright-core";
import { chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const usualFolders = ["/usr/bin", "/usr/lib/chromium", "/snap/bin", "/usr/local/bin"];
const usualPlaces = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"];

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program with that name, on the PATH or in the usual folders. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), ...usualFolders].filter((folder) => folder !== "");
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

/** Chromium without window code, on which the whole browser spends half of its time. The Debian package has the same name. */
export const shellName = "chromium-headless-shell";

/** The path of the whole browser, as users have it; undefined if the machine has none. */
export function findBrowser(): string | undefined {
  const installed = names.map(findProgram).find((file) => file !== undefined) ?? usualPlaces.find(isProgram);
  if (installed !== undefined) return installed;
  const own = chromium.executablePath();
  return own !== "" && isProgram(own) ? own : undefined;
}

/** A microphone that beeps, and nobody is asked whether it may be used. */
const fakeMicrophone = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

function optionsFor(executablePath: string | undefined): LaunchOptions {
  if (executablePath === undefined) throw new Error("no browser: run `node tests/support/preflight.ts`");
  // Chromium can't use its sandbox as root, and a container's /dev/shm may be too small.
  const root = process.getuid?.() === 0;
  return { executablePath, headless: true, args: [...(root ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", ...fakeMicrophone] };
}

/** For tests that need the whole browser: whether it offers to install the product, and how fast it renders a page. */
export function wholeBrowserOptions(): LaunchOptions {
  return optionsFor(findBrowser());
}

/** How long a page waits, as `expect.poll` does: waits end with their condition, and only a busy machine comes near this. */
const patienceMs = 60_000;

export async function launchBrowser(options?: LaunchOptions): Promise<Browser> {
  const browser = await chromium.launch(options ?? optionsFor(findProgram(shellName) ?? findBrowser()));
  return browser.on("context", (context) => context.setDefaultTimeout(patienceMs));
}

/** On `globalThis`, because each test file has its own copy of this module. */
const shared = globalThis as { testBrowser?: Promise<Browser> };

/** The browser of all files that this process executes one after the other; it ends with the process. Close your contexts, not the browser. */
export function sharedBrowser(): Promise<Browser> {
  shared.testBrowser ??= launchBrowser();
  return shared.testBrowser;
}
