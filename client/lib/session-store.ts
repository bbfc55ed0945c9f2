import { createStore } from "zustand/vanilla";
import type { Session, User } from "#contract/auth.ts";
import { readSession, toSession, writeSession } from "./session-storage.ts";

/** The events of the auth session (spec §4). All tabs receive each of them. */
const authEvents = ["SIGNED_IN", "SIGNED_OUT", "TOKEN_REFRESHED", "PASSWORD_RECOVERY", "USER_UPDATED", "MFA_CHALLENGE_VERIFIED"] as const;
export type AuthEvent = (typeof authEvents)[number];

export interface SessionState {
  /** `loading` until storage has been read: neither the signed-in nor the signed-out view may flash before. */
  status: "loading" | "signed_out" | "signed_in";
  user: User | null;
}

export const sessionStore = createStore<SessionState>(() => ({ status: "loading", user: null }));

let session: Session | null = null;
/** When the access token stops working, in this device's time. */
let usableUntilMs = 0;
/** Where the device keeps no session, finding none there means nothing. */
let keptOnDevice = true;
let channel: BroadcastChannel | undefined;
const listeners = new Set<(event: AuthEvent, user: User | null) => void>();

export function currentSession(): Session | null {
  return session;
}

/** How long the access token still works; 0 or less once it does not. */
export function remainingSeconds(): number {
  return (usableUntilMs - Date.now()) / 1000;
}

export function onAuthEvent(listener: (event: AuthEvent, user: User | null) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(next: Session | null, receivedNow: boolean): void {
  session = next;
  // A device's clock may be wrong by hours, so a session just received is timed by its length; one found in storage
  // can only be timed by its end, and a wrong guess costs one refresh.
  usableUntilMs = next === null ? 0 : receivedNow ? Date.now() + next.expires_in * 1000 : next.expires_at * 1000;
  const before = sessionStore.getState();
  const user = next?.user ?? null;
  const sameUser = before.user?.id === user?.id && before.user?.email === user?.email;
  const sameAvatar = before.user?.user_metadata.avatar_url === user?.user_metadata.avatar_url;
  // The same person keeps the same object: a refresh every ten minutes is no reason to render anything.
  sessionStore.setState({ status: user ? "signed_in" : "signed_out", user: sameUser && sameAvatar ? before.user : user });
}

function announce(event: AuthEvent): void {
  for (const listener of listeners) listener(event, session?.user ?? null);
}

/**
 * Takes over a session the server just gave (or null: signed out), stores it and tells every tab. The one place through
 * which a session changes: recovery and second factors come in here with their own event.
 */
export function adoptSession(next: Session | null, event: AuthEvent): void {
  keptOnDevice = writeSession(next === null ? null : toSession(next));
  keep(next, true);
  // The session travels in the message: another tab's view of local storage may lag behind it.
  channel?.postMessage({ event, session: next, kept: keptOnDevice });
  announce(event);
}

/** Follows what another tab left in storage: at start, and whenever this tab may have slept through a message. */
export function followStorage(): void {
  const stored = readSession();
  const known = sessionStore.getState();
  if (known.status === "loading") {
    keep(stored, false);
    return;
  }
  if (stored?.refresh_token === session?.refresh_token || (stored === null && !keptOnDevice)) return;
  // Storage may lag behind the message that brought the newer session of the same person.
  if (stored && session && stored.user.id === session.user.id && stored.expires_at < session.expires_at) return;
  const event = stored === null ? "SIGNED_OUT" : stored.user.id === known.user?.id ? "TOKEN_REFRESHED" : "SIGNED_IN";
  keep(stored, false);
  announce(event);
}

function isAuthEvent(value: unknown): value is AuthEvent {
  return authEvents.some((event) => event === value);
}

/** Opens the channel between tabs; returns how to close it. */
export function listenToOtherTabs(): () => void {
  const opened = new BroadcastChannel("session");
  opened.onmessage = ({ data }: MessageEvent<{ event: unknown; session: unknown; kept?: boolean }>) => {
    if (!isAuthEvent(data.event)) return;
    // A tab of an earlier release doesn't say.
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
