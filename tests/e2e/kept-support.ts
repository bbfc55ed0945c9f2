/** Helpers for the service worker tests. Code that runs in the page is text, because the project's Node types have no CacheStorage. */
import type { BrowserContext, Page } from "playwright-core";
import { waitUntil } from "#server/embedded/processes.ts";
import { keptKeys } from "./device-database.ts";

const listKept = `(async () => {
  const names = await caches.keys();
  const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return requests.flat().map(({ url }) => new URL(url).pathname + new URL(url).search);
})()`;

/** Every address in Cache Storage, including its query. */
export async function keptAddresses(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(listKept);
}

/** The number of conversations stored for offline reading, of all people. */
export async function keptConversations(page: Page): Promise<number> {
  return (await keptKeys(page)).filter((key) => key.startsWith("conversation:")).length;
}

export async function waitForKept(page: Page, address: string): Promise<void> {
  const kept = await waitUntil(async () => (await keptAddresses(page)).includes(address), 60_000, 100);
  if (!kept) throw new Error(`not kept in time: ${address}\n${(await keptAddresses(page)).join("\n")}`);
}

/** Opens `address` and waits until the service worker controls the page and has stored the pages in `language`. */
export async function openKept(context: BrowserContext, address: string, language: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  const inCharge = () => page.evaluate<boolean>("navigator.serviceWorker.controller !== null");
  if (!(await waitUntil(inCharge, 60_000, 100))) throw new Error("no service worker took charge in time");
  await waitForKept(page, `/offline?lang=${language}`);
  return page;
}
