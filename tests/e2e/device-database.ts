/** Reads and writes the product's database on the device directly. */
import type { Page } from "playwright-core";

/** Runs one step in the device's database. The code is text because it runs in the page. */
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

/** The value stored under a key. */
export async function kept(page: Page, key: string): Promise<unknown> {
  return await inDatabase(page, "readonly", `get(${JSON.stringify(key)})`);
}

export async function keep(page: Page, key: string, value: unknown): Promise<void> {
  await inDatabase(page, "readwrite", `put(${JSON.stringify(value)}, ${JSON.stringify(key)})`);
}

export async function keptKeys(page: Page): Promise<string[]> {
  return (await inDatabase<unknown[]>(page, "readonly", "getAllKeys()")).map(String);
}
