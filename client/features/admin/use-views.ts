import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { SavedView } from "#contract/admin/views.ts";
import type { ListName } from "#domain/tables.ts";

/** The views that were read last, so that a list that is opened again shows them at once. */
const known = new Map<ListName, readonly SavedView[]>();

/** The views of the list that the reader saved, on whatever device. Until they are known there are none. */
export function useViews(list: ListName): { views: readonly SavedView[]; show: (views: readonly SavedView[]) => void } {
  const [views, setViews] = useState(known.get(list) ?? []);
  const show = useCallback(
    (next: readonly SavedView[]) => {
      known.set(list, next);
      setViews(next);
    },
    [list],
  );
  useEffect(() => {
    api("GET /api/admin/views", { querystring: { list } }).then(
      (answer) => show(answer.views),
      (error: unknown) => console.warn("Could not read the saved views.", error),
    );
  }, [list, show]);
  return { views, show };
}
