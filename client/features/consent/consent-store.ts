import { create } from "zustand";
import type { UserConsent } from "#client/offline/consent.ts";
import { findConsent, writeConsent } from "#client/offline/consent.ts";
import type { Kept } from "#client/offline/store.ts";

interface ConsentState {
  /** Also `stored` if only a newer version can read the choice, because a choice was made. */
  stored: "unknown" | "none" | "stored";
  consent: UserConsent | null;
  /** The person has opened the choice again. */
  reopened: boolean;
}

export const useConsent = create<ConsentState>(() => ({ stored: "unknown", consent: null, reopened: false }));

/** Reads the stored choice, which another tab may have changed. */
export async function readConsent(): Promise<void> {
  const found = await findConsent();
  useConsent.setState({ stored: found.state === "absent" ? "none" : "stored", consent: found.state === "found" ? found.value : null });
}

/** Spec §4: every way out of the banner stores a choice and closes it. Resolves to whether the device kept it. */
export async function chooseConsent(choice: Omit<UserConsent, "timestamp">): Promise<Kept> {
  const consent = { ...choice, timestamp: new Date().toISOString() };
  useConsent.setState({ stored: "stored", consent, reopened: false });
  return await writeConsent(consent);
}

export function reopenConsent(): void {
  useConsent.setState({ reopened: true });
}
