import type { Session } from "#contract/auth.ts";

/** The session is in local storage with exactly the fields of spec §3 (docs/decisions/0006). */
const storageKey = "session";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Rebuilds the session field by field, so that nothing else ever gets into storage; null for anything that is not one. */
export function toSession(value: unknown): Session | null {
  if (!isRecord(value) || !isRecord(value.user) || !isRecord(value.user.user_metadata)) return null;
  const { access_token, refresh_token, expires_at, expires_in, user } = value;
  const { id, email, user_metadata } = value.user;
  if (typeof access_token !== "string" || typeof refresh_token !== "string" || !isRecord(user)) return null;
  if (typeof expires_at !== "number" || typeof expires_in !== "number" || typeof id !== "string" || typeof email !== "string") return null;
  const avatar = isRecord(user_metadata) ? user_metadata.avatar_url : null;
  return {
    access_token,
    refresh_token,
    expires_at,
    expires_in,
    token_type: "bearer",
    user: { id, email, user_metadata: { avatar_url: typeof avatar === "string" ? avatar : null } },
  };
}

export function readSession(): Session | null {
  try {
    return toSession(JSON.parse(localStorage.getItem(storageKey) ?? "null"));
  } catch {
    return null;
  }
}

/** False where storage is full or forbidden; then the session lasts as long as the page. */
export function writeSession(session: Session | null): boolean {
  try {
    if (session === null) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(session));
    return true;
  } catch {
    // The session in memory still works.
    return false;
  }
}
