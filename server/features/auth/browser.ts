/**
 * What a browser keeps of its own dealings with an account, in cookies that sign nobody in:
 * `sign-up` names the sign-ups begun in it, so that their emailed links open here with one click and elsewhere only with the
 * password. `recovery` names the links for a new password that were asked for in it, so that only here they sign in as well. It is
 * set for an address without an account too. `email-change` names the links to new addresses that were asked for in it, which elsewhere
 * ask for the password as well. `device` names the accounts that have signed in here, so that strangers' guesses don't
 * lock their people out (OWASP, "device cookies"). These are signed and stored nowhere. A device's signature covers the password's
 * hash: another password makes the account's devices unknown. `pending` is random: a sign-in that waits for its second factor goes on
 * only in the browser that began it.
 */
import { randomBytes } from "node:crypto";
import { deviceCookieMs, emailChangeMs, factorWaitMs, recoveryMs, signUpCookieMs } from "#domain/periods.ts";
import type { Config } from "../../config.ts";
import type { CookieKind } from "../../http/cookies.ts";
import { decodeUuid, deriveKey, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";
import type { Person } from "./queries.ts";

/** People sign up and in with more than one account on a browser; the oldest make room. */
const begunKept = 3;
const devicesKept = 4;

export const signUpCookie: CookieKind = { name: "sign-up", path: "/", maxAgeSeconds: signUpCookieMs / 1_000 };
/** It is read where a link is opened, and where another is asked for. */
export const emailChangeCookie: CookieKind = { name: "email-change", path: "/api", maxAgeSeconds: emailChangeMs / 1_000 };
/** The others are sent to the calls that read them and to nothing else. */
export const recoveryCookie: CookieKind = { name: "recovery", path: "/api/auth", maxAgeSeconds: recoveryMs / 1_000 };
export const deviceCookie: CookieKind = { name: "device", path: "/api/auth", maxAgeSeconds: deviceCookieMs / 1_000 };

export const pendingCookie: CookieKind = { name: "pending", path: "/api/auth", maxAgeSeconds: factorWaitMs / 1_000 };

/** What names this browser while a sign-in waits in it: as it came, or new. */
export function readBrowserName(cookie: string | undefined): string {
  return cookie !== undefined && /^[\w-]{22}$/.test(cookie) ? cookie : randomBytes(16).toString("base64url");
}

type KeyHolder = Pick<Config, "secretKey">;
type Account = Pick<Person, "id" | "password_hash">;

const separator = "~";

function entriesOf(cookie: string | undefined, kept: number): string[] {
  return (cookie ?? "").split(separator, kept).filter((entry) => entry !== "");
}

/** What a browser begins and finishes after a mail has come. */
type Begun = "sign-up" | "recovery" | "email-change";

/** The ids of what was begun in this browser, newest first. */
export function readBegun(config: KeyHolder, kind: Begun, cookie: string | undefined): string[] {
  const key = deriveKey(config.secretKey, kind);
  return entriesOf(cookie, begunKept).flatMap((entry) => {
    const [head = "", signature = ""] = entry.split(".");
    const id = decodeUuid(head);
    return id !== undefined && isSignatureOf(key, id, signature) ? id : [];
  });
}

export function writeBegun(config: KeyHolder, kind: Begun, ids: readonly string[]): string {
  const key = deriveKey(config.secretKey, kind);
  return [...new Set(ids)]
    .slice(0, begunKept)
    .map((id) => `${encodeUuid(id)}.${signText(key, id)}`)
    .join(separator);
}

function signedDevice(account: Account, head: string): string {
  return `${head}.${account.password_hash}`;
}

/** The device's own id when this browser has signed in to the account before, with the password it has today. */
export function readDevice(config: KeyHolder, cookie: string | undefined, account: Account, now: Date): string | undefined {
  const owner = encodeUuid(account.id);
  for (const entry of entriesOf(cookie, devicesKept)) {
    const [person = "", since = "", deviceId = "", signature = ""] = entry.split(".");
    if (person !== owner || account.password_hash === null) continue;
    const ageSeconds = now.getTime() / 1_000 - Number.parseInt(since, 36);
    const head = [person, since, deviceId].join(".");
    if (!(ageSeconds < deviceCookie.maxAgeSeconds)) continue;
    if (isSignatureOf(deriveKey(config.secretKey, "device"), signedDevice(account, head), signature)) return deviceId;
  }
  return undefined;
}

/** The cookie with the account as the one that signed in last, as a device with attempts of its own. */
export function addDevice(config: KeyHolder, cookie: string | undefined, account: Account, now: Date): string {
  const owner = encodeUuid(account.id);
  const head = [owner, Math.floor(now.getTime() / 1_000).toString(36), randomBytes(12).toString("base64url")].join(".");
  const entry = `${head}.${signText(deriveKey(config.secretKey, "device"), signedDevice(account, head))}`;
  const others = entriesOf(cookie, devicesKept).filter((other) => /^[\w.-]{1,120}$/.test(other) && !other.startsWith(`${owner}.`));
  return [entry, ...others].slice(0, devicesKept).join(separator);
}
