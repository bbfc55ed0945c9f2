import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";

export interface Place {
  pinned: boolean;
  updatedAt: Date;
  id: string;
}

const summary = ["head_id", "id", "title", "pinned", "created_at", "updated_at"] as const;

/** Reads the page after `place`: pinned conversations first, then the others, each latest first. */
export async function selectConversations(executor: Executor, userId: string, place: Place | undefined, limit: number) {
  let query = executor
    .selectFrom("conversations")
    .select(summary)
    .where("user_id", "=", userId)
    .orderBy("pinned", "desc")
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(limit);
  if (place)
    query = query.where(sql<boolean>`(pinned, updated_at, id) < (${place.pinned}::boolean, ${place.updatedAt}, ${place.id}::uuid)`);
  return query.execute();
}

export async function selectConversation(executor: Executor, userId: string, id: string) {
  return executor.selectFrom("conversations").select(summary).where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
}

export async function selectOwnIds(executor: Executor, userId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await executor.selectFrom("conversations").select("id").where("id", "in", ids).where("user_id", "=", userId).execute();
  return rows.map((row) => row.id);
}

/** The newest messages, or the newest before one of them; the newest first. */
export async function selectMessages(executor: Executor, conversationId: string, before: string | undefined, limit: number) {
  return executor
    .selectFrom("messages")
    .select(["id", "parent_id", "generation_id", "role", "content", "attachments", "created_at"])
    .where("conversation_id", "=", conversationId)
    .$if(before !== undefined, (query) => query.where("id", "<", String(before)))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** The conversation of an answer, which stays locked, so that it is not deleted before the transaction ends. */
export async function lockConversationOf(trx: Trx, userId: string, generationId: string): Promise<{ title: string } | undefined> {
  const { rows } = await sql<{ title: string }>`select c.title from messages m join conversations c on c.id = m.conversation_id
    where m.generation_id = ${generationId} and c.user_id = ${userId} for share of c`.execute(trx);
  return rows[0];
}

interface BranchMessage {
  id: string;
  role: "user" | "assistant";
  generation_id: string | null;
  content: string | null;
  attachments: Attachment[] | null;
  created_at: Date;
}

/** An answer's message and at most `most` - 1 before it, the oldest first. */
export async function selectBranch(trx: Trx, generationId: string, most: number): Promise<BranchMessage[]> {
  const { rows } = await sql<BranchMessage>`with recursive branch as (
      select id, parent_id, 1 as place from messages where generation_id = ${generationId}
      union all select m.id, m.parent_id, b.place + 1 from branch b join messages m on m.id = b.parent_id where b.place < ${most}
    )
    select m.id, m.role, m.generation_id, m.content, m.attachments, m.created_at from branch b join messages m on m.id = b.id
      order by b.place desc`.execute(trx);
  return rows;
}

export interface ConversationChange {
  title?: string;
  pinned?: boolean;
  /** The end of the branch that is shown. */
  headId?: string;
}

/** Returns undefined if there is no such conversation or no such answer in it, or if no more conversations can be pinned. */
export async function updateConversation(
  executor: Executor,
  { userId, id, pinnedMax, headId, ...change }: ConversationChange & { userId: string; id: string; pinnedMax: number },
) {
  let query = executor
    .updateTable("conversations")
    .set({ ...change, ...(headId === undefined ? {} : { head_id: headId }) })
    .where("id", "=", id)
    .where("user_id", "=", userId);
  if (headId !== undefined) {
    query = query.where((where) =>
      where.exists(
        where
          .selectFrom("messages")
          .select("id")
          .where("conversation_id", "=", id)
          .where("id", "=", headId)
          .where("role", "=", "assistant"),
      ),
    );
  }
  if (change.pinned) {
    query = query.where(
      sql<boolean>`(select count(*) from conversations other where other.user_id = ${userId} and other.pinned and other.id <> ${id}) < ${pinnedMax}`,
    );
  }
  return query.returning(summary).executeTakeFirst();
}

export type SummaryRow = NonNullable<Awaited<ReturnType<typeof selectConversation>>>;

/**
 * The next conversations to search, latest first: at most `most.rows` of them with at most `most.bytes` bytes of text, but at least
 * one. This limits the cost of a search, however much a person has written. A text counts with its length in memory, because PostgreSQL
 * may store it compressed.
 */
export async function selectSlice(executor: Executor, userId: string, place: Place | undefined, most: { rows: number; bytes: number }) {
  const after = place ? sql`and (updated_at, id) < (${place.updatedAt}, ${place.id}::uuid)` : sql``;
  const { rows } = await sql<SummaryRow & { last: boolean }>`
    with newest as (
      select id, title, pinned, created_at, updated_at from conversations where user_id = ${userId} ${after}
        order by updated_at desc, id desc limit ${most.rows + 1}
    ), measured as (
      select n.*, row_number() over latest as number, count(*) over () as total, sum(
          (select coalesce(sum(octet_length(m.content)), 0) + coalesce(sum(octet_length(p.text)), 0)
            from messages m left join generation_parts p on p.generation_id = m.generation_id where m.conversation_id = n.id)
        ) over latest as bytes
        from newest n window latest as (order by n.updated_at desc, n.id desc)
    )
    select id, title, pinned, created_at, updated_at, number = total as last from measured
      where number <= ${most.rows} and (number = 1 or bytes <= ${most.bytes}) order by number`.execute(executor);
  return rows;
}

/** Sets a time limit for every later statement of the transaction. */
export async function limitTime(trx: Trx, milliseconds: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(milliseconds)}, true)`.execute(trx);
}

/** Returns those of the conversations that have `words` in the title or in a message, in the same order, each with the first such message. */
export async function selectMatches(executor: Executor, ids: readonly string[], words: string, limit: number) {
  const fold = (text: ReturnType<typeof sql>) => sql`casefold(${text} collate pg_unicode_fast)`;
  const { rows } = await sql<{ id: string; content: string | null }>`
    select c.id, hit.content from unnest(${ids}::uuid[]) with ordinality as asked (id, number)
      join conversations c on c.id = asked.id
      left join lateral (
        select said.content from (
            select m.id, m.content, 0 as place from messages m where m.conversation_id = asked.id and m.content is not null
            union all select m.id, p.text, p.place from messages m join generation_parts p on p.generation_id = m.generation_id
              where m.conversation_id = asked.id and p.text is not null
          ) said
          where strpos(${fold(sql`said.content`)}, ${fold(sql`${words}::text`)}) > 0
          order by said.id, said.place limit 1
      ) hit on true
      where hit.content is not null or strpos(${fold(sql`c.title`)}, ${fold(sql`${words}::text`)}) > 0
      order by asked.number limit ${limit}`.execute(executor);
  return rows;
}

export async function deleteConversation(executor: Executor, userId: string, id: string): Promise<boolean> {
  const result = await executor.deleteFrom("conversations").where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
