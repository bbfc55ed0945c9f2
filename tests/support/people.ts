import { randomBytes, randomUUID } from "node:crypto";
import { addMilliseconds, addMonths, dayMs } from "#domain/clock.ts";
import type { PlanKey } from "#domain/plans.ts";
import { mailboxKey } from "#domain/rules.ts";
import type { Db } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { signAccessToken } from "#server/features/auth/tokens.ts";
import { ensureWallet, postGrant } from "#server/features/credits/service.ts";
import type { App } from "#server/http/app-type.ts";

/** Inserts a confirmed user with a wallet into the database; `credits` are an adjustment that expires after a year. */
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

export interface TestPerson {
  userId: string;
  email: string;
  walletId: string;
  token: string;
}

/** Creates a signed-in user; `app` has the key that signs the access token. With `plan` the user is subscribed to it. */
export async function createPerson(
  { app }: { app: App },
  db: Db,
  options: { credits?: number; plan?: PlanKey; trialCredits?: number } = {},
): Promise<TestPerson> {
  const { userId, walletId, email } = await createUser(db, { credits: options.credits ?? 100 });
  const now = new Date();
  const sessionId = randomUUID();
  await db
    .insertInto("auth_sessions")
    .values({
      id: sessionId,
      user_id: userId,
      token_hash: randomBytes(32),
      previous_token_hash: null,
      rotated_at: now,
      expires_at: addMilliseconds(now, dayMs),
      revoked_at: null,
      created_at: now,
      user_agent: null,
    })
    .execute();
  const { trialCredits } = options;
  if (trialCredits)
    await inTransaction(db, (trx) =>
      postGrant(
        trx,
        { userId, kind: "trial", credits: trialCredits, expiresAt: addMilliseconds(now, 7 * dayMs), key: `trial:${userId}` },
        now,
      ),
    );
  if (options.plan) {
    await db
      .insertInto("user_subscriptions")
      .values({
        user_id: userId,
        plan_key: options.plan,
        billing_interval: "month",
        status: "active",
        stripe_subscription_id: `sub_${userId}`,
        current_period_start: now,
        current_period_end: addMonths(now, 1),
        grace_until: null,
        started_at: now,
        ended_at: null,
        updated_at: now,
      })
      .execute();
  }
  return { userId, email, walletId, token: signAccessToken(app, { sub: userId, sid: sessionId }) };
}
