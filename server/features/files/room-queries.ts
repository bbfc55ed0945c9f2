/** The page of all that counts against a person's room. What it reads grows with the page alone, however many files there are. */
import { sql } from "kysely";
import type { FileCategory, FileOrder } from "#domain/file-categories.ts";
import type { Executor } from "../../db/transaction.ts";
import type { FileRow } from "../../db/types-files.ts";

/** So much of a question says which one it is. */
const promptLength = 200;

export interface RoomPlace {
  id: string;
  /** Of the order by size. */
  bytes: number;
}

export interface RoomRow extends Pick<FileRow, "id" | "kind" | "name" | "content_type" | "bytes" | "created_at"> {
  category: FileCategory;
  conversation_id: string | null;
  title: string | null;
  prompt: string | null;
}

/** As in the indexes of migrations/0117: PostgreSQL finds them by this expression. */
const category = sql`case
  when f.kind = 'attachment' then case when f.content_type like 'audio/%' then 'recording' else 'attachment' end
  when f.content_type like 'image/%' then 'picture' when f.content_type like 'video/%' then 'clip' else 'speech' end`;

const orders = {
  newest: { by: sql`f.id desc`, after: ({ id }: RoomPlace) => sql`f.id < ${id}::uuid` },
  largest: {
    by: sql`f.bytes desc, f.id desc`,
    after: ({ id, bytes }: RoomPlace) => sql`(f.bytes, f.id) < (${bytes}::bigint, ${id}::uuid)`,
  },
} as const satisfies Record<FileOrder, unknown>;

/**
 * The files after `place`. A page of each category is read and the first of them are kept. An answer that was read aloud has no conversation of
 * its own: it is found in that of the answer.
 */
export async function selectRoom(
  executor: Executor,
  userId: string,
  {
    categories,
    order,
    place,
    limit,
  }: { categories: readonly FileCategory[]; order: FileOrder; place: RoomPlace | undefined; limit: number },
): Promise<RoomRow[]> {
  const { by, after } = orders[order];
  const { rows } = await sql<RoomRow>`
    with f as (
      select f.* from unnest(${[...categories]}::text[]) wanted (category) cross join lateral (
        select f.id, f.kind, f.name, f.content_type, f.bytes, f.created_at, f.conversation_id, f.generation_id, wanted.category
          from files f
          where f.user_id = ${userId} and f.content_type is not null and ${category} = wanted.category
            and ${place === undefined ? sql`true` : after(place)}
          order by ${by} limit ${limit}) f
      order by ${by} limit ${limit})
    select f.id, f.kind, f.name, f.content_type, f.bytes, f.created_at, f.category, c.id as conversation_id, c.title,
        case when read_aloud.id is null then left(question.content, ${promptLength}) end as prompt
      from f
      left join generations g on g.id = f.generation_id
      left join generations read_aloud on read_aloud.id = g.reads_id
      left join messages answer on answer.generation_id = coalesce(read_aloud.id, f.generation_id)
      left join messages question on question.conversation_id = answer.conversation_id and question.id = answer.parent_id
      left join conversations c on c.id = coalesce(f.conversation_id, answer.conversation_id)
      order by ${by}`.execute(executor);
  return rows;
}
