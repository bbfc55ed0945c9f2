/** All that counts against a person's room, so that they see what to delete. */
import { validate as isUuid } from "uuid";
import { addMilliseconds } from "#domain/clock.ts";
import type { FileCategory, FileOrder } from "#domain/file-categories.ts";
import { fileCategories } from "#domain/file-categories.ts";
import { waitingFileMs } from "#domain/periods.ts";
import type { RoomFile } from "../../contract/files.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Deps } from "../../deps.ts";
import type { RoomPlace, RoomRow } from "./room-queries.ts";
import { selectRoom } from "./room-queries.ts";
import { readSpace } from "./service.ts";

function toRoomFile(row: RoomRow): RoomFile {
  const { conversation_id: conversationId, title } = row;
  const isUnsent = row.kind === "attachment" && conversationId === null;
  return {
    id: row.id,
    category: row.category,
    name: row.name,
    prompt: row.prompt,
    contentType: row.content_type ?? "",
    bytes: row.bytes,
    createdAt: row.created_at.toISOString(),
    conversation: conversationId === null ? null : { id: conversationId, title: title ?? "" },
    keptUntil: isUnsent ? addMilliseconds(row.created_at, waitingFileMs).toISOString() : null,
  };
}

/** A cursor of one order says nothing in the other. */
function parsePlace(order: FileOrder, [of, id = "", bytes = "", ...rest]: readonly string[]): RoomPlace | undefined {
  if (of !== order || !isUuid(id) || !/^\d{1,15}$/.test(bytes) || rest.length > 0) return undefined;
  return { id, bytes: Number(bytes) };
}

interface Asked {
  category?: FileCategory | undefined;
  order?: FileOrder | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

/** Throws `validation_failed` for an invalid cursor. */
export async function listRoom(
  deps: Pick<Deps, "db" | "clock">,
  userId: string,
  { category, order = "newest", cursor, limit = 30 }: Asked,
) {
  const place = cursor === undefined ? undefined : parseCursor(cursor, (parts) => parsePlace(order, parts));
  // One more than the page, so that the last page is known to be the last.
  const rows = await selectRoom(deps.db, userId, { categories: category ? [category] : fileCategories, order, place, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    files: page.map(toRoomFile),
    nextCursor: last ? toCursor(order, last.id, String(last.bytes)) : null,
    ...(await readSpace(deps, userId)),
  };
}
