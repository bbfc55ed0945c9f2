/** What the product keeps on the device, read and written past it. */
import type { Page } from "playwright-core";

/** One step in the database of the device. What runs in the page is text: it is not of this program. */
async function inDatabase<Result>(page: Page, mode: "readonly" | "readwrite", step: string): Promise<Result> {
  return await page.evaluate<Result>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open("keyval-store");
    opening.onupgradeneeded = () => opening.result.createObjectStore("keyval");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("keyval", "${mode}");
      const request = transaction.objectStore("keyval").${step};
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(request.result);
      };
      transaction.onabort = () => reject(transaction.error);
    };
  })`);
}

/** A value of the device. */
export async function kept(page: Page, key: string): Promise<unknown> {
  return await inDatabase(page, "readonly", `get(${JSON.stringify(key)})`);
}

export async function keep(page: Page, key: string, value: unknown): Promise<void> {
  await inDatabase(page, "readwrite", `put(${JSON.stringify(value)}, ${JSON.stringify(key)})`);
}

export async function keptKeys(page: Page): Promise<string[]> {
  return (await inDatabase<unknown[]>(page, "readonly", "getAllKeys()")).map(String);
}
