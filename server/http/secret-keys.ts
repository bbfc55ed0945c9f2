import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** One key for each purpose, all derived from SECRET_KEY: what one of them signs can't pass for another's. */
export type KeyPurpose = "access-token" | "refresh-token" | "mailed-link";

const keyBytes = 32;

export function deriveKey(secretKey: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "tessera", purpose, keyBytes));
}

/** What rests in the database of a token. Tokens carry 256 bits of their own, so a plain hash can't be reversed by guessing. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

export function signText(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** In constant time, so that a signature can't be found byte by byte. */
export function isSignatureOf(key: Buffer, text: string, signature: string): boolean {
  return timingSafeEqual(hashToken(signText(key, text)), hashToken(signature));
}

/** A UUID in 22 characters, for tokens that travel in addresses. */
export function encodeUuid(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

/** Undefined when the text is not what encodeUuid writes. */
export function decodeUuid(text: string): string | undefined {
  if (!/^[\w-]{22}$/.test(text)) return undefined;
  const hex = Buffer.from(text, "base64url").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
