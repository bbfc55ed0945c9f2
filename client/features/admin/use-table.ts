import { useCallback, useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import { isAbort } from "#client/lib/api.ts";

/** The query that the tables' calls take. */
export interface TableQuery {
  sort?: string;
  order?: "asc" | "desc";
  cursor?: string;
  [filter: string]: string | undefined;
}

export interface TablePage<Row> {
  rows: Row[];
  nextCursor: string | null;
  /** More match than are looked through. */
  isCut?: boolean;
}

export type TableState<Row> = { status: "loading" | "failed" } | { status: "known"; page: TablePage<Row>; isLoading: boolean };

interface Sources<Row> {
  /** The names of the filters. */
  filters: readonly string[];
  load: (query: TableQuery, signal: AbortSignal) => Promise<TablePage<Row>>;
}

/** The names in the address that are not filters. */
const own = { sort: "sort", order: "order", cursor: "after", columns: "columns" } as const;

/** What the address says about a table with these filters. */
export function queryOf(search: URLSearchParams, filters: readonly string[]): TableQuery {
  const query: TableQuery = {};
  for (const name of filters) {
    const value = search.get(name);
    if (value) query[name] = value;
  }
  const sort = search.get(own.sort);
  const order = search.get(own.order);
  const cursor = search.get(own.cursor);
  if (sort) query.sort = sort;
  if (order === "asc" || order === "desc") query.order = order;
  if (cursor) query.cursor = cursor;
  return query;
}

/** What a table shows, which the address says: so it can be shared, and going back brings it back. */
export function useTable<Row>({ filters, load }: Sources<Row>) {
  const [search, setSearch] = useSearchParams();
  const [state, setState] = useState<TableState<Row>>({ status: "loading" });
  const [earlier, setEarlier] = useState<(string | undefined)[]>([]);
  const [tries, setTries] = useState(0);
  const query = queryOf(search, filters);
  // The number of tries makes it read again.
  const key = JSON.stringify([query, tries]);

  useEffect(() => {
    const abort = new AbortController();
    setState((before) => (before.status === "known" ? { ...before, isLoading: true } : { status: "loading" }));
    const [asked] = JSON.parse(key) as [TableQuery, number];
    load(asked, abort.signal).then(
      (page) => setState({ status: "known", page, isLoading: false }),
      (error: unknown) => {
        if (!isAbort(error)) setState({ status: "failed" });
      },
    );
    return () => abort.abort();
  }, [key, load]);

  const change = useCallback(
    (changes: Record<string, string | undefined>, keepsPage = false) =>
      setSearch((before) => {
        const next = new URLSearchParams(before);
        if (!keepsPage) next.delete(own.cursor);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      }),
    [setSearch],
  );

  const nextCursor = state.status === "known" ? state.page.nextCursor : null;
  return {
    state,
    query,
    columns: search.get(own.columns)?.split(",") ?? undefined,
    isFiltered: filters.some((name) => query[name] !== undefined),
    read: () => setTries((count) => count + 1),
    filter: (changes: Record<string, string | undefined>) => {
      setEarlier([]);
      change(changes);
    },
    sort: (sort: string, order: "asc" | "desc") => {
      setEarlier([]);
      change({ [own.sort]: sort, [own.order]: order });
    },
    showColumns: (names: readonly string[] | undefined) => change({ [own.columns]: names?.join(",") }, true),
    next:
      nextCursor === null
        ? undefined
        : () => {
            setEarlier([...earlier, query.cursor]);
            change({ [own.cursor]: nextCursor }, true);
          },
    previous:
      query.cursor === undefined
        ? undefined
        : () => {
            setEarlier(earlier.slice(0, -1));
            change({ [own.cursor]: earlier.at(-1) }, true);
          },
  };
}

export type TableControls<Row> = ReturnType<typeof useTable<Row>>;
