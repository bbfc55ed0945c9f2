/** What the tests of banner, card and forms share. */
import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import type { Stage } from "./support.ts";

export function newAddress(): string {
  return `writer-${randomUUID()}@example.com`;
}

/** How many acknowledgements have gone to an address: one for each message the product has stored from it. */
export async function messagesFrom(stage: Stage, address: string): Promise<number> {
  const response = await fetch(`${stage.product.sandboxUrl}/mail?to=${encodeURIComponent(address)}`);
  return ((await response.json()) as unknown[]).length;
}

/** A value of the device, read past the product. */
export async function kept(page: Page, key: string): Promise<unknown> {
  return await page.evaluate(
    (wanted) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open("keyval-store");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const request = opening.result.transaction("keyval").objectStore("keyval").get(wanted);
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        };
      }),
    key,
  );
}

/** Puts a value on the device past the product. */
export async function keep(page: Page, key: string, value: unknown): Promise<void> {
  await page.evaluate(
    ([wanted, given]) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open("keyval-store");
        opening.onupgradeneeded = () => opening.result.createObjectStore("keyval");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const transaction = opening.result.transaction("keyval", "readwrite");
          transaction.objectStore("keyval").put(given, wanted as string);
          transaction.oncomplete = () => resolve();
          transaction.onabort = () => reject(transaction.error);
        };
      }),
    [key, value] as const,
  );
}

export const banner = (page: Page) => page.locator("section[data-consent]");
export const card = (page: Page) => page.getByRole("complementary", { name: "How is Tessera for you?" });

/** Waits until what accompanies the page has been fetched and has looked at what the device keeps. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Support" }).waitFor();
  await page.waitForLoadState("networkidle");
}

/** Opens a page whose clock can be moved, and moves it past the time of the feedback card. */
export async function openWithCard(page: Page, address: string): Promise<void> {
  await page.clock.install();
  await page.goto(address);
  await settle(page);
  await page.clock.fastForward(10_000);
  await card(page).waitFor();
}

export interface Letter {
  name?: string;
  email?: string;
  subject?: string;
  message?: string;
}

/** Fills in the contact form that is on the page. */
export async function fillLetter(page: Page, { name = "Ada", email, subject, message }: Letter): Promise<void> {
  const form = page.locator("main form");
  await form.getByLabel("Name").fill(name);
  if (email !== undefined) await form.getByLabel("Email").fill(email);
  if (subject !== undefined) await form.getByLabel("Subject").fill(subject);
  if (message !== undefined) await form.getByLabel("Message").fill(message);
}

export async function sendLetter(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send message" }).click();
}

/** The texts that stand at the fields of a form, in their order. */
export async function faultsIn(page: Page, form: string): Promise<string[]> {
  return await page.locator(`${form} [id$="-error"]:not(:empty)`).allTextContents();
}
