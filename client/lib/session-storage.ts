import type { Session } from "#contract/auth/sign-in.ts";

/** Local storage holds the session with exactly the fields of spec §3 (docs/decisions/0006). */
const storageKey = "session";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Copies the session field by field, so that nothing else gets into storage. Returns null if the value is not a session. */
export function toSession(value: unknown): Session | null {
  if (!isRecord(value) || !isRecord(value.user) || !isRecord(value.user.user_metadata)) return null;
  const { access_token, refresh_token, expires_at, expires_in, user } = value;
  const { id, email, user_metadata } = value.user;
  if (typeof access_token !== "string" || typeof refresh_token !== "string" || !isRecord(user)) return null;
  if (typeof expires_at !== "number" || typeof expires_in !== "number" || typeof id !== "string" || typeof email !== "string") return null;
  const { avatar_url, name } = user_metadata as Record<string, unknown>;
  return {
    access_token,
    refresh_token,
    expires_at,
    expires_in,
    token_type: "bearer",
    user: {
      id,
      email,
      user_metadata: { avatar_url: typeof avatar_url === "string" ? avatar_url : null, ...(typeof name === "string" && { name }) },
    },
  };
}

export function readSession(): Session | null {
  try {
    return toSession(JSON.parse(localStorage.getItem(storageKey) ?? "null"));
  } catch {
    return null;
  }
}

/** Returns false if storage is full or blocked; the session then lasts until the page is closed. */
export function writeSession(session: Session | null): boolean {
  try {
    if (session === null) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(session));
    return true;
  } catch {
    return false;
  }
}
