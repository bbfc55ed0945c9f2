/** What another app shares is kept within bounds, and not for long. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { takeShared, takeSharedRecording } from "#client/features/chat/shared-files.ts";
import { dropShared, keepShared } from "#client/sw/caches/shared.ts";
import { manifest } from "#client/sw/manifest.ts";
import { attachmentLimits } from "#domain/attachments.ts";
import { hourMs } from "#domain/clock.ts";
import { attachmentBytes } from "#domain/files.ts";
import { recordingBytes } from "#domain/transcripts.ts";

/** The part of a browser's cache storage that is used, with bodies by their addresses. */
class Caches {
  readonly named = new Map<string, Map<string, Response>>();
  has = async (name: string) => this.named.has(name);
  delete = async (name: string) => this.named.delete(name);
  open = async (name: string) => {
    const entries = this.named.get(name) ?? new Map<string, Response>();
    this.named.set(name, entries);
    return {
      put: async (key: string, response: Response) => void entries.set(key, response),
      match: async (key: string) => entries.get(key)?.clone(),
      delete: async (key: string) => entries.delete(key),
      keys: async () => [...entries.keys()],
    };
  };
}

let storage: Caches;
beforeEach(() => {
  storage = new Caches();
  vi.stubGlobal("caches", storage);
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const file = (name: string, bytes = 3, type = "text/plain") => new File([new Uint8Array(bytes)], name, { type });

it("they reach the chat once, by their names", async () => {
  await keepShared([file("käse.txt")]);
  expect((await takeShared()).map(({ name, type, size }) => [name, type, size])).toEqual([["käse.txt", "text/plain", 3]]);
  expect(await takeShared()).toEqual([]);
});

it("one more than a question may have is kept, and of one that is too large just enough to say so", async () => {
  const many = Array.from({ length: attachmentLimits.files + 5 }, (_, index) => file(`${index}.txt`));
  await keepShared([file("large.txt", attachmentBytes + 1_000), ...many]);
  const taken = await takeShared();
  expect(taken).toHaveLength(attachmentLimits.files + 1);
  expect(taken[0]?.size).toBe(attachmentBytes + 1);
});

it("what nobody has taken is deleted after an hour, and not before", async () => {
  await dropShared();
  await keepShared([file("notes.txt")]);
  vi.setSystemTime(Date.now() + hourMs);
  await dropShared();
  expect(storage.named.size).toBe(1);
  vi.setSystemTime(Date.now() + 1);
  await dropShared();
  expect(storage.named.size).toBe(0);
});

it("a recording is offered to us in each form that we write down, and is taken apart from the files, once", async () => {
  const accepted = manifest.share_target.params.files.flatMap(({ accept }) => accept);
  expect(accepted).toEqual(expect.arrayContaining(["audio/mpeg", "audio/wav", "audio/mp4", "audio/webm", ".mp3", ".wav", ".m4a", ".webm"]));
  await keepShared([file("memo.m4a", 3, "audio/x-m4a"), file("notes.txt"), file("large.webm", recordingBytes + 1_000, "video/webm")]);
  expect((await takeShared()).map(({ name }) => name)).toEqual(["notes.txt"]);
  // What is left is not dropped before its time because the first of them is gone.
  await dropShared();
  const recording = await takeSharedRecording();
  expect([recording?.name, recording?.type]).toEqual(["memo.m4a", "audio/x-m4a"]);
  expect(await takeSharedRecording()).toBeUndefined();

  await keepShared([file("large.webm", recordingBytes + 1_000, "video/webm")]);
  expect((await takeSharedRecording())?.size).toBe(recordingBytes + 1);
});
