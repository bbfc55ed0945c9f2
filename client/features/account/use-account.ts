import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { Account } from "#contract/account.ts";

export type AccountState = { status: "loading" } | { status: "failed" } | { status: "ready"; account: Account };

/** Loads the signed-in person's account, again for each `userId`. */
export function useAccount(userId: string): { state: AccountState; retry: () => void } {
  const [state, setState] = useState<AccountState>({ status: "loading" });
  const [attempt, setAttempt] = useState({ userId, count: 0 });

  useEffect(() => {
    const controller = new AbortController();
    setState({ status: "loading" });
    api("GET /api/account", { signal: controller.signal }).then(
      (account) => {
        if (!controller.signal.aborted && attempt.userId === account.id) setState({ status: "ready", account });
      },
      () => {
        if (!controller.signal.aborted) setState({ status: "failed" });
      },
    );
    return () => controller.abort();
  }, [attempt]);

  useEffect(() => setAttempt((before) => (before.userId === userId ? before : { userId, count: 0 })), [userId]);

  const retry = useCallback(() => setAttempt((before) => ({ ...before, count: before.count + 1 })), []);
  return { state, retry };
}
