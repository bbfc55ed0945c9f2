import { onRealtime } from "#client/lib/realtime.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { readCachedCheck, writeCachedCheck } from "#client/offline/subscription-cache.ts";
import { afterFailure, askForSubscription } from "./check-subscription.ts";
import { noSubscription, useSubscription } from "./subscription-store.ts";
import { refreshWalletInUse } from "./wallet-store.ts";

/** Spec §4: how long after a pushed change the subscription is checked again. */
const recheckDelayMs = 500;

/** Results of earlier checks are ignored. */
let question = 0;

async function check(visibly: boolean): Promise<void> {
  const userId = sessionStore.getState().user?.id;
  if (userId === undefined) return;
  question += 1;
  const asked = question;
  if (visibly || useSubscription.getState().check === null) {
    useSubscription.setState((state) => ({ status: state.check ? "refreshing" : "checking" }));
  }
  const outcome = await askForSubscription();
  const cached = "check" in outcome ? { check: outcome.check, checkedAtMs: Date.now() } : await readCachedCheck(userId);
  if (asked !== question || sessionStore.getState().user?.id !== userId) return;
  if ("check" in outcome) {
    useSubscription.setState({ status: "ready", check: outcome.check, lastKnown: cached ?? null });
    if (cached) await writeCachedCheck(userId, cached);
  } else {
    useSubscription.setState({ status: "failed", check: afterFailure(outcome.failure, cached, Date.now()), lastKnown: cached ?? null });
  }
}

/** Checks the subscription at sign-in and after every pushed change, and clears it at sign-out. Call once, at start. */
export function startSubscription(): () => void {
  let userId: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = () => {
    const next = sessionStore.getState().user?.id;
    if (next === userId) return;
    userId = next;
    clearTimeout(timer);
    useSubscription.setState(noSubscription);
    if (next !== undefined) void check(false);
  };
  const recheckSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(false), recheckDelayMs);
  };
  useSubscription.setState({
    refresh: async () => {
      await Promise.all([check(true), refreshWalletInUse()]);
    },
  });
  follow();
  const unsubscribe = sessionStore.subscribe(follow);
  const unlisten = onRealtime((event) => {
    if (event.type === "change" && (event.table === "generations" || event.table === "factor_resets")) return;
    // The subscription contains the credits too, so a change of the wallet refreshes both.
    if (event.type === "listening" || event.table === "wallets") void refreshWalletInUse();
    recheckSoon();
  });
  const back = () => void check(false);
  addEventListener("online", back);
  return () => {
    clearTimeout(timer);
    unsubscribe();
    unlisten();
    removeEventListener("online", back);
  };
}
