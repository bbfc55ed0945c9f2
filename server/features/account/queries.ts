import type { Executor } from "../../db/transaction.ts";

export async function selectAccount(executor: Executor, userId: string) {
  return executor
    .selectFrom("users")
    .innerJoin("identities", "identities.user_id", "users.id")
    .select(["users.id", "subject as email", "verified_at", "avatar_url", "users.created_at", "last_sign_in_at"])
    .where("users.id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirstOrThrow();
}
