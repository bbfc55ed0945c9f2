/** Files that another app shared with ours (client/sw/). The service worker keeps them until the chat takes them. */

import { isRecording, sharedFiles } from "#client/sw/messages.ts";

async function fileOf(cache: Cache, request: Request): Promise<File | undefined> {
  const response = await cache.match(request);
  if (!response || Date.now() - Number(response.headers.get(sharedFiles.cameAt)) > sharedFiles.waitMs) return undefined;
  const name = decodeURIComponent(response.headers.get(sharedFiles.name) ?? "file");
  const blob = await response.blob();
  return new File([blob], name, { type: blob.type });
}

/** Removes the wanted files from the cache and returns them. Files that came too long ago are removed too. */
async function take(isWanted: (file: File) => boolean): Promise<readonly File[]> {
  if (!("caches" in globalThis) || !(await caches.has(sharedFiles.cache))) return [];
  const cache = await caches.open(sharedFiles.cache);
  const found = await Promise.all((await cache.keys()).map(async (request) => ({ request, file: await fileOf(cache, request) })));
  const taken = found.filter(({ file }) => !file || isWanted(file));
  await Promise.all(taken.map(({ request }) => cache.delete(request)));
  return taken.flatMap(({ file }) => file ?? []);
}

/** Returns each shared file once, except recordings. */
export function takeShared(): Promise<readonly File[]> {
  return take((file) => !isRecording(file));
}

/** Returns the shared recording once. Of several it returns the first, because one is transcribed at a time. */
export async function takeSharedRecording(): Promise<File | undefined> {
  return (await take(isRecording))[0];
}
