import { useEffect, useState } from "react";
import { api, isAbort } from "#client/lib/api.ts";
import type { PersonRow } from "#contract/admin/people.ts";

/** People take in this many at a glance. */
const most = 7;
/** The search waits this long after the last letter, so that fast typing doesn't send a request for each. */
const pauseMs = 150;

export interface Found {
  status: "empty" | "reading" | "found" | "failed";
  people: readonly PersonRow[];
  isMore: boolean;
}

const nothing: Found = { status: "empty", people: [], isMore: false };

/** The people a text fits, a moment after it was typed. While it is read, those of the text before stay. */
export function useFound(text: string): Found {
  const [found, setFound] = useState(nothing);
  useEffect(() => {
    if (text === "") {
      setFound(nothing);
      return;
    }
    setFound((before) => ({ ...before, status: "reading" }));
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api("GET /api/admin/people", { querystring: { search: text, limit: most }, signal: abort.signal }).then(
        ({ rows, nextCursor }) => setFound({ status: "found", people: rows, isMore: nextCursor !== null }),
        (error: unknown) => {
          if (!isAbort(error)) setFound({ status: "failed", people: [], isMore: false });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}
