import { DomainError } from "#domain/errors.ts";
import type { Conversation, ConversationSummary } from "../../contract/generations.ts";
import type { Db } from "../../db/database.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Answers } from "../generations/answers.ts";
import { readReceipts, stopAnswersIn } from "../generations/service.ts";
import type { Place } from "./queries.ts";
import * as queries from "./queries.ts";

const uuidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function toCursor(place: Place): string {
  return Buffer.from(`${place.updatedAt.toISOString()} ${place.id}`).toString("base64url");
}

function parseCursor(cursor: string): Place {
  const [time = "", id = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(" ");
  const updatedAt = new Date(time);
  if (Number.isNaN(updatedAt.getTime()) || updatedAt.toISOString() !== time || !uuidPattern.test(id)) {
    const message = "The cursor is not one of ours";
    throw new DomainError("validation_failed", message, { fields: [{ field: "cursor", message }] });
  }
  return { updatedAt, id };
}

function toSummary(row: { id: string; title: string; created_at: Date; updated_at: Date }): ConversationSummary {
  return { id: row.id, title: row.title, createdAt: row.created_at.toISOString(), updatedAt: row.updated_at.toISOString() };
}

function notFound(): DomainError {
  return new DomainError("not_found", "There is no such conversation");
}

/** One page, latest first. Throws `validation_failed` for a cursor that is none. */
export async function listConversations(
  executor: Executor,
  userId: string,
  cursor: string | undefined,
  limit: number,
): Promise<{ conversations: ConversationSummary[]; nextCursor: string | null }> {
  const place = cursor === undefined ? undefined : parseCursor(cursor);
  const rows = await queries.selectConversations(executor, userId, place, limit);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { conversations: rows.map(toSummary), nextCursor: last ? toCursor({ updatedAt: last.updated_at, id: last.id }) : null };
}

/**
 * The conversation with its messages; each answer carries its receipt, and so does a question whose answer ended without
 * a word. Throws `not_found` for another person's.
 */
export async function readConversation(db: Db, userId: string, id: string): Promise<Conversation> {
  // One snapshot: an answer that ends meanwhile is either under way or whole, never neither.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (trx) => {
      const row = await queries.selectConversation(trx, userId, id);
      if (!row) throw notFound();
      const messages = await queries.selectMessages(trx, id);
      const receipts = await readReceipts(trx, [...new Set(messages.map((message) => message.generation_id))]);
      const answered = new Set(messages.filter((message) => message.role === "assistant").map((message) => message.generation_id));
      const streaming = [...receipts.values()].findLast((receipt) => receipt.status === "streaming");
      return {
        ...toSummary(row),
        messages: messages.map((message) => ({
          id: message.id,
          role: message.role,
          content: message.content,
          timestamp: message.created_at.toISOString(),
          receipt:
            message.role === "assistant" || !answered.has(message.generation_id) ? (receipts.get(message.generation_id) ?? null) : null,
        })),
        streamingGenerationId: streaming?.generationId ?? null,
      };
    });
}

/** Stops what is under way, then deletes; the receipts stay. Throws `not_found` for another person's. */
export async function deleteConversation(deps: Deps, answers: Answers, userId: string, id: string): Promise<void> {
  if (!(await queries.selectConversation(deps.db, userId, id))) throw notFound();
  await stopAnswersIn(deps, answers, userId, id);
  // An answer that ends just now takes the same locks the other way round: one of the two is tried again.
  if (!(await inTransaction(deps.db, (trx) => queries.deleteConversation(trx, userId, id)))) throw notFound();
}
