import { useCallback, useEffect, useRef, useState } from "react";
import { api, isAbort } from "#client/lib/api.ts";
import type { Usage, UsageRange } from "#contract/usage.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; usage: Usage };

/** What was spent in the range. Of several ranges that were chosen quickly, the last one counts. */
export function useUsage(range: UsageRange): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const reading = useRef(new AbortController());
  const read = useCallback(() => {
    reading.current.abort();
    const controller = new AbortController();
    reading.current = controller;
    setState({ status: "loading" });
    api("GET /api/credits/usage", { querystring: { range }, signal: controller.signal }).then(
      (usage) => setState({ status: "known", usage }),
      (error) => isAbort(error) || setState({ status: "failed" }),
    );
  }, [range]);
  useEffect(() => {
    read();
    return () => reading.current.abort();
  }, [read]);
  return { state, read };
}
