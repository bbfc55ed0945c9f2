/**
 * Files on their way to the server: one after the other, in one tab at a time, again when the connection is back or the page is opened
 * again. What waits is kept on the device (offline/waiting-files.ts); each tab shows it.
 */
import { create } from "zustand";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { onFileEvent, tellFileEvent } from "#client/offline/file-events.ts";
import { alone } from "#client/offline/form-sender.ts";
import type { WaitingFile } from "#client/offline/waiting-files.ts";
import { keepWaitingFile, listWaitingFiles, readWaitingFile, removeWaitingFile } from "#client/offline/waiting-files.ts";
import { addPreview, dropAllPreviews, dropPreview, movePreview } from "./previews.ts";
import { bytesFor, sendFile } from "./send-file.ts";
import { settleFile, toReference } from "./settle-file.ts";

export interface Upload extends WaitingFile {
  /** `waiting` for its turn, or for a connection. */
  state: "waiting" | "uploading" | "failed";
  /** 0–1. */
  progress: number;
  /** Why it failed. */
  code: string | null;
  /** False if there was no room on the device: it is lost when this page is closed. Null until that is known. */
  kept: boolean | null;
}

export type Place = Pick<WaitingFile, "purpose" | "threadKey">;

/** The oldest first. */
export const useUploads = create<{ uploads: readonly Upload[] }>(() => ({ uploads: [] }));

/** Another attempt may help. */
export const mayRetry = ({ state, refusal }: Upload) => state === "failed" && refusal === null;

export const isAt =
  (place: Place) =>
  ({ purpose, threadKey }: Place): boolean =>
    purpose === place.purpose && threadKey === place.threadKey;

const running = new Map<string, AbortController>();

function change(id: string, part: Partial<Upload>): void {
  useUploads.setState(({ uploads }) => ({ uploads: uploads.map((each) => (each.id === id ? { ...each, ...part } : each)) }));
}

function drop(id: string): void {
  useUploads.setState(({ uploads }) => ({ uploads: uploads.filter((each) => each.id !== id) }));
}

const ownerNow = () => sessionStore.getState().user?.id;
const nextWaiting = () => useUploads.getState().uploads.find(({ state }) => state === "waiting");

function toUpload(file: WaitingFile): Upload {
  addPreview(file.id, file.file);
  return { ...file, state: file.refusal === null ? "waiting" : "failed", progress: 0, code: file.refusal, kept: true };
}

/** Shows what the device keeps, also what another tab has added, refused or removed since. */
async function load(): Promise<void> {
  const owner = ownerNow();
  const kept = owner === undefined ? [] : await listWaitingFiles(owner);
  if (owner !== ownerNow()) return;
  const found = new Map(kept.map((file) => [file.id, file]));
  const before = useUploads.getState().uploads;
  for (const { id, kept: wasKept } of before) {
    if (!wasKept || found.has(id)) continue;
    running.get(id)?.abort();
    dropPreview(id);
  }
  const own = before.filter((each) => !each.kept || found.has(each.id));
  const known = new Set(own.map(({ id }) => id));
  const uploads = own.map((each): Upload => {
    const refusal = found.get(each.id)?.refusal ?? null;
    return refusal === null || refusal === each.refusal ? each : { ...each, refusal, state: "failed", code: refusal };
  });
  useUploads.setState({ uploads: [...uploads, ...kept.filter(({ id }) => !known.has(id)).map(toUpload)] });
}

/** Whether another try is useless, because the server would refuse the file again. After `storage_full` the person may make room. */
function isFinal({ status, code }: ApiProblem): boolean {
  return status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status) && code !== "storage_full";
}

async function fail({ id }: Upload, code: string, refusal: string | null): Promise<void> {
  change(id, { state: "failed", code, refusal });
  const item = useUploads.getState().uploads.find((each) => each.id === id);
  if (!item?.kept) return;
  if (refusal !== null) await keepWaitingFile(toStored(item));
  tellFileEvent({ type: "changed" });
}

function toStored({ id, owner, purpose, threadKey, name, file, chosenAtMs, refusal }: Upload): WaitingFile {
  return { id, owner, purpose, threadKey, name, file, chosenAtMs, refusal };
}

