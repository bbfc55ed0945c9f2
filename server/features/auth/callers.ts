/** What we know about the browser that calls, and checks that signing up and signing in share. */
import { DomainError } from "#domain/errors.ts";
import type { Deps } from "../../deps.ts";
import { fewAtOnce, NetworkCounts } from "../../http/counts.ts";
import { ValidationError } from "../../http/problem.ts";

export type AuthDeps = Pick<Deps, "config" | "db" | "clock" | "live" | "log" | "settings">;

/** Where a call comes from. */
export interface Caller {
  /** The network that the limits count as one caller (client-network.ts). */
  network: string;
  userAgent: string | undefined;
  /** The IANA name the browser gave; null if it gave none that exists. */
  timeZone: string | null;
  /** The sign-ups begun in this browser (browser.ts). */
  signUps: readonly string[];
  /** The links for a new password that were asked for in this browser (browser.ts). */
  recoveries: readonly string[];
  /** The links to new addresses that were asked for in this browser (browser.ts). */
  emailChanges: readonly string[];
  /** The `device` cookie as the browser sent it (browser.ts). */
  devices: string | undefined;
  /** Names the browser to a sign-in that waits for its second factor (browser.ts). */
  browser: string;
}

export function normalizeEmail(text: string): string {
  return text.trim().normalize("NFC").toLowerCase();
}

/** The name as the time zone database writes it; null if there is no such zone. */
export function readTimeZone(name: string | string[] | undefined): string | null {
  if (typeof name !== "string" || !/^[a-z][\w+/-]{0,63}$/i.test(name)) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

export function assertRules(faults: Record<string, string | undefined>): void {
  const fields = Object.entries(faults).flatMap(([field, message]) => (message === undefined ? [] : [{ field, message }]));
  if (fields.length > 0) throw new ValidationError(fields);
}

export function invalidCredentials(): DomainError {
  return new DomainError("invalid_credentials", "The email or password is wrong");
}

/** Enough for an office in which everybody signs in at nine. */
const callsAtOnce = 10;
const calls = new NetworkCounts();

/** Limits how many calls of one network run at once, so that a flood from it leaves room for the others. Throws `rate_limited`. */
export function fewOfOneNetwork<T>({ network }: Caller, work: () => Promise<T>): Promise<T> {
  return fewAtOnce(calls, network, callsAtOnce, work);
}
