import { useCallback, useState } from "react";
import type { CallResult } from "#client/lib/api.ts";
import { api } from "#client/lib/api.ts";
import type { Activity } from "#contract/security.ts";
import { useSecurityReads } from "./security-news.ts";

type Page = CallResult<"GET /api/account/activity">;
type ActivityState = { status: "loading" } | { status: "failed" } | ({ status: "known" } & Page);

function without(events: readonly Activity[], known: readonly Activity[]): Activity[] {
  const ids = new Set(known.map(({ id }) => id));
  return events.filter(({ id }) => !ids.has(id));
}

/** Puts the newest page before what is shown; if there may be events between them, only the newest page stays. */
function withNewest(before: ActivityState, page: Page): ActivityState {
  if (before.status !== "known") return { status: "known", ...page };
  const added = without(page.events, before.events);
  if (added.length === page.events.length) return { status: "known", ...page };
  return { ...before, events: [...added, ...before.events] };
}

/** What was done to the person's account, the newest first. `more` throws what its call throws. */
export function useActivity() {
  const [state, setState] = useState<ActivityState>({ status: "loading" });

  const look = useCallback(async () => {
    try {
      const page = await api("GET /api/account/activity");
      setState((before) => withNewest(before, page));
    } catch {
      // What was known is still shown when a later look fails.
      setState((before) => (before.status === "known" ? before : { status: "failed" }));
    }
  }, []);
  const read = useCallback(() => void look(), [look]);
  useSecurityReads(read);

  const more = useCallback(async (cursor: string) => {
    const page = await api("GET /api/account/activity", { querystring: { cursor } });
    setState((before) => {
      if (before.status !== "known" || before.nextCursor !== cursor) return before;
      return { status: "known", events: [...before.events, ...without(page.events, before.events)], nextCursor: page.nextCursor };
    });
  }, []);

  return { state, look: read, more };
}
