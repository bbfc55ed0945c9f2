import { useCallback, useEffect, useRef, useState } from "react";
import { api, apiResponse, isAbort } from "#client/lib/api.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { useNews, walletNews } from "#client/lib/use-news.ts";
import type { LedgerFilter, LedgerLine } from "#contract/credits/ledger.ts";

const pageSize = 25;
/** While few lines match, the page goes on by itself for so many calls. Each reads some thousands of lines. */
const callsAtOnce = 5;

interface Known {
  lines: readonly LedgerLine[];
  nextCursor: string | null;
  /** Up to when it was read, if the search for lines that match stopped there. */
  readTo: string | null;
}

export type History = { status: "loading" } | { status: "failed" } | ({ status: "known" } & Known);

async function readMore({ lines, nextCursor }: Known, filter: LedgerFilter, signal: AbortSignal): Promise<Known> {
  let known: Known = { lines, nextCursor, readTo: null };
  for (let call = 0; call < callsAtOnce; call += 1) {
    const cursor = known.nextCursor === null ? {} : { cursor: known.nextCursor };
    const page = await api("GET /api/credits/ledger", { querystring: { ...filter, ...cursor, limit: pageSize }, signal });
    known = { ...page, lines: [...known.lines, ...page.lines] };
    if (page.nextCursor === null || known.lines.length - lines.length >= pageSize) break;
  }
  return known;
}

/** The lines that came meanwhile stand above those that were read. If there are more than a page of them, the history begins anew. */
function withNewer(known: Known, newest: Known): Known {
  const met = newest.lines.findIndex(({ id }) => id === known.lines[0]?.id);
  return met === -1 ? newest : { ...known, lines: [...newest.lines.slice(0, met), ...known.lines] };
}

const nothing: Known = { lines: [], nextCursor: null, readTo: null };

/**
 * The history that matches the filter, from the newest line to the last that was asked for. Another filter begins anew, and a pushed change
 * adds the lines that are new.
 */
export function useHistory(filter: LedgerFilter) {
  const [state, setState] = useState<History>({ status: "loading" });
  const reading = useRef(new AbortController());

  const begin = useCallback(() => {
    reading.current.abort();
    const controller = new AbortController();
    reading.current = controller;
    setState({ status: "loading" });
    readMore(nothing, filter, controller.signal).then(
      (known) => setState({ status: "known", ...known }),
      (error) => isAbort(error) || setState({ status: "failed" }),
    );
  }, [filter]);

  useEffect(() => {
    begin();
    return () => reading.current.abort();
  }, [begin]);

  const look = useCallback(() => {
    const { signal } = reading.current;
    readMore(nothing, filter, signal).then(
      (newest) => setState((before) => (before.status === "known" ? { status: "known", ...withNewer(before, newest) } : before)),
      // What was known is still shown.
      () => {},
    );
  }, [filter]);
  useNews(walletNews, look);

  /** Throws what the call throws. */
  async function more(): Promise<void> {
    if (state.status !== "known") return;
    const { signal } = reading.current;
    try {
      const known = await readMore(state, filter, signal);
      setState((before) => {
        const isNewer = before.status === "known" && before.lines !== state.lines;
        return { status: "known", ...(isNewer ? withNewer(known, before) : known) };
      });
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }
  return { state, begin, more };
}

/** Saves the history that matches the filter. Only calls with the bearer token get it, so it can't be a plain link. */
export async function downloadHistory(filter: LedgerFilter): Promise<void> {
  const response = await apiResponse("GET /api/credits/ledger.csv", { querystring: filter });
  saveFile(await response.blob(), "tessera-history.csv");
}
