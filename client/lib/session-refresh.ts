import type { Session } from "#contract/auth/sign-in.ts";
import { ApiProblem, api, NetworkProblem, provideBearers } from "./api.ts";
import { readSession } from "./session-storage.ts";
import {
  adoptDeletion,
  adoptSession,
  currentSession,
  followStorage,
  listenToOtherTabs,
  remainingSeconds,
  sessionStore,
} from "./session-store.ts";

/** Spec §9: checks every 30 s and refreshes if at most 90 s remain. Retries start after 200 ms, and the delay doubles, for up to 30 s. */
const tickMs = 30_000;
const refreshWithinSeconds = 90;
const firstRetryMs = 200;
const retryWindowMs = 30_000;
/** A hanging request must not hold the lock that every tab waits for. */
const refreshTimeoutMs = 15_000;

async function withLock<Result>(work: () => Promise<Result>): Promise<Result> {
  // Browsers have no locks on plain-HTTP addresses. The server then gives parallel tabs the same new token for a short time.
  const locks: LockManager | undefined = typeof navigator === "undefined" ? undefined : navigator.locks;
  return locks ? await locks.request("session-refresh", work) : await work();
}

/** `before` is the session when the exchange was asked for, which this tab may have replaced while it waited for the lock. */
async function exchange(before: Session | null, event: "TOKEN_REFRESHED" | "USER_UPDATED"): Promise<string | null> {
  // While this tab waited for the lock, another tab may have refreshed, signed in or signed out.
  const wasStored = readSession() !== null;
  if (wasStored) followStorage();
  const mine = currentSession();
  if (mine === null) return null;
  const isFresh = mine.refresh_token !== before?.refresh_token && remainingSeconds() > refreshWithinSeconds;
  if (isFresh && event === "TOKEN_REFRESHED") return mine.access_token;
  try {
    const next = await api("POST /api/auth/refresh", {
      body: { refresh_token: mine.refresh_token },
      signal: AbortSignal.timeout(refreshTimeoutMs),
    });
    // If somebody signed out or another person signed in during the request, keep that state, even if only storage shows it so far.
    if (wasStored) followStorage();
    if (currentSession()?.user.id !== mine.user.id) return currentSession()?.access_token ?? null;
    adoptSession(next, event);
    return next.access_token;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
    const isMine = currentSession()?.refresh_token === mine.refresh_token;
    if (isMine && error.code === "account_deleted") adoptDeletion();
    else if (isMine) adoptSession(null, "SIGNED_OUT");
    return null;
  }
}

let running: Promise<string | null> | undefined;

/**
 * Exchanges the refresh token once for all callers that ask at the same time. Resolves to null if the session is over. Throws
 * ApiProblem, NetworkProblem.
 */
export function refreshSession(): Promise<string | null> {
  const before = currentSession();
  running ??= withLock(() => exchange(before, "TOKEN_REFRESHED")).finally(() => {
    running = undefined;
  });
  return running;
}

function worthRetrying(error: unknown): boolean {
  return error instanceof NetworkProblem || (error instanceof ApiProblem && error.status >= 500);
}

function isDue(): boolean {
  return currentSession() !== null && remainingSeconds() <= refreshWithinSeconds;
}

/** Refreshes with the retries of the specification, unless another tab does so between them. If all fail, the next tick tries again. */
async function refreshPatiently(): Promise<void> {
  const startedAt = Date.now();
  for (let delayMs = firstRetryMs; isDue(); delayMs *= 2) {
    try {
      await refreshSession();
      return;
    } catch (error) {
      if (!worthRetrying(error) || Date.now() + delayMs - startedAt > retryWindowMs) return;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

/**
 * Call after the person's name or picture changed: a new session, which contains it, goes to every tab. A refresh that already runs may
 * have been answered before the change, so this waits for the lock instead of joining it. Throws
 * ApiProblem, NetworkProblem: the next refresh then brings the change.
 */
export function refreshUser(): Promise<unknown> {
  return withLock(() => exchange(null, "USER_UPDATED"));
}

let refreshing = false;

function tick(): void {
  if (refreshing || !isDue()) return;
  refreshing = true;
  void refreshPatiently().finally(() => {
    refreshing = false;
  });
}

/** A valid token. An expired one is refreshed once, without the long retries, because somebody is waiting. */
export async function currentToken(): Promise<string | null> {
  if (sessionStore.getState().status === "loading") followStorage();
  const session = currentSession();
  return session !== null && remainingSeconds() <= 0 ? await refreshSession() : (session?.access_token ?? null);
}

async function replaceToken(refused: string): Promise<string | null> {
  const session = currentSession();
  return session !== null && session.access_token !== refused ? session.access_token : await refreshSession();
}

/**
 * Reads the stored session, refreshes it before it expires and keeps it in step with other tabs. Call once, at start. Returns a
 * function that stops it.
 */
export function startSession(): () => void {
  provideBearers({ current: currentToken, replace: replaceToken });
  followStorage();
  const close = listenToOtherTabs();
  const timer = setInterval(tick, tickMs);
  const wake = () => {
    if (document.visibilityState !== "visible") return;
    followStorage();
    tick();
  };
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", tick);
  tick();
  return () => {
    close();
    clearInterval(timer);
    document.removeEventListener("visibilitychange", wake);
    removeEventListener("online", tick);
  };
}

/**
 * Signs out here and in every tab at once, then ends the session on the server. Returns false if the server could not be
 * reached; the refresh token is deleted from this device anyway.
 */
export async function signOut(): Promise<boolean> {
  const session = currentSession();
  if (session === null) return true;
  adoptSession(null, "SIGNED_OUT");
  try {
    await api("POST /api/auth/sign-out", { body: { refresh_token: session.refresh_token } });
    return true;
  } catch {
    return false;
  }
}
