import { useCallback, useEffect, useRef, useState } from "react";
import { api, isAbort } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { searchKeptConversations } from "#client/offline/search-kept.ts";
import type { FoundConversation } from "#contract/conversations.ts";
import { searchQuery } from "#domain/search.ts";

export interface Search {
  /** The query; undefined while it is too short to search for. */
  words: string | undefined;
  status: "idle" | "busy" | "ready" | "failed";
  found: readonly FoundConversation[];
  /** Only the conversations saved on this device were searched. */
  onDevice: boolean;
  /** Searches older conversations; null if there are none. */
  older: (() => void) | null;
  /** Tries again after a failure; null if nothing failed. */
  again: (() => void) | null;
}

/** Waits for a pause in typing before asking the server. */
const pauseMs = 250;
/** A page can be empty without being the last, so we read up to this many before we show the button. */
const emptyPages = 5;

interface Found extends Pick<Search, "status" | "found" | "onDevice"> {
  words: string | undefined;
  cursor: string | null;
}

const nothing: Found = { words: undefined, status: "idle", found: [], onDevice: false, cursor: null };

async function searchFrom(
  words: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<{ found: FoundConversation[]; cursor: string | null }> {
  let place = cursor;
  for (let page = 0; ; page += 1) {
    const querystring = { query: words, ...(place === null ? {} : { cursor: place }) };
    const answer = await api("GET /api/conversations/search", { querystring, signal });
    place = answer.nextCursor;
    if (answer.found.length > 0 || place === null || page >= emptyPages) return { found: answer.found, cursor: place };
  }
}

/** Searches the person's conversations at the server or, offline, those saved on this device. */
export function useSearch(text: string, online: boolean): Search {
  const [state, setState] = useState<Found>(nothing);
  const asking = useRef<AbortController>(undefined);
  const words = searchQuery(text);

  const run = useCallback(
    async (before: Found): Promise<void> => {
      if (before.words === undefined) return;
      asking.current?.abort();
      const controller = new AbortController();
      asking.current = controller;
      setState({ ...before, status: "busy" });
      try {
        const owner = sessionStore.getState().user?.id ?? "";
        const next = online
          ? await searchFrom(before.words, before.cursor, controller.signal)
          : { found: await searchKeptConversations(owner, before.words), cursor: null };
        if (controller.signal.aborted) return;
        setState({ ...before, status: "ready", found: [...before.found, ...next.found], cursor: next.cursor, onDevice: !online });
      } catch (error) {
        if (!isAbort(error) && !controller.signal.aborted) setState({ ...before, status: "failed" });
      }
    },
    [online],
  );

  useEffect(() => {
    asking.current?.abort();
    if (words === undefined) {
      setState(nothing);
      return;
    }
    const timer = setTimeout(() => void run({ ...nothing, words }), pauseMs);
    return () => clearTimeout(timer);
  }, [words, run]);

  const { cursor, ...shown } = state;
  const goOn = () => void run(state);
  return { ...shown, older: cursor === null ? null : goOn, again: state.status === "failed" ? goOn : null };
}
