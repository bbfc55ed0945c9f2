import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";

export interface Place {
  updatedAt: Date;
  id: string;
}

/** Latest first, from after `place`. */
export async function selectConversations(executor: Executor, userId: string, place: Place | undefined, limit: number) {
  let query = executor
    .selectFrom("conversations")
    .select(["id", "title", "created_at", "updated_at"])
    .where("user_id", "=", userId)
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(limit);
  if (place) query = query.where(sql<boolean>`(updated_at, id) < (${place.updatedAt}, ${place.id}::uuid)`);
  return query.execute();
}

export async function selectConversation(executor: Executor, userId: string, id: string) {
  return executor
    .selectFrom("conversations")
    .select(["id", "title", "created_at", "updated_at"])
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
}

export async function selectMessages(executor: Executor, conversationId: string) {
  return executor
    .selectFrom("messages")
    .select(["id", "generation_id", "role", "content", "created_at"])
    .where("conversation_id", "=", conversationId)
    .orderBy("id")
    .execute();
}

export async function deleteConversation(executor: Executor, userId: string, id: string): Promise<boolean> {
  const result = await executor.deleteFrom("conversations").where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
