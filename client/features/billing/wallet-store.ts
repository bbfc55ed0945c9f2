import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { Wallet } from "#contract/billing.ts";
import type { LedgerLine } from "#contract/ledger.ts";
import { noteAvailableCredits } from "./subscription-store.ts";

interface WalletState {
  status: "idle" | "loading" | "ready" | "failed";
  wallet: Wallet | null;
  /** The newest first, as far as loaded; null before the first page. */
  lines: readonly LedgerLine[] | null;
  nextCursor: string | null;
  loadingOlder: boolean;
}

const nothing: WalletState = { status: "idle", wallet: null, lines: null, nextCursor: null, loadingOlder: false };
const pageSize = 20;

export const useWallet = create<WalletState>(() => nothing);

/** Reads the wallet together with the newest page of its history, so that the two agree. */
export async function refreshWallet(): Promise<void> {
  const userId = sessionStore.getState().user?.id;
  useWallet.setState((state) => ({ status: state.wallet ? "ready" : "loading" }));
  try {
    const [wallet, page] = await Promise.all([
      api("GET /api/credits/wallet"),
      api("GET /api/credits/ledger", { querystring: { limit: pageSize } }),
    ]);
    if (sessionStore.getState().user?.id !== userId) return;
    useWallet.setState({ status: "ready", wallet, lines: page.lines, nextCursor: page.nextCursor });
    noteAvailableCredits(wallet.available);
  } catch {
    useWallet.setState({ status: "failed" });
  }
}

/** Called after a pushed change. Reads the wallet only if it has been shown. */
export async function refreshWalletInUse(): Promise<void> {
  if (useWallet.getState().status !== "idle") await refreshWallet();
}

/** The next page of the history. Throws ApiProblem, NetworkProblem. */
export async function loadOlderLines(): Promise<void> {
  const { nextCursor, loadingOlder } = useWallet.getState();
  if (nextCursor === null || loadingOlder) return;
  useWallet.setState({ loadingOlder: true });
  try {
    const page = await api("GET /api/credits/ledger", { querystring: { cursor: nextCursor, limit: pageSize } });
    // If a refresh has restarted the history meanwhile, drop this page.
    useWallet.setState((state) =>
      state.nextCursor === nextCursor ? { lines: [...(state.lines ?? []), ...page.lines], nextCursor: page.nextCursor } : {},
    );
  } finally {
    useWallet.setState({ loadingOlder: false });
  }
}

// The next person on this device must not see the previous person's wallet.
let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  useWallet.setState(nothing);
});
