import type { Found, Kept, Kind } from "./store.ts";
import { findStored, isRecord, writeAllStored } from "./store.ts";

/** Spec §3, under the key `userConsent`. */
export interface UserConsent {
  tos: boolean;
  privacy: boolean;
  cookies: boolean;
  /** ISO 8601. */
  timestamp: string;
}

const userConsentKind: Kind<UserConsent> = {
  version: 1,
  stamped: false,
  read: (stored) => {
    if (!isRecord(stored)) return undefined;
    const { tos, privacy, cookies, timestamp } = stored;
    if (typeof tos !== "boolean" || typeof privacy !== "boolean" || typeof cookies !== "boolean") return undefined;
    if (typeof timestamp !== "string" || Number.isNaN(Date.parse(timestamp))) return undefined;
    return { tos, privacy, cookies, timestamp };
  },
};

/** Spec §3: whether cookies were accepted or declined, as a separate value. */
const cookieConsentKind: Kind<"accepted" | "declined"> = {
  version: 1,
  stamped: false,
  read: (stored) => (stored === "accepted" || stored === "declined" ? stored : undefined),
};

export async function findConsent(): Promise<Found<UserConsent>> {
  return await findStored(userConsentKind, "userConsent");
}

/** Writes both values or neither, so that they never contradict each other. */
export async function writeConsent(consent: UserConsent): Promise<Kept> {
  return await writeAllStored([
    { kind: userConsentKind, key: "userConsent", value: consent },
    { kind: cookieConsentKind, key: "cookieConsent", value: consent.cookies ? "accepted" : "declined" },
  ]);
}
