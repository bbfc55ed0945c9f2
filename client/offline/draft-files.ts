/** The files of drafts: which there are, and what becomes of those that are deleted. */
import type { Draft } from "./drafts.ts";
import { draftKeyOf, draftKind, listDrafted, readDraft, writeDraft } from "./drafts.ts";
import { listStored, listStoredKeys } from "./store.ts";

/** The files of all drafts of this person; undefined if this version can't read one of the drafts. */
export async function listDraftFiles(userId: string): Promise<string[] | undefined> {
  const prefix = draftKeyOf(userId, "");
  const [keys, drafts] = [await listStoredKeys(prefix), await listStored(draftKind, prefix)];
  return drafts.length < keys.length ? undefined : drafts.flatMap(({ files = [] }) => files.map(({ id }) => id));
}

export function withoutFile(draft: Draft, fileId: string): Draft {
  const { files = [] } = draft;
  return files.some(({ id }) => id === fileId) ? { ...draft, files: files.filter(({ id }) => id !== fileId), unsettledKey: null } : draft;
}

/** For a file that was deleted. */
export async function dropDraftFile(userId: string, fileId: string): Promise<void> {
  for (const threadKey of await listDrafted(userId)) {
    const draft = await readDraft(userId, threadKey);
    const changed = draft && withoutFile(draft, fileId);
    if (changed && changed !== draft) await writeDraft(userId, threadKey, changed);
  }
}
