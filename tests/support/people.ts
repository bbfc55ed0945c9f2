import { randomUUID } from "node:crypto";
import { mailboxKey } from "#domain/rules.ts";
import type { Db } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { ensureWallet, postGrant } from "#server/features/credits/service.ts";

/** A confirmed person with a wallet, straight into the database; `credits` as an adjustment that lasts a year. */
export async function createUser(
  db: Db,
  options: { email?: string; credits?: number } = {},
): Promise<{ userId: string; walletId: string; email: string }> {
  const email = options.email ?? `person-${randomUUID()}@example.com`;
  const now = new Date();
  return inTransaction(db, async (trx) => {
    const user = await trx
      .insertInto("users")
      .values({
        email,
        mailbox_key: mailboxKey(email),
        email_verified_at: now,
        password_hash: null,
        avatar_url: null,
        banned_at: null,
        stripe_customer_id: null,
        created_at: now,
        last_sign_in_at: null,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const walletId = await ensureWallet(trx, user.id, now);
    if (options.credits) {
      const expiresAt = new Date(now.getTime() + 365 * 86_400_000);
      await postGrant(trx, { userId: user.id, kind: "adjustment", credits: options.credits, expiresAt, key: `test:${user.id}` }, now);
    }
    return { userId: user.id, walletId, email };
  });
}
