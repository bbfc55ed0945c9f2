/**
 * What we remember in a browser about accounts, in cookies that sign nobody in:
 * `sign-up` names the sign-ups begun in this browser. Their mailed links open here with one click; elsewhere they need the password.
 * `recovery` names the links for a new password that were requested here. They sign in only here. The cookie is set for addresses without
 * an account too, so that it reveals nothing.
 * `email-change` names the links to new addresses that were requested here. Elsewhere they need the password.
 * `device` names the accounts that have signed in here, so that strangers' guesses don't lock these people out (OWASP, "device cookies").
 * Its signature covers the hash of the password, so a new password makes the account's devices unknown.
 * `pending` is random. A sign-in that waits for its second factor continues only in the browser that began it.
 * The others are signed, and we don't store them.
 */
import { randomBytes } from "node:crypto";
import { deviceCookieMs, emailChangeMs, factorWaitMs, recoveryMs, signUpCookieMs } from "#domain/periods.ts";
import type { CookieKind } from "../../http/cookies.ts";
import type { KeyHolder } from "../../http/secret-keys.ts";
import { decodeUuid, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";
import type { Person } from "./queries.ts";

/** People use more than one account in a browser. Beyond these numbers the oldest are dropped. */
const begunKept = 3;
const devicesKept = 4;

export const signUpCookie: CookieKind = { name: "sign-up", maxAgeSeconds: signUpCookieMs / 1_000 };
export const emailChangeCookie: CookieKind = { name: "email-change", maxAgeSeconds: emailChangeMs / 1_000 };
export const recoveryCookie: CookieKind = { name: "recovery", maxAgeSeconds: recoveryMs / 1_000 };
export const deviceCookie: CookieKind = { name: "device", maxAgeSeconds: deviceCookieMs / 1_000 };
export const pendingCookie: CookieKind = { name: "pending", maxAgeSeconds: factorWaitMs / 1_000 };

/** Returns the browser's name in the `pending` cookie, or a new random one. */
export function readBrowserName(cookie: string | undefined): string {
  return cookie !== undefined && /^[\w-]{22}$/.test(cookie) ? cookie : randomBytes(16).toString("base64url");
}

type Account = Pick<Person, "id" | "password_hash">;

const separator = "~";

function entriesOf(cookie: string | undefined, kept: number): string[] {
  return (cookie ?? "").split(separator, kept).filter((entry) => entry !== "");
}

/** What a person begins in a browser and finishes with a mailed link. */
type Begun = "sign-up" | "recovery" | "email-change";

/** The ids of those that were begun in this browser, newest first. */
export function readBegun(config: KeyHolder, kind: Begun, cookie: string | undefined): string[] {
  return entriesOf(cookie, begunKept).flatMap((entry) => {
    const [head = "", signature = ""] = entry.split(".");
    const id = decodeUuid(head);
    return id !== undefined && isSignatureOf(config, kind, id, signature) ? id : [];
  });
}

export function writeBegun(config: KeyHolder, kind: Begun, ids: readonly string[]): string {
  return [...new Set(ids)]
    .slice(0, begunKept)
    .map((id) => `${encodeUuid(id)}.${signText(config, kind, id)}`)
    .join(separator);
}

function signedDevice(account: Account, head: string): string {
  return `${head}.${account.password_hash}`;
}

/** The device's id, if this browser has signed in to the account with its present password. */
export function readDevice(config: KeyHolder, cookie: string | undefined, account: Account, now: Date): string | undefined {
  const owner = encodeUuid(account.id);
  for (const entry of entriesOf(cookie, devicesKept)) {
    const [person = "", since = "", deviceId = "", signature = ""] = entry.split(".");
    if (person !== owner || account.password_hash === null) continue;
    const ageSeconds = now.getTime() / 1_000 - Number.parseInt(since, 36);
    const head = [person, since, deviceId].join(".");
    if (!(ageSeconds < deviceCookie.maxAgeSeconds)) continue;
    if (isSignatureOf(config, "device", signedDevice(account, head), signature)) return deviceId;
  }
  return undefined;
}

/** Returns the cookie with this account added as the latest. The device gets an id, under which its attempts are counted. */
export function addDevice(config: KeyHolder, cookie: string | undefined, account: Account, now: Date): string {
  const owner = encodeUuid(account.id);
  const head = [owner, Math.floor(now.getTime() / 1_000).toString(36), randomBytes(12).toString("base64url")].join(".");
  const entry = `${head}.${signText(config, "device", signedDevice(account, head))}`;
  const others = entriesOf(cookie, devicesKept).filter((other) => /^[\w.-]{1,120}$/.test(other) && !other.startsWith(`${owner}.`));
  return [entry, ...others].slice(0, devicesKept).join(separator);
}
