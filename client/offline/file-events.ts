/** What happens to waiting files, told to every tab. */
import type { FileInfo } from "#contract/files.ts";
import type { WaitingFile } from "./waiting-files.ts";

export type FileEvent =
  /** Files were added, removed or refused. */
  | { type: "changed" }
  | { type: "progress"; id: string; progress: number }
  /** It was deleted on the server. */
  | { type: "deleted"; owner: string; id: string }
  /** The file is on the server, and the device has added it to its draft or to the reference pictures. */
  | { type: "stored"; file: Pick<WaitingFile, "id" | "owner" | "purpose" | "threadKey">; info: FileInfo };

const listeners = new Set<(event: FileEvent, isOwn: boolean) => void>();
let channel: BroadcastChannel | undefined;

function open(): BroadcastChannel {
  if (channel) return channel;
  channel = new BroadcastChannel("waiting-files");
  channel.onmessage = ({ data }: MessageEvent<FileEvent>) => {
    for (const listener of listeners) listener(data, false);
  };
  return channel;
}

/** `isOwn`: it happened in this tab. */
export function onFileEvent(listener: (event: FileEvent, isOwn: boolean) => void): () => void {
  open();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellFileEvent(event: FileEvent): void {
  open().postMessage(event);
  for (const listener of listeners) listener(event, true);
}
