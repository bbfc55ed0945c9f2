/** The browsers tests run in: the ones on the PATH, Debian's, or Playwright's own. */
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

/** A program of that name on the PATH or in the usual folders. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), ...usualFolders].filter((folder) => folder !== "");
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

/** The same browser without a window's trappings, which cost the other one half of its time. Debian's package has the same name. */
export const shellName = "chromium-headless-shell";

/** The browser's program, as people have it; undefined where the machine has none. */
export function findBrowser(): string | undefined {
  const installed = names.map(findProgram).find((file) => file !== undefined) ?? usualPlaces.find(isProgram);
  if (installed !== undefined) return installed;
  const own = chromium.executablePath();
  return own !== "" && isProgram(own) ? own : undefined;
}

function optionsFor(executablePath: string | undefined): LaunchOptions {
  if (executablePath === undefined) throw new Error("no browser: run `node tests/support/preflight.ts`");
  // As root the browser's own sandbox cannot be used; a container's /dev/shm may be too small.
  const root = process.getuid?.() === 0;
  return { executablePath, headless: true, args: [...(root ? ["--no-sandbox"] : []), "--disable-dev-shm-usage"] };
}

/** For what is about the browser itself: whether it would install the product, and how fast it shows it. */
export function wholeBrowserOptions(): LaunchOptions {
  return optionsFor(findBrowser());
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch(optionsFor(findProgram(shellName) ?? findBrowser()));
}
