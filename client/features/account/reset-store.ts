import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { onNews } from "#client/lib/realtime.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { FactorReset } from "#contract/auth/factor-reset.ts";

/** Somebody who knows the password asked to have the person's second factor removed; null: nobody, as far as this page knows. */
export const useFactorReset = create<{ reset: FactorReset | null }>(() => ({ reset: null }));

async function look(): Promise<void> {
  const userId = sessionStore.getState().user?.id;
  // Without an answer the page shows what it knew. It looks again when the socket has connected again.
  const answer = await api("GET /api/account/factor-reset").catch(() => undefined);
  if (answer && sessionStore.getState().user?.id === userId) useFactorReset.setState(answer);
}

/** Keeps every open page of a signed-in person up to date about such a request. Call once, at start. */
export function startFactorResetWatch(): void {
  let userId = sessionStore.getState().user?.id;
  sessionStore.subscribe(({ user }) => {
    if (user?.id === userId) return;
    userId = user?.id;
    useFactorReset.setState({ reset: null });
  });
  onNews(["factor_resets"], look);
}

/** Throws ApiProblem, NetworkProblem. */
export async function cancelReset(): Promise<void> {
  await api("DELETE /api/account/factor-reset");
  useFactorReset.setState({ reset: null });
}
