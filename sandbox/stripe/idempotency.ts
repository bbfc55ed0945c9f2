import { createHash } from "node:crypto";
import type { Context } from "./context.ts";
import { ApiError, invalidRequest } from "./errors.ts";

export interface StoredResponse {
  status: number;
  body: string;
}

const longestKey = 255;
/** Wall time, because keys protect against retries, which happen in real time. */
const keptMs = 24 * 60 * 60 * 1000;

export function fingerprintOf(method: string, path: string, body: string): string {
  const sorted = [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).sort();
  return createHash("sha256")
    .update(JSON.stringify([method, path, sorted]))
    .digest("hex");
}

export function refuseLongKey(key: string): void {
  if (key.length > longestKey)
    throw invalidRequest(`Idempotency keys can be at most ${longestKey} characters.`, undefined, "idempotency_key_invalid");
}

/** The stored response of an earlier request with this key. Throws `idempotency_error` if its parameters were different. */
export function recallResponse(context: Context, key: string, fingerprint: string): StoredResponse | undefined {
  context.store.statement("delete from idempotency where at_ms < ?").run(Date.now() - keptMs);
  const row = context.store.statement("select fingerprint, status, body from idempotency where key = ?").get(key);
  if (!row) return undefined;
  if (row.fingerprint !== fingerprint) {
    const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
    throw new ApiError(400, { type: "idempotency_error", message });
  }
  return { status: Number(row.status), body: String(row.body) };
}

export function rememberResponse(context: Context, key: string, fingerprint: string, response: StoredResponse): void {
  context.store
    .statement("insert into idempotency (key, fingerprint, status, body, at_ms) values (?, ?, ?, ?, ?)")
    .run(key, fingerprint, response.status, response.body, Date.now());
}

export function keyInUse(key: string): ApiError {
  const message = `There is currently another in-progress request using this Idempotency Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`;
  return new ApiError(409, { type: "idempotency_error", code: "idempotency_key_in_use", message });
}
