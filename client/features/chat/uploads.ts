/** Files on their way to the server, by thread: one after the other, again when the connection is back. */
import { create } from "zustand";
import { ApiProblem, bearerNow } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { Problem } from "#contract/common.ts";
import type { FileInfo } from "#contract/files.ts";
import { attachmentBytes } from "#domain/files.ts";

export interface Upload {
  key: string;
  name: string;
  file: File;
  /** `waiting` for its turn, or for a connection. */
  state: "waiting" | "uploading" | "failed";
  /** 0–1. */
  progress: number;
  /** Why it failed: the code of a refusal. */
  code: string | null;
  onStored: (info: FileInfo) => void;
}

export const useUploads = create<{ uploads: Readonly<Record<string, readonly Upload[]>> }>(() => ({ uploads: {} }));

/** Addresses of the chosen files themselves, so that a picture is shown before it has been uploaded. By key, and then by the file's id. */
const previews = new Map<string, string>();

export function previewOf(id: string): string | undefined {
  return previews.get(id);
}

function preview(id: string, file: File): void {
  if (file.type.startsWith("image/")) previews.set(id, URL.createObjectURL(file));
}

export function dropPreview(id: string): void {
  const address = previews.get(id);
  if (address) URL.revokeObjectURL(address);
  previews.delete(id);
}

function change(threadKey: string, key: string, part: Partial<Upload> | null): void {
  useUploads.setState(({ uploads }) => {
    const own = uploads[threadKey] ?? [];
    const changed = part ? own.map((each) => (each.key === key ? { ...each, ...part } : each)) : own.filter((each) => each.key !== key);
    return { uploads: { ...uploads, [threadKey]: changed } };
  });
}

const running = new Map<string, XMLHttpRequest>();

/** Resolves with the answer, whatever it is; rejects if there is none. `fetch` tells nothing of an upload's progress. */
function send(request: XMLHttpRequest, { file, name, key }: Upload, bearer: string | null, onProgress: (share: number) => void) {
  running.set(key, request);
  return new Promise<void>((resolve, reject) => {
    request.open("POST", `/api/files?name=${encodeURIComponent(name)}`);
    if (bearer !== null) request.setRequestHeader("authorization", `Bearer ${bearer}`);
    // The server tells from the bytes what the file is.
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => resolve();
    request.onerror = () => reject(new Error("network"));
    request.onabort = () => reject(new DOMException("removed", "AbortError"));
    request.send(file);
  }).finally(() => running.delete(key));
}

async function upload(threadKey: string, item: Upload): Promise<void> {
  const { key, file } = item;
  if (file.size > attachmentBytes) return change(threadKey, key, { state: "failed", code: "file_too_large" });
  change(threadKey, key, { state: "uploading", progress: 0, code: null });
  try {
    const request = new XMLHttpRequest();
    await send(request, item, await bearerNow(), (progress) => change(threadKey, key, { progress }));
    if (request.status !== 201) throw new ApiProblem(request.status, (request.response ?? {}) as Partial<Problem>);
    const info = request.response as FileInfo;
    const shown = previews.get(key);
    if (shown) previews.set(info.id, shown);
    previews.delete(key);
    change(threadKey, key, null);
    item.onStored(info);
  } catch (error) {
    if (error instanceof ApiProblem) change(threadKey, key, { state: "failed", code: error.code });
    // Without a connection it waits; otherwise somebody has to look.
    else if (!navigator.onLine) change(threadKey, key, { state: "waiting" });
    else change(threadKey, key, { state: "failed", code: "network" });
  }
}

let isWorking = false;

async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  for (;;) {
    if (!navigator.onLine) break;
    const { uploads } = useUploads.getState();
    const [threadKey, item] =
      Object.entries(uploads).flatMap(([owner, own]) =>
        own.filter(({ state }) => state === "waiting").map((each) => [owner, each] as const),
      )[0] ?? [];
    if (threadKey === undefined || !item) break;
    await upload(threadKey, item);
  }
  isWorking = false;
}
addEventListener("online", () => void work());

export function addUploads(threadKey: string, files: readonly File[], onStored: Upload["onStored"]): void {
  const added = files.map((file): Upload => {
    const key = crypto.randomUUID();
    preview(key, file);
    return { key, name: file.name || "file", file, state: "waiting", progress: 0, code: null, onStored };
  });
  useUploads.setState(({ uploads }) => ({ uploads: { ...uploads, [threadKey]: [...(uploads[threadKey] ?? []), ...added] } }));
  void work();
}

export function retryUpload(threadKey: string, key: string): void {
  change(threadKey, key, { state: "waiting", code: null });
  void work();
}

export function removeUpload(threadKey: string, key: string): void {
  change(threadKey, key, null);
  dropPreview(key);
  running.get(key)?.abort();
}

// The next person who signs in on this device must not see anything of the previous one.
let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  for (const request of running.values()) request.abort();
  for (const id of [...previews.keys()]) dropPreview(id);
  useUploads.setState({ uploads: {} });
});
