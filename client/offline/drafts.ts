import type { FileInfo } from "#contract/files.ts";
import { filesOfThread } from "./file-keys.ts";
import type { Entry, Kept, Kind } from "./store.ts";
import { isRecord, listStoredKeys, readStored, removeStored, removeStoredUnder, writeAllStored } from "./store.ts";

/** An unsent message in one conversation. It survives a reload, a closed tab and a lost connection. */
export interface Draft {
  text: string;
  modelId: string | null;
  /**
   * The Idempotency-Key of a send whose result is unknown. Sending the same content with it again returns the same answer
   * instead of creating a second one.
   */
  unsettledKey: string | null;
  /** Files that were uploaded for it. */
  files?: readonly FileInfo[];
}

function isFile(value: unknown): value is FileInfo {
  return isRecord(value) && typeof value.id === "string" && typeof value.name === "string" && typeof value.contentType === "string";
}

export const draftKind: Kind<Draft> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || typeof stored.text !== "string") return undefined;
    const { text, modelId, unsettledKey, files } = stored;
    return {
      text,
      ...(Array.isArray(files) && files.length > 0 && { files: files.filter(isFile) }),
      modelId: typeof modelId === "string" ? modelId : null,
      unsettledKey: typeof unsettledKey === "string" ? unsettledKey : null,
    };
  },
};

/**
 * The key contains the person's id, so that nobody on a shared device sees another's drafts. `threadKey` is a conversation's
 * id, or "new".
 */
export function draftKeyOf(userId: string, threadKey: string): string {
  return `draft:${userId}:${threadKey}`;
}

export async function readDraft(userId: string, threadKey: string): Promise<Draft | undefined> {
  return await readStored(draftKind, draftKeyOf(userId, threadKey));
}

export function entryOfDraft(userId: string, threadKey: string, draft: Draft): Entry {
  const { text, modelId, files = [] } = draft;
  const isEmpty = text === "" && modelId === null && files.length === 0;
  return { kind: draftKind, key: draftKeyOf(userId, threadKey), value: isEmpty ? undefined : draft };
}

/**
 * Writes each draft under its `threadKey`, all of them or none. Resolves to the result of the write, for callers that must tell
 * the person.
 */
export async function writeDrafts(userId: string, drafts: Readonly<Record<string, Draft>>): Promise<Kept> {
  return await writeAllStored(Object.entries(drafts).map(([threadKey, draft]) => entryOfDraft(userId, threadKey, draft)));
}

export async function writeDraft(userId: string, threadKey: string, draft: Draft): Promise<Kept> {
  return await writeDrafts(userId, { [threadKey]: draft });
}

/** The conversations with a draft of this person, by `threadKey`. */
export async function listDrafted(userId: string): Promise<string[]> {
  const prefix = draftKeyOf(userId, "");
  return (await listStoredKeys(prefix)).map((key) => key.slice(prefix.length));
}

/** For a deleted conversation, with the files that were chosen in it. */
export async function forgetDraft(userId: string, threadKey: string): Promise<void> {
  await removeStored(draftKind, draftKeyOf(userId, threadKey));
  await removeStoredUnder(filesOfThread(userId, threadKey));
}
