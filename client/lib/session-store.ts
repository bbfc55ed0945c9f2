import { createStore } from "zustand/vanilla";
import type { Session, User } from "#contract/auth/sign-in.ts";
import { readSession, toSession, writeSession } from "./session-storage.ts";

/** The events of the session (spec §4). All tabs receive each of them. */
const authEvents = ["SIGNED_IN", "SIGNED_OUT", "TOKEN_REFRESHED", "PASSWORD_RECOVERY", "USER_UPDATED", "MFA_CHALLENGE_VERIFIED"] as const;
export type AuthEvent = (typeof authEvents)[number];

export interface SessionState {
  /** `loading` until storage has been read, so that neither the signed-in nor the signed-out view flashes. */
  status: "loading" | "signed_out" | "signed_in";
  user: User | null;
  /** Who was signed out because their account is deleted: the device keeps nothing of them (offline/forget-person.ts). */
  deletedId?: string | undefined;
}

export const sessionStore = createStore<SessionState>(() => ({ status: "loading", user: null }));

let session: Session | null = null;
/** When the access token expires, by this device's clock. */
let usableUntilMs = 0;
/** False if storage refused the session. An empty storage then does not mean that somebody signed out. */
let keptOnDevice = true;
let channel: BroadcastChannel | undefined;
const listeners = new Set<(event: AuthEvent, user: User | null) => void>();

export function currentSession(): Session | null {
  return session;
}

/** How long the access token is still valid; 0 or less once it has expired. */
export function remainingSeconds(): number {
  return (usableUntilMs - Date.now()) / 1000;
}

export function onAuthEvent(listener: (event: AuthEvent, user: User | null) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(next: Session | null, receivedNow: boolean): void {
  session = next;
  // A device's clock may be wrong by hours, so the lifetime of a new session is measured from now. For a session found in storage only the
  // absolute end is known; if the clock is wrong, that costs one refresh.
  usableUntilMs = next === null ? 0 : receivedNow ? Date.now() + next.expires_in * 1000 : next.expires_at * 1000;
  const before = sessionStore.getState();
  const user = next?.user ?? null;
  // Server and storage write the fields in the same order.
  const same = JSON.stringify(before.user) === JSON.stringify(user);
  // Keep the same user object if nothing changed, so that the refresh every ten minutes does not re-render anything.
  sessionStore.setState({
    status: user ? "signed_in" : "signed_out",
    user: same ? before.user : user,
    ...(user && before.deletedId !== undefined ? { deletedId: undefined } : {}),
  });
}

function announce(event: AuthEvent): void {
  for (const listener of listeners) listener(event, session?.user ?? null);
}

/**
 * Stores a session that the server just gave (or null: signed out) and tells every tab. Every change of the session goes
 * through here; recovery and a second factor pass their own event.
 */
export function adoptSession(next: Session | null, event: AuthEvent): void {
  keptOnDevice = writeSession(next === null ? null : toSession(next));
  keep(next, true);
  // The message contains the session, because another tab may see the change of local storage later.
  channel?.postMessage({ event, session: next, kept: keptOnDevice });
  announce(event);
}

/** Signs out somebody whose account is deleted, in every tab. */
export function adoptDeletion(): void {
  const deletedId = session?.user.id;
  adoptSession(null, "SIGNED_OUT");
  sessionStore.setState({ deletedId });
  channel?.postMessage({ deletedId });
}

/** Takes over what another tab wrote to storage: at start, and when this tab may have missed a message while it was suspended. */
export function followStorage(): void {
  const stored = readSession();
  const known = sessionStore.getState();
  if (known.status === "loading") {
    keep(stored, false);
    return;
  }
  if (stored?.refresh_token === session?.refresh_token || (stored === null && !keptOnDevice)) return;
  // Storage may still have the older session although a message already brought the newer one of the same person.
  if (stored && session && stored.user.id === session.user.id && stored.expires_at < session.expires_at) return;
  const event = stored === null ? "SIGNED_OUT" : stored.user.id === known.user?.id ? "TOKEN_REFRESHED" : "SIGNED_IN";
  keep(stored, false);
  announce(event);
}

function isAuthEvent(value: unknown): value is AuthEvent {
  return authEvents.some((event) => event === value);
}

/** Opens the channel between tabs. Returns a function that closes it. */
export function listenToOtherTabs(): () => void {
  const opened = new BroadcastChannel("session");
  opened.onmessage = ({ data }: MessageEvent<{ event: unknown; session: unknown; kept?: boolean; deletedId?: string }>) => {
    if (data.deletedId !== undefined && session === null) sessionStore.setState({ deletedId: data.deletedId });
    if (!isAuthEvent(data.event)) return;
    // A tab of an earlier release doesn't send it.
    keptOnDevice = data.kept ?? true;
    keep(toSession(data.session), true);
    announce(data.event);
  };
  channel = opened;
  return () => {
    opened.close();
    channel = undefined;
  };
}
