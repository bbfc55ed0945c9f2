import { useCallback, useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { api, isAbort } from "#client/lib/api.ts";
import type { Figures } from "#contract/figures.ts";
import type { PresetRange } from "#domain/figures.ts";
import { presetRanges } from "#domain/figures.ts";

/** Days in UTC, both inclusive. */
export interface OwnRange {
  from: string;
  to: string;
}
export type ShownRange = { preset: PresetRange } | OwnRange;

type State = { status: "loading" } | { status: "failed" } | { status: "known"; figures: Figures; isLoading: boolean };

const isDay = (text: string | null): text is string => text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/** The range that the address says, so that it can be shared: without one, the last thirty days. */
function rangeOf(search: URLSearchParams): ShownRange {
  const [from, to] = [search.get("from"), search.get("to")];
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  return { preset: presetRanges.find((preset) => preset === search.get("range")) ?? "30d" };
}

export function useFigures() {
  const [search, setSearch] = useSearchParams();
  const [state, setState] = useState<State>({ status: "loading" });
  const [tries, setTries] = useState(0);
  const range = rangeOf(search);
  // The number of tries makes it read again.
  const key = JSON.stringify(["preset" in range ? { range: range.preset } : range, tries]);

  useEffect(() => {
    const abort = new AbortController();
    setState((before) => (before.status === "known" ? { ...before, isLoading: true } : { status: "loading" }));
    const [querystring] = JSON.parse(key);
    api("GET /api/admin/figures", { querystring, signal: abort.signal }).then(
      (figures) => setState({ status: "known", figures, isLoading: false }),
      (error: unknown) => isAbort(error) || setState({ status: "failed" }),
    );
    return () => abort.abort();
  }, [key]);

  const show = useCallback(
    (next: ShownRange) => setSearch(new URLSearchParams("preset" in next ? { range: next.preset } : { from: next.from, to: next.to })),
    [setSearch],
  );
  return { state, range, show, read: () => setTries((before) => before + 1) };
}
