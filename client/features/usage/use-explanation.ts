import { useCallback, useEffect, useRef, useState } from "react";
import { api, isAbort } from "#client/lib/api.ts";
import { useNews, walletNews } from "#client/lib/use-news.ts";
import type { Explanation } from "#contract/credits/ledger.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; explanation: Explanation };

/** The balance explained, read again after every pushed change. Of several answers the one to the last call counts. */
export function useExplanation(): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const reading = useRef(new AbortController());
  const look = useCallback(() => {
    reading.current.abort();
    const controller = new AbortController();
    reading.current = controller;
    api("GET /api/credits/explanation", { signal: controller.signal }).then(
      (explanation) => setState({ status: "known", explanation }),
      (error) => isAbort(error) || setState((before) => (before.status === "known" ? before : { status: "failed" })),
    );
  }, []);
  const read = useCallback(() => {
    setState({ status: "loading" });
    look();
  }, [look]);
  useEffect(() => {
    look();
    return () => reading.current.abort();
  }, [look]);
  useNews(walletNews, look);
  return { state, read };
}
