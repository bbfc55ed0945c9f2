import type { Insertable, Selectable } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { ContactMessages } from "../../db/types-work.ts";

/** Returns the new message's id, or undefined if one with that key exists. Waits if another call is just writing that key. */
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

/** Whether this is the person's confirmed address. */
export async function isOwnAddress(executor: Executor, userId: string, email: string): Promise<boolean> {
  const row = await executor
    .selectFrom("identities")
    .select("id")
    .where("user_id", "=", userId)
    .where("kind", "=", "email")
    .where("subject", "=", email.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}
