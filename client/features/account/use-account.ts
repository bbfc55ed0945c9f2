import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import { useNews } from "#client/lib/use-news.ts";
import type { Account } from "#contract/account/account.ts";
import type { RealtimeTable } from "#contract/realtime.ts";

export type AccountState = { status: "loading" } | { status: "failed" } | { status: "ready"; account: Account };

const accountNews: readonly RealtimeTable[] = ["users"];

/** Loads the signed-in person's account, again for each `userId` and whenever it changed elsewhere. */
export function useAccount(userId: string): { state: AccountState; read: () => void } {
  const [state, setState] = useState<AccountState>({ status: "loading" });
  const [attempt, setAttempt] = useState({ userId, count: 0 });

  useEffect(() => {
    const controller = new AbortController();
    // While the same account is read again, the page shows what it was.
    setState((before) => (before.status === "ready" && before.account.id === attempt.userId ? before : { status: "loading" }));
    api("GET /api/account", { signal: controller.signal }).then(
      (account) => {
        if (!controller.signal.aborted && attempt.userId === account.id) setState({ status: "ready", account });
      },
      () => {
        if (!controller.signal.aborted) setState((before) => (before.status === "ready" ? before : { status: "failed" }));
      },
    );
    return () => controller.abort();
  }, [attempt]);

  useEffect(() => setAttempt((before) => (before.userId === userId ? before : { userId, count: 0 })), [userId]);

  const read = useCallback(() => setAttempt((before) => ({ ...before, count: before.count + 1 })), []);
  useNews(accountNews, read);
  return { state, read };
}
