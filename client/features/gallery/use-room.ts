import { useCallback, useEffect, useRef, useState } from "react";
import type { CallResult } from "#client/lib/api.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { forgetFile } from "#client/lib/file-addresses.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { forgetDeletedFile } from "#client/offline/forget-file.ts";
import type { RoomFile } from "#contract/files.ts";
import type { FileCategory, FileOrder } from "#domain/file-categories.ts";

export interface Asked {
  category: FileCategory | "all";
  order: FileOrder;
}

type Page = CallResult<"GET /api/files/room">;
export type Space = Pick<Page, "usedBytes" | "allowedBytes">;

interface Listed {
  files: readonly RoomFile[];
  /** Null: there are no more. */
  nextCursor: string | null;
  status: "loading" | "ready" | "failed";
}

const nothing: Listed = { files: [], nextCursor: null, status: "loading" };

/** The files that take room, page by page, and how much they take. What was known of the room stays while another list is read. */
export function useRoom({ category, order }: Asked) {
  const [listed, setListed] = useState(nothing);
  const [space, setSpace] = useState<Space>();
  const latest = useRef(0);
  const online = useOnline();
  const read = useCallback(
    async (cursor: string | null) => {
      latest.current += 1;
      const turn = latest.current;
      setListed((before) => (cursor === null ? nothing : { ...before, status: "loading" }));
      try {
        const chosen = { order, ...(category !== "all" && { category }), ...(cursor !== null && { cursor }) };
        const page = await api("GET /api/files/room", { querystring: chosen });
        if (turn !== latest.current) return;
        setSpace(page);
        // Files that were added or deleted meanwhile shift the pages, so a file may come twice.
        const known = new Set(page.files.map(({ id }) => id));
        const earlier = (files: readonly RoomFile[]) => (cursor === null ? [] : files.filter(({ id }) => !known.has(id)));
        setListed(({ files }) => ({ files: [...earlier(files), ...page.files], nextCursor: page.nextCursor, status: "ready" }));
      } catch {
        if (turn === latest.current) setListed((before) => ({ ...before, status: "failed" }));
      }
    },
    [category, order],
  );
  useEffect(() => void read(null), [read]);
  const again = useRef(() => {});
  again.current = () => listed.status === "failed" && void read(listed.files.length === 0 ? null : listed.nextCursor);
  useEffect(() => {
    if (online) again.current();
  }, [online]);

  /** Throws if the server did not delete it. */
  const remove = async ({ id, bytes }: RoomFile) => {
    await api("DELETE /api/files/:id", { params: { id } }).catch((error: unknown) => {
      // It is gone already.
      if (!(error instanceof ApiProblem && error.status === 404)) throw error;
    });
    forgetFile(id);
    const owner = sessionStore.getState().user?.id;
    if (owner !== undefined) await forgetDeletedFile(owner, id);
    setListed((before) => ({ ...before, files: before.files.filter((file) => file.id !== id) }));
    setSpace((before) => before && { ...before, usedBytes: Math.max(0, before.usedBytes - bytes) });
  };
  return { ...listed, space, read, remove };
}
