import { startSubscription } from "./features/billing/subscription-store.ts";
import { startRealtime } from "./lib/realtime.ts";

/** What only somebody signed in needs: the socket, and the state of the subscription. Both follow the session from here on. */
export function startSignedIn(): void {
  startRealtime();
  startSubscription();
}
