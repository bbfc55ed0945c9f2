/** The pictures, and clips, that models have made for a person, latest first. */
import { sql } from "kysely";
import { validate as isUuid } from "uuid";
import type { GalleryPicture } from "../../contract/generations/media.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";

interface Row {
  id: string;
  width: number;
  height: number;
  duration_ms: number | null;
  alternative: string;
  prompt: string | null;
  model_id: string;
  conversation_id: string | null;
  created_at: Date;
}

/** Those of answers that have ended. An answer without a conversation has no question either: its alternative text is the prompt. */
async function selectPictures(
  executor: Executor,
  userId: string,
  kinds: readonly string[],
  after: string | undefined,
  limit: number,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select f.id, f.width, f.height, f.duration_ms, p.detail->>'alternative' as alternative, question.content as prompt, g.model_id,
        answer.conversation_id, f.created_at
      from files f
      join generations g on g.id = f.generation_id
      join generation_parts p on p.generation_id = f.generation_id and p.kind = any (${kinds}) and p.file_id = f.id
      left join messages answer on answer.generation_id = f.generation_id
      left join messages question on question.conversation_id = answer.conversation_id and question.id = answer.parent_id
      where f.user_id = ${userId} and f.kind = 'output' and ${after === undefined ? sql`true` : sql`f.id < ${after}::uuid`}
      order by f.id desc limit ${limit}`.execute(executor);
  return rows;
}

/** Throws `validation_failed` for an invalid cursor. */
export async function listPictures(
  executor: Executor,
  userId: string,
  { cursor, limit = 40, clips = false }: { cursor?: string | undefined; limit?: number | undefined; clips?: boolean | undefined },
): Promise<{ pictures: GalleryPicture[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : parseCursor(cursor, ([id = ""]) => (isUuid(id) ? id : undefined));
  const rows = await selectPictures(executor, userId, clips ? ["picture", "clip"] : ["picture"], after, limit);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    pictures: rows.map((row) => ({
      fileId: row.id,
      width: row.width,
      height: row.height,
      durationMs: row.duration_ms,
      alternative: row.alternative,
      prompt: row.prompt ?? row.alternative,
      modelId: row.model_id,
      conversationId: row.conversation_id,
      createdAt: row.created_at.toISOString(),
    })),
    nextCursor: last ? toCursor(last.id) : null,
  };
}
