import { useCallback, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { WaysIn } from "#contract/security.ts";
import { useSecurityReads } from "./security-news.ts";

export type WaysInState = { status: "loading" } | { status: "failed" } | { status: "known"; ways: WaysIn };

/** The ways in which the person can sign in, as far as they are known. */
export function useWaysIn(): { state: WaysInState; look: () => void } {
  const [state, setState] = useState<WaysInState>({ status: "loading" });
  const look = useCallback(() => {
    api("GET /api/account/ways-in").then(
      (ways) => setState({ status: "known", ways }),
      // What was known is still shown when a later look fails.
      () => setState((before) => (before.status === "known" ? before : { status: "failed" })),
    );
  }, []);
  useSecurityReads(look);
  return { state, look };
}
