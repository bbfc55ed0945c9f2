/** The codes of authenticator apps (RFC 6238), with parameters that every app supports: SHA-1, six digits, thirty seconds. Wall time. */
import { Secret, TOTP } from "otpauth";

const periodSeconds = 30;
const secretBytes = 20;
/** The phone's clock may be wrong by this many periods. */
const tolerance = 1;
const issuer = "Tessera";

function codesOf(secret: string, label = ""): TOTP {
  return new TOTP({ issuer, label, algorithm: "SHA1", digits: 6, period: periodSeconds, secret: Secret.fromBase32(secret) });
}

/** A new secret in base32. */
export function createTotpSecret(): string {
  return new Secret({ size: secretBytes }).base32;
}

/** The content of the QR code. The app shows `email` as the account's name. */
export function totpUri(secret: string, email: string): string {
  return codesOf(secret, email).toString();
}

/** The number of the period a code belongs to; null if it is not one of the periods around `now`. */
export function stepOfCode(secret: string, code: string, now: Date): number | null {
  const delta = codesOf(secret).validate({ token: code, timestamp: now.getTime(), window: tolerance });
  return delta === null ? null : TOTP.counter({ period: periodSeconds, timestamp: now.getTime() }) + delta;
}
