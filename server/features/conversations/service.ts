import { validate as isUuid } from "uuid";
import { checkTitle, conversationLimits, tidyTitle, titleMessages } from "#domain/conversations.ts";
import { DomainError } from "#domain/errors.ts";
import { excerptOf, searchQuery } from "#domain/search.ts";
import type { Conversation, ConversationSummary, FoundConversation, MessagePart } from "../../contract/conversations.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Db } from "../../db/database.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { sqlState } from "../../failures.ts";
import { Counts, fewAtOnce } from "../../http/counts.ts";
import { announce } from "../../http/live-events.ts";
import { ValidationError } from "../../http/problem.ts";
import type { Answers } from "../generations/answers.ts";
import { toAttachedFile } from "../generations/attached.ts";
import { lockAnswersIn, readAnswers, stopAnswer } from "../generations/service.ts";
import type { Place, SummaryRow } from "./queries.ts";
import * as queries from "./queries.ts";

function cursorOf({ updatedAt, id, pinned }: Place): string {
  return toCursor(updatedAt.toISOString(), id, ...(pinned ? ["pinned"] : []));
}

function placeAt(cursor: string): Place {
  return parseCursor(cursor, ([time = "", id = "", pinned]) => {
    const updatedAt = new Date(time);
    const isExact = !Number.isNaN(updatedAt.getTime()) && updatedAt.toISOString() === time;
    return isExact && isUuid(id) ? { updatedAt, id, pinned: pinned === "pinned" } : undefined;
  });
}

function toSummary({ id, title, pinned, created_at, updated_at }: SummaryRow): ConversationSummary {
  return { id, title, pinned, createdAt: created_at.toISOString(), updatedAt: updated_at.toISOString() };
}

function placeOf({ id, pinned, updated_at }: SummaryRow): Place {
  return { id, pinned, updatedAt: updated_at };
}

function notFound(): DomainError {
  return new DomainError("not_found", "There is no such conversation");
}

/** Returns one page, pinned conversations first. Throws `validation_failed` for an invalid cursor. */
export async function listConversations(
  executor: Executor,
  userId: string,
  cursor: string | undefined,
  limit: number,
): Promise<{ conversations: ConversationSummary[]; nextCursor: string | null }> {
  const place = cursor === undefined ? undefined : placeAt(cursor);
  const rows = await queries.selectConversations(executor, userId, place, limit);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { conversations: rows.map(toSummary), nextCursor: last ? cursorOf(placeOf(last)) : null };
}

/** How many rows and bytes one call of a search looks through. */
const slice = { rows: 200, bytes: 8_000_000 };
const foundAtOnce = 20;
/** Far more than the search of a slice usually takes. A longer search is cancelled, because it would slow PostgreSQL down for everybody. */
const searchMs = 3_000;
/** While a person types, the next search arrives before the last one is answered. */
const searchesOfOnePerson = 3;
const searches = new Counts();
/** SQLSTATE of query_canceled. */
const queryCanceled = "57014";

/**
 * Returns the person's conversations with these words, latest first. Throws `validation_failed` for too few or too many words, and `rate_limited`
 * or `service_unavailable` with retryAfterSeconds if too many searches run at once.
 */
export async function searchConversations(
  db: Db,
  userId: string,
  asked: string,
  cursor: string | undefined,
): Promise<{ found: FoundConversation[]; nextCursor: string | null }> {
  const words = searchQuery(asked);
  if (words === undefined) throw new ValidationError([{ field: "query", message: "Write a word or two to search for" }]);
  const place = cursor === undefined ? undefined : placeAt(cursor);
  const { rows, matches } = await fewAtOnce(searches, userId, searchesOfOnePerson, () => lookThrough(db, userId, place, words));
  const found = matches.flatMap(({ id, content }) => {
    const row = rows.find((one) => one.id === id);
    return row ? [{ conversation: toSummary(row), excerpt: content === null ? null : excerptOf(content, words) }] : [];
  });
  const full = matches.length === foundAtOnce ? rows.find(({ id }) => id === matches.at(-1)?.id) : undefined;
  const end = full ?? rows.at(-1);
  return { found, nextCursor: !end || end.last ? null : cursorOf(placeOf(end)) };
}

