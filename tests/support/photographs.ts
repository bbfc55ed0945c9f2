/** With SCREENSHOTS=<folder> the browser's walks leave pictures of their steps there, light and dark, for people to look at. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";

const folder = process.env.SCREENSHOTS;

/** Whether pictures are taken in this run. */
export const photographed = folder !== undefined && folder !== "";

export async function photograph(page: Page, name: string): Promise<void> {
  if (folder === undefined || folder === "") return;
  await mkdir(folder, { recursive: true });
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: null });
}
