import { useCallback, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { Factors } from "#contract/factors.ts";
import { useSecurityReads } from "./security-news.ts";

type FactorsState = { status: "loading" } | { status: "failed" } | { status: "known"; factors: Factors; readAt: Date };

/** Whether the person has a second factor. */
export function useFactors(): { state: FactorsState; look: () => void } {
  const [state, setState] = useState<FactorsState>({ status: "loading" });
  const look = useCallback(() => {
    api("GET /api/account/factors").then(
      (factors) => setState({ status: "known", factors, readAt: new Date() }),
      // What was known is still shown when a later look fails.
      () => setState((before) => (before.status === "known" ? before : { status: "failed" })),
    );
  }, []);
  useSecurityReads(look);
  return { state, look };
}
