/**
 * Recovery codes replace a lost authenticator app; each works once. They have 120 random bits, so nobody can find a code from its hash,
 * however fast the hash is (OWASP ASVS 6.5.2 asks for a slow one below 112).
 */
import { randomBytes } from "node:crypto";
import { hashToken } from "../../http/secret-keys.ts";

const codeCount = 10;
const codeBytes = 15;
const groupLength = 4;
/** In characters: of today's codes, and of those given out earlier, which work until they are used or renewed. */
const codeLengths = [(codeBytes * 8) / 5, 16];
/** Crockford's base32: no letter that looks like a digit. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

function createRecoveryCode(): string {
  const bits = [...randomBytes(codeBytes)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const characters = bits.replace(/.{5}/g, (five) => alphabet[Number.parseInt(five, 2)] ?? "");
  return characters.match(new RegExp(`.{${groupLength}}`, "g"))?.join("-") ?? characters;
}

export function createRecoveryCodes(): string[] {
  return Array.from({ length: codeCount }, createRecoveryCode);
}

/** Accepts a code typed with or without dashes, in capitals, or with an O for a zero. Undefined if the text can't be a recovery code. */
export function readRecoveryCode(typed: string): string | undefined {
  const code = typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  return codeLengths.includes(code.length) && new RegExp(`^[${alphabet}]+$`).test(code) ? code : undefined;
}

export function hashRecoveryCode(userId: string, code: string): string {
  return hashToken(`${userId}.${code}`).toString("base64url");
}
