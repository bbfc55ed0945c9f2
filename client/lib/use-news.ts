import { useEffect } from "react";
import type { RealtimeTable } from "#contract/realtime.ts";
import { onNews } from "./realtime.ts";

type Tables = readonly RealtimeTable[];

/** What is read again when these tables of the person's have changed. */
export const walletNews: Tables = ["wallets"];
export const billingNews: Tables = ["user_subscriptions", "wallets"];
export const conversationNews: Tables = ["generations"];

/** Does what `onNews` does while the component is there. Both parameters must stay the same. */
export function useNews(tables: Tables, look: () => unknown): void {
  useEffect(() => onNews(tables, look), [tables, look]);
}
