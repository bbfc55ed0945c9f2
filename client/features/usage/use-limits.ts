import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { SpendingLimits } from "#contract/credits/limits.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; limits: SpendingLimits };

export function useLimits(): { state: State; read: () => void; keep: (limits: SpendingLimits) => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const keep = useCallback((limits: SpendingLimits) => setState({ status: "known", limits }), []);
  const read = useCallback(() => {
    setState({ status: "loading" });
    api("GET /api/credits/limits").then(keep, () => setState({ status: "failed" }));
  }, [keep]);
  useEffect(read, [read]);
  return { state, read, keep };
}
