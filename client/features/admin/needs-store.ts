import { useEffect } from "react";
import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import type { Needs } from "#contract/admin/needs.ts";

interface NeedsState {
  needs: Needs | "failed" | undefined;
  /** The server's time when it was read. */
  readAt: Date | undefined;
  look: () => void;
}

function storeOf(querystring: { putOff?: true }) {
  let latest = 0;
  return create<NeedsState>((set) => ({
    needs: undefined,
    readAt: undefined,
    look: () => {
      latest += 1;
      const own = latest;
      // The answer to an earlier look may arrive after an act and not know of it, so only the latest look counts.
      const tell = (state: Partial<NeedsState>) => own === latest && set(state);
      Promise.all([api("GET /api/admin/needs", { querystring }), api("GET /api/environment")]).then(
        ([needs, { serverTime }]) => tell({ needs, readAt: new Date(serverTime) }),
        () => tell({ needs: "failed" }),
      );
    },
  }));
}

/** What waits for somebody of the team. The navigation counts it, and the page that shows it reads it again after each act. */
export const useNeeds = storeOf({});
/** The entries that were put off. */
export const usePutOff = storeOf({ putOff: true });

const lookEveryMs = 60_000;

/** Looks now and every minute, as long as `isOn`. */
export function useLookingEveryMinute(look: () => void, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    look();
    const timer = setInterval(() => document.visibilityState === "visible" && look(), lookEveryMs);
    return () => clearInterval(timer);
  }, [isOn, look]);
}

/** Reads what waits now and every minute, if the person's role allows it. */
export function useCountedNeeds(isAllowed: boolean): void {
  useLookingEveryMinute(useNeeds.getState().look, isAllowed);
}

/** How many things wait. Undefined until they are read, or if that failed. */
export function waitingOf(needs: NeedsState["needs"]): { count: number; isMore: boolean } | undefined {
  if (needs === undefined || needs === "failed") return undefined;
  const { checkingSince: _since, putOff: _later, ...lists } = needs;
  const all = Object.values(lists);
  return { count: all.reduce((sum, { rows }) => sum + rows.length, 0), isMore: all.some(({ isMore }) => isMore) };
}
