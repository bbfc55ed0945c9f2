import type { Insertable, Selectable } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { ContactMessages } from "../../db/types-work.ts";

/** The new message's id; undefined if one with that key exists. Waits for a message with that key that is being written. */
export async function insertMessage(executor: Executor, message: Insertable<ContactMessages>): Promise<string | undefined> {
  const row = await executor
    .insertInto("contact_messages")
    .values(message)
    .onConflict((conflict) => conflict.column("idempotency_key").doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

export async function findMessage(
  executor: Executor,
  idempotencyKey: string,
): Promise<Pick<Selectable<ContactMessages>, "id" | "content_hash"> | undefined> {
  return executor
    .selectFrom("contact_messages")
    .select(["id", "content_hash"])
    .where("idempotency_key", "=", idempotencyKey)
    .executeTakeFirst();
}

export async function selectLanguage(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirst();
  return row?.language;
}
