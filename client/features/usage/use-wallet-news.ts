import { useEffect } from "react";
import { onRealtime } from "#client/lib/realtime.ts";

/** Calls `look` after every pushed change of the wallet, and when changes may have been missed. */
export function useWalletNews(look: () => void): void {
  useEffect(
    () =>
      onRealtime((event) => {
        if (event.type === "listening" || event.table === "wallets") look();
      }),
    [look],
  );
}
