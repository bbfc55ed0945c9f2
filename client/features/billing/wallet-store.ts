import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { LedgerLine } from "#contract/credits/ledger.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import { noteAvailableCredits } from "./subscription-store.ts";

interface WalletState {
  status: "idle" | "loading" | "ready" | "failed";
  wallet: Wallet | null;
  /** The newest of the history, newest first; null before they are read. */
  lines: readonly LedgerLine[] | null;
}

const nothing: WalletState = { status: "idle", wallet: null, lines: null };
const newestLines = 10;

export const useWallet = create<WalletState>(() => nothing);

/** Reads the wallet together with the newest lines of its history, so that the two agree. */
export async function refreshWallet(): Promise<void> {
  const userId = sessionStore.getState().user?.id;
  useWallet.setState((state) => ({ status: state.wallet ? "ready" : "loading" }));
  try {
    const [wallet, page] = await Promise.all([
      api("GET /api/credits/wallet"),
      api("GET /api/credits/ledger", { querystring: { limit: newestLines } }),
    ]);
    if (sessionStore.getState().user?.id !== userId) return;
    useWallet.setState({ status: "ready", wallet, lines: page.lines });
    noteAvailableCredits(wallet.available);
  } catch {
    useWallet.setState({ status: "failed" });
  }
}

/** Called after a pushed change. Reads the wallet only if it has been shown. */
export async function refreshWalletInUse(): Promise<void> {
  if (useWallet.getState().status !== "idle") await refreshWallet();
}

// The next person on this device must not see the previous person's wallet.
let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  useWallet.setState(nothing);
});
