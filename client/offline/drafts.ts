import type { Kept, Kind } from "./store.ts";
import { isRecord, listStoredKeys, readStored, removeStored, writeAllStored } from "./store.ts";

/** What somebody was about to send in one conversation; it survives a reload, a closed tab and a lost connection. */
export interface Draft {
  text: string;
  modelId: string | null;
  /**
   * The Idempotency-Key of a send whose fate is unknown. Sending the very same again with it returns the same answer
   * instead of a second one.
   */
  unsettledKey: string | null;
}

const kind: Kind<Draft> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || typeof stored.text !== "string") return undefined;
    const { text, modelId, unsettledKey } = stored;
    return {
      text,
      modelId: typeof modelId === "string" ? modelId : null,
      unsettledKey: typeof unsettledKey === "string" ? unsettledKey : null,
    };
  },
};

/** Drafts belong to a person: on a shared device nobody finds another's. `threadKey` is a conversation's id, or "new". */
function keyOf(userId: string, threadKey: string): string {
  return `draft:${userId}:${threadKey}`;
}

export async function readDraft(userId: string, threadKey: string): Promise<Draft | undefined> {
  return await readStored(kind, keyOf(userId, threadKey));
}

/** Each under its `threadKey`, all of them or none. Resolves to what became of it, for callers that must tell the person. */
export async function writeDrafts(userId: string, drafts: Readonly<Record<string, Draft>>): Promise<Kept> {
  const isEmpty = (draft: Draft) => draft.text === "" && draft.modelId === null;
  return await writeAllStored(
    Object.entries(drafts).map(([threadKey, draft]) => ({
      kind,
      key: keyOf(userId, threadKey),
      value: isEmpty(draft) ? undefined : draft,
    })),
  );
}

export async function writeDraft(userId: string, threadKey: string, draft: Draft): Promise<Kept> {
  return await writeDrafts(userId, { [threadKey]: draft });
}

/** The conversations in which this person was typing, by `threadKey`. */
export async function listDrafted(userId: string): Promise<string[]> {
  const prefix = keyOf(userId, "");
  return (await listStoredKeys(prefix)).map((key) => key.slice(prefix.length));
}

/** Of a conversation that is no more. */
export async function forgetDraft(userId: string, threadKey: string): Promise<void> {
  await removeStored(kind, keyOf(userId, threadKey));
}
