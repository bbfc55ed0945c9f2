import { startFactorResetWatch } from "./features/account/reset-store.ts";
import { startSubscription } from "./features/billing/subscription-checks.ts";
import { followNotice } from "./features/environment/follow-notice.ts";
import { followPerson } from "./lib/follow-person.ts";
import { startRealtime } from "./lib/realtime-socket.ts";

/** Starts what only signed-in people need; each part then follows the session. Call once. */
export function startSignedIn(): void {
  startFactorResetWatch();
  startRealtime();
  followPerson();
  followNotice();
  startSubscription();
}

// The pages that only signed-in people may see. This file has usually been fetched before somebody opens one of them.
export const loadProfile = async () => (await import("./pages/profile.tsx")).ProfilePage;
export const loadAccountSection = async () => (await import("./pages/account-section.tsx")).AccountSectionPage;
export const loadAdmin = async () => (await import("./pages/admin.tsx")).AdminPage;
export const loadDesign = async () => (await import("./pages/design.tsx")).DesignPage;
