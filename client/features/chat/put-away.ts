/**
 * Deletes uploads on the server that a person removed before sending them, so that they take no storage. Files that another draft or the
 * picture options still use stay, and the server keeps files of sent questions. If a call fails, the server deletes the file a week later.
 */
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { listDraftFiles } from "#client/offline/draft-files.ts";
import { tellFileEvent } from "#client/offline/file-events.ts";
import { listReferenceFiles } from "#client/offline/references.ts";
import { useChat } from "./chat-store.ts";

/** A question that is on its way may have the file, and the server may not have written that down yet. */
function isSending(): boolean {
  return Object.values(useChat.getState().threads).some(({ live }) => live?.phase === "sending");
}

async function listKept(owner: string): Promise<Set<string> | undefined> {
  const [drafted, begun] = [await listDraftFiles(owner), await listReferenceFiles(owner)];
  return drafted && begun && new Set([...drafted, ...begun]);
}

/** Call this after the draft or the reference pictures were changed, because it reads from the device which files they still use. */
export async function putAway(fileIds: readonly string[]): Promise<void> {
  const owner = sessionStore.getState().user?.id;
  if (owner === undefined || isSending()) return;
  const kept = await listKept(owner);
  if (!kept) return;
  for (const id of fileIds) {
    if (kept.has(id)) continue;
    const deleted = api("DELETE /api/files/:id", { params: { id }, querystring: { unsent: true } });
    await deleted.then(
      () => tellFileEvent({ type: "deleted", owner, id }),
      () => {},
    );
  }
}
