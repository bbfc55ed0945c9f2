import { startSubscription } from "./features/billing/subscription-checks.ts";
import { startRealtime } from "./lib/realtime-socket.ts";

/** What runs for people signed in; each part follows the session from then on. Call once. */
export function startSignedIn(): void {
  startRealtime();
  startSubscription();
}
