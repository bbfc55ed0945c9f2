import { useCallback } from "react";
import type { CallResult } from "#client/lib/api.ts";
import { api } from "#client/lib/api.ts";
import type { Activity } from "#contract/account/activity.ts";
import { useRead } from "./use-read.ts";

type Page = CallResult<"GET /api/account/activity">;

const newest = () => api("GET /api/account/activity");

function without(events: readonly Activity[], known: readonly Activity[]): Activity[] {
  const ids = new Set(known.map(({ id }) => id));
  return events.filter(({ id }) => !ids.has(id));
}

/** Puts the newest page before what is shown; if there may be events between them, only the newest page stays. */
function withNewest(known: Page, page: Page): Page {
  const added = without(page.events, known.events);
  return added.length === page.events.length ? page : { ...known, events: [...added, ...known.events] };
}

/** What was done to the person's account, the newest first. `more` throws what its call throws. */
export function useActivity() {
  const { state, look, change } = useRead(newest, withNewest);
  const more = useCallback(
    async (cursor: string) => {
      const page = await api("GET /api/account/activity", { querystring: { cursor } });
      change((known) =>
        known.nextCursor === cursor ? { ...page, events: [...known.events, ...without(page.events, known.events)] } : known,
      );
    },
    [change],
  );
  return { state, look, more };
}
