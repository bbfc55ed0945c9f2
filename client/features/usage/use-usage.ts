import { useCallback, useEffect, useRef, useState } from "react";
import { api, isAbort } from "#client/lib/api.ts";
import { useNews, walletNews } from "#client/lib/use-news.ts";
import type { Usage, UsageRange } from "#contract/credits/usage.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; usage: Usage };

/** What was spent in the range, read again after every pushed change. Of several ranges that were chosen quickly, the last one counts. */
export function useUsage(range: UsageRange): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const reading = useRef(new AbortController());
  const look = useCallback(() => {
    reading.current.abort();
    const controller = new AbortController();
    reading.current = controller;
    api("GET /api/credits/usage", { querystring: { range }, signal: controller.signal }).then(
      (usage) => setState({ status: "known", usage }),
      (error) => isAbort(error) || setState((before) => (before.status === "known" ? before : { status: "failed" })),
    );
  }, [range]);
  const read = useCallback(() => {
    setState({ status: "loading" });
    look();
  }, [look]);
  useEffect(() => {
    read();
    return () => reading.current.abort();
  }, [read]);
  useNews(walletNews, look);
  return { state, read };
}
