import { sessionStore } from "#client/lib/session-store.ts";
import { keepOnlyOf } from "./conversations.ts";

/** What belongs to a person leaves the device with them: at sign-out, and at a start that finds them signed out. Returns how to stop. */
export function startForgetting(): () => void {
  let known: string | null | undefined;
  const follow = () => {
    const { status, user } = sessionStore.getState();
    const owner = user?.id ?? null;
    if (status === "loading" || owner === known) return;
    known = owner;
    void keepOnlyOf(owner);
  };
  follow();
  return sessionStore.subscribe(follow);
}
