/** Asks the service worker which pages it keeps, and the browser how much storage they take. */
import { registrationFailure } from "#client/lib/worker-registration.ts";
import type { KeptPage, Replies, SaveOutcome, WorkerMessage } from "#client/sw/messages.ts";

/** On a first visit the service worker fetches a whole release before it answers. */
const readyTimeoutMs = 20_000;
const replyTimeoutMs = 60_000;

function within<Result>(limitMs: number, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The service worker did not answer in time.")), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export function canKeepPages(): boolean {
  return "serviceWorker" in navigator && "caches" in globalThis;
}

/** Rejects if there is no service worker. */
async function ask<Type extends keyof Replies>(message: Extract<WorkerMessage, { type: Type }>): Promise<Replies[Type]> {
  const { active } = await within(readyTimeoutMs, Promise.race([navigator.serviceWorker.ready, registrationFailure]));
  const { port1, port2 } = new MessageChannel();
  const reply = new Promise<Replies[Type]>((resolve, reject) => {
    port1.onmessage = ({ data }: MessageEvent<Replies[Type] | undefined>) =>
      data === undefined ? reject(new Error("The service worker failed to answer the message.")) : resolve(data);
  });
  active?.postMessage(message, [port2]);
  return await within(replyTimeoutMs, reply);
}

export async function listKeptPages(): Promise<KeptPage[]> {
  return await ask({ type: "LIST" });
}

export async function savePages(paths: readonly string[], language: string): Promise<SaveOutcome> {
  return await ask({ type: "SAVE", paths, language });
}

export async function removeKeptPage(path: string): Promise<KeptPage[]> {
  return await ask({ type: "REMOVE", path });
}

export async function removeKeptPages(): Promise<KeptPage[]> {
  return await ask({ type: "CLEAR" });
}

export interface Room {
  usedBytes: number;
  quotaBytes: number;
  /** Whether the browser has agreed not to delete this storage by itself. */
  persisted: boolean;
}

/** Undefined if the browser does not tell. */
export async function readRoom(): Promise<Room | undefined> {
  const { storage } = navigator;
  if (!storage?.estimate) return undefined;
  const [{ usage = 0, quota = 0 }, persisted] = await Promise.all([storage.estimate(), storage.persisted?.() ?? false]);
  return { usedBytes: usage, quotaBytes: quota, persisted };
}

/** Asks the browser not to delete our data when storage runs short. */
export async function askToPersist(): Promise<void> {
  const { storage } = navigator;
  if (storage?.persist && !(await storage.persisted())) await storage.persist();
}
