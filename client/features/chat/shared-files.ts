/** Files that another app shared with ours (client/sw/). The service worker keeps them until the chat takes them. */

import { sharedFiles } from "#client/sw/messages.ts";

async function fileOf(cache: Cache, request: Request): Promise<File | undefined> {
  const response = await cache.match(request);
  if (!response || Date.now() - Number(response.headers.get(sharedFiles.cameAt)) > sharedFiles.waitMs) return undefined;
  const name = decodeURIComponent(response.headers.get(sharedFiles.name) ?? "file");
  const blob = await response.blob();
  return new File([blob], name, { type: blob.type });
}

/** Returns them once. */
export async function takeShared(): Promise<readonly File[]> {
  if (!("caches" in globalThis) || !(await caches.has(sharedFiles.cache))) return [];
  const cache = await caches.open(sharedFiles.cache);
  const files = await Promise.all((await cache.keys()).map((request) => fileOf(cache, request)));
  await caches.delete(sharedFiles.cache);
  return files.filter((file) => file !== undefined);
}
