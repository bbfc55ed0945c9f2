import { sessionStore } from "#client/lib/session-store.ts";
import { sharedFiles } from "#client/sw/messages.ts";
import { keepOnlyConversationsOf } from "./conversations.ts";
import { dropOldSentForms } from "./sent-forms.ts";
import { removeStoredOf, removeStoredUnder } from "./store.ts";

/**
 * Deletes a person's data that came from the server when they sign out, and at a start that finds them signed out. What they
 * wrote and have not sent yet is kept under their own keys, because a session may also expire; it goes with a deleted account.
 * Returns a function that stops it.
 */
export function startForgetting(): () => void {
  let known: string | null | undefined;
  let forgotten: string | undefined;
  const follow = () => {
    const { status, user, deletedId } = sessionStore.getState();
    if (deletedId !== forgotten) {
      forgotten = deletedId;
      if (deletedId !== undefined) void removeStoredOf(deletedId);
    }
    const owner = user?.id ?? null;
    if (status === "loading" || owner === known) return;
    // Files shared before somebody signs in wait for them. When somebody signs out, the files they shared are deleted.
    if (typeof known === "string") void globalThis.caches?.delete(sharedFiles.cache);
    known = owner;
    void keepOnlyConversationsOf(owner);
    // Drafts stay but their files go, because on a shared device a picture shows at a glance whose it is.
    for (const kind of ["subscription:", "lastModel:", "file:"]) void removeStoredUnder(kind, owner ? kind + owner : undefined);
  };
  void dropOldSentForms();
  follow();
  return sessionStore.subscribe(follow);
}