async function upload(item: Upload): Promise<void> {
  const { id, purpose, file, name, owner, threadKey } = item;
  // Another tab has uploaded or removed it while this one waited for its turn.
  if (item.kept && !(await readWaitingFile(item))) return drop(id);
  if (owner !== ownerNow()) return drop(id);
  const controller = new AbortController();
  running.set(id, controller);
  change(id, { state: "uploading", progress: 0, code: null });
  const onProgress = (progress: number) => tellFileEvent({ type: "progress", id, progress });
  try {
    const info = await sendFile({ file, name, purpose, onProgress, signal: controller.signal });
    const isUsable = (purpose !== "reference" && purpose !== "first_picture") || toReference(info) !== undefined;
    // If the call fails, the server deletes the file a week later.
    if ((controller.signal.aborted || !isUsable) && owner === ownerNow())
      void api("DELETE /api/files/:id", { params: { id: info.id } }).catch(() => {});
    controller.signal.throwIfAborted();
    if (!isUsable) return await fail(item, "file_unsupported", "file_unsupported");
    await settleFile(item, info);
    tellFileEvent({ type: "stored", file: { id, owner, purpose, threadKey }, info });
  } catch (error) {
    if (isAbort(error)) drop(id);
    else if (error instanceof ApiProblem) await fail(item, error.code, isFinal(error) ? error.code : null);
    // Without a connection the file waits. With one, the person is shown the failure.
    else if (navigator.onLine) await fail(item, "network", null);
    else change(id, { state: "waiting" });
  } finally {
    running.delete(id);
  }
}

let isWorking = false;

async function work(): Promise<void> {
  if (isWorking || !navigator.onLine || !nextWaiting()) return;
  isWorking = true;
  try {
    await alone("uploads", async () => {
      // A tab that was closed in the middle of an upload has left it.
      for (const { id, state } of useUploads.getState().uploads)
        if (state === "uploading" && !running.has(id)) change(id, { state: "waiting" });
      for (let item = nextWaiting(); item && navigator.onLine; item = nextWaiting()) await upload(item);
    });
  } finally {
    isWorking = false;
  }
  // Something was added while the lock was being given back.
  await work();
}

async function loadAndWork(): Promise<void> {
  await load();
  await work();
}

/** Keeps the files on the device and uploads them. */
export async function addUploads(place: Place, files: readonly File[]): Promise<void> {
  const owner = ownerNow();
  if (owner === undefined) return;
  const added = files.map((file, index): Upload => {
    const waiting = { id: crypto.randomUUID(), owner, ...place, name: file.name || "file", file };
    return toUpload({ ...waiting, chosenAtMs: Date.now() + index, refusal: file.size > bytesFor(place.purpose) ? "file_too_large" : null });
  });
  // A file that is too large to store on the device is shown only while this page is open.
  useUploads.setState(({ uploads }) => ({ uploads: [...uploads, ...added.map((each) => ({ ...each, kept: null }))] }));
  for (const item of added) {
    if (item.refusal !== null || ownerNow() !== owner) continue;
    const kept = (await keepWaitingFile(toStored(item))) === "kept";
    // It was removed meanwhile.
    if (kept && !useUploads.getState().uploads.some(({ id }) => id === item.id)) await removeWaitingFile(item);
    change(item.id, { kept });
  }
  tellFileEvent({ type: "changed" });
  await work();
}

export function retryUpload(id: string): void {
  change(id, { state: "waiting", code: null });
  void work();
}

export async function removeUpload(item: Upload): Promise<void> {
  drop(item.id);
  dropPreview(item.id);
  running.get(item.id)?.abort();
  await removeWaitingFile(item);
  tellFileEvent({ type: "changed" });
}

onFileEvent((event, isOwn) => {
  if (event.type === "stored") {
    movePreview(event.file.id, event.info.id);
    drop(event.file.id);
  } else if (event.type === "progress") change(event.id, { state: "uploading", progress: event.progress });
  else if (!isOwn) void loadAndWork();
});

addEventListener("online", () => {
  for (const item of useUploads.getState().uploads) if (item.code === "network") change(item.id, { state: "waiting", code: null });
  void loadAndWork();
});

// The next person who signs in on this device must not see anything of the previous one.
let userId = ownerNow();
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  for (const controller of running.values()) controller.abort();
  dropAllPreviews();
  useUploads.setState({ uploads: [] });
  void loadAndWork();
});
void loadAndWork();