async function lookThrough(db: Db, userId: string, place: Place | undefined, words: string) {
  try {
    return await inTransaction(db, async (trx) => {
      await queries.limitTime(trx, searchMs);
      const rows = await queries.selectSlice(trx, userId, place, slice);
      const ids = rows.map(({ id }) => id);
      return { rows, matches: ids.length === 0 ? [] : await queries.selectMatches(trx, ids, words, foundAtOnce) };
    });
  } catch (error) {
    if (sqlState(error) !== queryCanceled) throw error;
    throw new DomainError("service_unavailable", "The search took too long. Try again in a moment", { retryAfterSeconds: 5 });
  }
}

/**
 * Renames, pins or unpins a conversation, or shows another branch of it. Throws `validation_failed`, `not_found`, and `conflict` if no
 * more conversations can be pinned.
 */
export async function updateConversation(
  deps: Pick<Deps, "db" | "live" | "log">,
  userId: string,
  id: string,
  change: queries.ConversationChange,
): Promise<ConversationSummary> {
  const fault = change.title === undefined ? undefined : checkTitle(change.title);
  if (fault) throw new ValidationError([{ field: "title", message: titleMessages[fault] }]);
  const title = change.title === undefined ? {} : { title: tidyTitle(change.title) };
  const row = await queries.updateConversation(deps.db, { ...change, ...title, userId, id, pinnedMax: conversationLimits.pinnedMax });
  if (!row) {
    if (change.headId !== undefined || !(await queries.selectConversation(deps.db, userId, id))) throw notFound();
    throw new DomainError("conflict", `No more than ${conversationLimits.pinnedMax} conversations can be pinned`);
  }
  // A new branch is not announced: a page that has the conversation open must not change to another branch while somebody reads.
  if (title.title !== undefined || change.pinned !== undefined) await announce(deps, userId, "generations");
  return toSummary(row);
}

function questionParts(text: string, attachments: readonly Attachment[] | null): MessagePart[] {
  const words: MessagePart = { kind: "text", text };
  return attachments ? [{ kind: "attachments", files: attachments.map(toAttachedFile) }, words] : [words];
}

/** However long a conversation is, one call reads no more messages. */
const messagesAtOnce = 100;

/**
 * Returns the conversation with its newest messages, of all branches, or with those before the message `before`, and each answer with its
 * receipt. Throws `not_found` for another person's conversation.
 */
export async function readConversation(db: Db, userId: string, id: string, before?: string): Promise<Conversation> {
  // All reads see one snapshot. Otherwise an answer that ends in between could appear neither as running nor as complete.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (trx) => {
      const row = await queries.selectConversation(trx, userId, id);
      if (!row) throw notFound();
      const newest = await queries.selectMessages(trx, id, before, messagesAtOnce + 1);
      const messages = newest.slice(0, messagesAtOnce).reverse();
      const ids = messages.flatMap(({ generation_id }) => generation_id ?? []);
      const answers = await readAnswers(trx, ids);
      const streaming = ids.findLast((each) => answers.get(each)?.receipt.status === "streaming");
      return {
        ...toSummary(row),
        headId: row.head_id,
        earlierThan: newest.length > messagesAtOnce ? (messages[0]?.id ?? null) : null,
        messages: messages.map((message) => {
          const { receipt = null, parts = [] } = answers.get(message.generation_id ?? "") ?? {};
          return {
            id: message.id,
            parentId: message.parent_id,
            role: message.role,
            parts: message.content === null ? parts : questionParts(message.content, message.attachments),
            timestamp: message.created_at.toISOString(),
            receipt,
          };
        }),
        streamingGenerationId: streaming ?? null,
      };
    });
}

/** Returns those of `ids` that are not conversations of this person, because they were deleted or never existed. */
export async function findGone(executor: Executor, userId: string, ids: readonly string[]): Promise<string[]> {
  const own = new Set(await queries.selectOwnIds(executor, userId, ids));
  return ids.filter((id) => !own.has(id.toLowerCase()));
}

/**
 * Deletes a conversation and the text of its answers; the receipts stay. A running answer is stopped, and charged like any answer that a
 * person stops. Throws `not_found` for another person's conversation.
 */
export async function deleteConversation(deps: Deps, answers: Answers, userId: string, id: string): Promise<void> {
  const running = await inTransaction(deps.db, async (trx) => {
    // Locks the running answers, so that none ends before this transaction does. The end locks its wallet and then the answers, by id.
    const locked = await lockAnswersIn(trx, userId, id);
    if (!(await queries.deleteConversation(trx, userId, id))) throw notFound();
    return locked;
  });
  await Promise.all(running.map((generationId) => stopAnswer(deps, answers, userId, generationId)));
  await announce(deps, userId, "wallets", "generations");
}
