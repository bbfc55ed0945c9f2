import { startFactorResetWatch } from "./features/account/reset-store.ts";
import { startSubscription } from "./features/billing/subscription-checks.ts";
import { followPerson } from "./lib/follow-person.ts";
import { startRealtime } from "./lib/realtime-socket.ts";

/** Starts what only signed-in people need; each part then follows the session. Call once. */
export function startSignedIn(): void {
  startFactorResetWatch();
  startRealtime();
  followPerson();
  startSubscription();
}
