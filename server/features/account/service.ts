import type { Account } from "../../contract/account.ts";
import type { Executor } from "../../db/transaction.ts";
import { selectAccount } from "./queries.ts";

export async function readAccount(executor: Executor, userId: string): Promise<Account> {
  const row = await selectAccount(executor, userId);
  return {
    id: row.id,
    email: row.email,
    emailVerifiedAt: row.verified_at.toISOString(),
    avatarUrl: row.avatar_url,
    createdAt: row.created_at.toISOString(),
    lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
  };
}
