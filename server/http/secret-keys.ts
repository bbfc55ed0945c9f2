import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { Config } from "../config.ts";

/** Each purpose has a key of its own, derived from SECRET_KEY, so that a signature made for one is not valid for another. */
export type KeyPurpose =
  | "access-token"
  | "refresh-token"
  | "mailed-link"
  | "sign-up"
  | "sign-up-salt"
  | "recovery"
  | "email-change"
  | "device"
  | "pending-sign-in"
  | "sealed"
  | "google"
  | "unsubscribe"
  | "trial-mailbox"
  | "pay-invoice"
  | "file-address";

const keyBytes = 32;

export function deriveKey(secretKey: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "tessera", purpose, keyBytes));
}

/** The form in which the database stores a token. A token has 256 random bits, so an unsalted hash can't be reversed by guessing. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

export type KeyHolder = Pick<Config, "secretKeys">;

/** The signature under each key, that of the newest first. During a rotation all of them are valid. */
export function signaturesOf({ secretKeys }: KeyHolder, purpose: KeyPurpose, text: string): [string, ...string[]] {
  const [newest, ...previous] = secretKeys;
  const sign = (secretKey: string) => createHmac("sha256", deriveKey(secretKey, purpose)).update(text).digest("base64url");
  return [sign(newest), ...previous.map(sign)];
}

/** Signs with the newest key. */
export function signText(config: KeyHolder, purpose: KeyPurpose, text: string): string {
  return signaturesOf(config, purpose, text)[0];
}

/** Compares in constant time, so that an attacker can't guess a signature byte by byte. */
export function isSignatureOf(config: KeyHolder, purpose: KeyPurpose, text: string, signature: string): boolean {
  const presented = hashToken(signature);
  return signaturesOf(config, purpose, text).some((valid) => timingSafeEqual(hashToken(valid), presented));
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a text with the first key, for one purpose and owner. It can't be decrypted for another purpose or owner. */
export function sealText([key]: readonly [string, ...string[]], context: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, deriveKey(key, "sealed"), nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, sealing.update(text, "utf8"), sealing.final(), sealing.getAuthTag()]).toString("base64url");
}

/** Decrypts with the first key that fits. Undefined if none does, or if the text was sealed for another context. */
export function unsealText(keys: readonly [string, ...string[]], context: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  for (const key of keys) {
    const opening = createDecipheriv(cipher, deriveKey(key, "sealed"), bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString("utf8");
    } catch {
      // Another key may fit.
    }
  }
  return undefined;
}

/** A UUID in 22 characters, for tokens in links. */
export function encodeUuid(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

/** Undefined if the text does not have the form that `encodeUuid` writes. */
export function decodeUuid(text: string): string | undefined {
  if (!/^[\w-]{22}$/.test(text)) return undefined;
  const hex = Buffer.from(text, "base64url").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
