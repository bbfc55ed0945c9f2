/** What the tests of the service worker share: what it keeps, and a page it is in charge of. What runs in the page is text: Node's types know no caches. */
import type { BrowserContext, Page } from "playwright-core";
import { waitUntil } from "#server/embedded/processes.ts";
import { keptKeys } from "./device-database.ts";

const listKept = `(async () => {
  const names = await caches.keys();
  const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return requests.flat().map(({ url }) => new URL(url).pathname + new URL(url).search);
})()`;

/** Every address in Cache Storage, with its query. */
export async function keptAddresses(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(listKept);
}

/** Conversations of anybody, readable without a connection. */
export async function keptConversations(page: Page): Promise<number> {
  return (await keptKeys(page)).filter((key) => key.startsWith("conversation:")).length;
}

export async function waitForKept(page: Page, address: string): Promise<void> {
  const kept = await waitUntil(async () => (await keptAddresses(page)).includes(address), 20_000, 100);
  if (!kept) throw new Error(`not kept in time: ${address}\n${(await keptAddresses(page)).join("\n")}`);
}

/** Opens `address` and waits until the worker is in charge and keeps the pages of `language`. */
export async function openKept(context: BrowserContext, address: string, language: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  const inCharge = () => page.evaluate<boolean>("navigator.serviceWorker.controller !== null");
  if (!(await waitUntil(inCharge, 30_000, 100))) throw new Error("no service worker took charge in time");
  await waitForKept(page, `/offline?lang=${language}`);
  return page;
}
