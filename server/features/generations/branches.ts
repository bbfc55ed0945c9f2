/** SQL of the branch of a conversation that a question follows. Other branches never go to the model. */
import { sql } from "kysely";
import { tokensPerMessage } from "#domain/attachments.ts";
import { mostTokensPerCounted } from "#domain/tokens.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import { tokensOf } from "./attached.ts";
import { estimateTokens } from "./history.ts";
import type { BranchMessage, Made } from "./made.ts";
import { lineOf, madeBytes } from "./made.ts";

export interface Branch {
  /** The answer at the end of the branch; null if the conversation has no messages. */
  endId: string | null;
  /** The newest messages that fit the budget by history.ts's count, oldest first. */
  messages: BranchMessage[];
  /** How many messages the branch has, without empty answers (failed ones) that stand among the newest. */
  total: number;
}

export interface BranchEnd {
  conversationId: string;
  userId: string;
  /** The answer at the end of the branch. Null for a new beginning before the first message; undefined for the branch that is shown. */
  endId: string | null | undefined;
}

/** Counts the tokens of messages that were chosen by their bytes alone, and leaves out the oldest ones that don't fit. */
function countMessages(messages: readonly Omit<BranchMessage, "estimate">[], tokenBudget: number): BranchMessage[] {
  let estimate = 0;
  const counted = messages.toReversed().map((message) => {
    const { content, made, attachments = [] } = message;
    estimate += estimateTokens(made ? lineOf(made) : content) + tokensOf(attachments);
    return { ...message, estimate };
  });
  return counted.filter((message) => message.estimate <= tokenBudget).reverse();
}

/**
 * Returns undefined if this person has no such conversation, or the conversation no such answer. Reads no further back than the budget
 * reaches, so that a send costs the same however long the conversation is: the questions know how many messages come before them.
 */
export async function selectBranch(
  executor: Executor,
  { conversationId, userId, endId }: BranchEnd,
  tokenBudget: number,
): Promise<Branch | undefined> {
  const end = endId === undefined ? sql`head_id` : sql`${endId}::uuid`;
  const result = await sql<
    {
      endId: string | null;
      isThere: boolean;
      total: number;
      fits: boolean;
      files: Attachment[] | null;
      made: Made[] | null;
    } & Omit<BranchMessage, "estimate">
  >`
    with recursive asked as (
      select id, ${end} as end_id from conversations where id = ${conversationId} and user_id = ${userId}
    ), branch as (
      select asked.id as conversation_id, asked.end_id as next_id, 0 as distance, 0::numeric as estimate, null::uuid as id, '' as role,
          null::uuid as generation_id, 0 as attachment_tokens, 0::bigint as bytes
        from asked
      union all
      select branch.conversation_id, m.parent_id, branch.distance + 1, branch.estimate + case when m.bytes > 0
            then ceil(m.bytes / ${mostTokensPerCounted}::numeric) + ${tokensPerMessage}::integer + m.attachment_tokens else 0 end,
          m.id, m.role, m.generation_id, m.attachment_tokens, m.bytes
        from branch cross join lateral (
          select m.id, m.parent_id, m.role, m.generation_id, m.attachment_tokens,
              case when m.generation_id is null then octet_length(m.content) else (
                select coalesce(nullif(sum(octet_length(p.text)), 0), max(${madeBytes}::integer) filter (where p.kind in ('picture', 'sound', 'clip')))
                  from generation_parts p where p.generation_id = m.generation_id) end as bytes
            from messages m where m.conversation_id = branch.conversation_id and m.id = branch.next_id offset 0) m
        where branch.estimate <= ${tokenBudget} and (branch.distance > 0 or m.role = 'assistant')
    )
    select asked.end_id as "endId", asked.end_id is null or exists (select from branch where distance > 0) as "isThere",
        (select messages_up_to(id, end_id) from asked)
          - (select count(*) from branch where distance > 0 and coalesce(bytes, 0) = 0) as total,
        kept.role, coalesce(kept.estimate <= ${tokenBudget}, false) as fits,
        case when kept.estimate > ${tokenBudget} then '' when kept.generation_id is null then (select m.content from messages m where m.id = kept.id)
          else (select string_agg(p.text, '' order by p.place) from generation_parts p where p.generation_id = kept.generation_id) end as content,
        case when kept.generation_id is not null and kept.estimate <= ${tokenBudget} then (
          select json_agg(p.detail || jsonb_build_object('kind', p.kind) order by p.place) from generation_parts p
            where p.generation_id = kept.generation_id and p.kind in ('picture', 'sound', 'clip')) end as made,
        case when kept.attachment_tokens > 0 and kept.estimate <= ${tokenBudget} then (select m.attachments from messages m where m.id = kept.id) end as files
      from asked left join branch kept on kept.bytes > 0
      order by kept.distance desc`.execute(executor);
  const [first] = result.rows;
  if (!first?.isThere) return undefined;
  const messages = result.rows
    .filter(({ fits }) => fits)
    .map(({ role, content, files, made }) => ({
      ...{ role, content: content ?? "" },
      ...(files && { attachments: files }),
      ...(!content && made && { made }),
    }));
  return { endId: first.endId, messages: countMessages(messages, tokenBudget), total: first.total ?? 0 };
}

/** A question of this person, and the answer it follows. */
export async function selectQuestion(
  executor: Executor,
  { conversationId, userId, questionId }: { conversationId: string; userId: string; questionId: string },
): Promise<{ prompt: string; parentId: string | null; attachments: Attachment[] } | undefined> {
  const row = await executor
    .selectFrom("messages")
    .innerJoin("conversations", "conversations.id", "messages.conversation_id")
    .select(["messages.content", "messages.parent_id", "messages.attachments"])
    .where("conversations.id", "=", conversationId)
    .where("conversations.user_id", "=", userId)
    .where("messages.id", "=", questionId)
    .where("messages.role", "=", "user")
    .executeTakeFirst();
  return row && { prompt: row.content ?? "", parentId: row.parent_id, attachments: row.attachments ?? [] };
}
