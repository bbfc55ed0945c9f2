import type { Executor } from "../../db/transaction.ts";

export async function selectAccount(executor: Executor, userId: string) {
  return executor
    .selectFrom("users")
    .select(["id", "email", "email_verified_at", "avatar_url", "created_at", "last_sign_in_at"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
}
