/** Files that another app has shared, until the chat takes them. */
import { attachmentLimits } from "#domain/attachments.ts";
import { attachmentBytes } from "#domain/files.ts";
import { recordingBytes } from "#domain/transcripts.ts";
import { isRecording, sharedFiles } from "../messages.ts";

/** One more than a question may have, so that the chat can say that there are too many. */
const mostFiles = attachmentLimits.files + 1;
/** One byte more than is allowed is enough for the chat to say that the file is too large. */
const mostBytesOf = (file: File) => (isRecording(file) ? recordingBytes : attachmentBytes) + 1;

/** Keeps the files in place of those shared before. */
export async function keepShared(files: readonly File[]): Promise<void> {
  await caches.delete(sharedFiles.cache);
  if (files.length === 0) return;
  const cache = await caches.open(sharedFiles.cache);
  for (const [index, file] of files.slice(0, mostFiles).entries()) {
    const headers = {
      "content-type": file.type,
      [sharedFiles.name]: encodeURIComponent(file.name),
      [sharedFiles.cameAt]: String(Date.now()),
    };
    await cache.put(`/${sharedFiles.cache}/${index}`, new Response(file.slice(0, mostBytesOf(file)), { headers }));
  }
}

/** Deletes files that nobody has taken in time. They arrived together, so the time of any one is enough. */
export async function dropShared(): Promise<void> {
  if (!(await caches.has(sharedFiles.cache))) return;
  const cache = await caches.open(sharedFiles.cache);
  const [any] = await cache.keys();
  const first = any && (await cache.match(any));
  const cameAt = Number(first?.headers.get(sharedFiles.cameAt) ?? 0);
  if (Date.now() - cameAt > sharedFiles.waitMs) await caches.delete(sharedFiles.cache);
}
