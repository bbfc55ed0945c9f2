import { randomBytes, randomUUID } from "node:crypto";
import { addMilliseconds, addMonths, dayMs } from "#domain/clock.ts";
import type { PlanKey } from "#domain/plans.ts";
import type { Db } from "#server/db/database.ts";
import type { Trx } from "#server/db/transaction.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { signAccessToken } from "#server/features/auth/tokens.ts";
import { openWallet, postGrant } from "#server/features/credits/service.ts";
import type { App } from "#server/http/app-type.ts";
import { payerIdOf } from "./payers.ts";

/**
 * Inserts a confirmed user with a wallet into the database; `credits` are an adjustment that expires after a year. Without
 * `passwordHash` the user can't sign in.
 */
export async function createUser(
  db: Db,
  options: { email?: string; credits?: number; passwordHash?: string } = {},
): Promise<{ userId: string; walletId: string; email: string }> {
  const email = options.email ?? `person-${randomUUID()}@example.com`;
  const now = new Date();
  return inTransaction(db, async (trx) => {
    const { id: userId } = await trx
      .insertInto("users")
      .values({ avatar_url: null, banned_at: null, created_at: now, last_sign_in_at: null })
      .returning("id")
      .executeTakeFirstOrThrow();
    await trx
      .insertInto("identities")
      .values({ user_id: userId, kind: "email", subject: email, verified_at: now, created_at: now })
      .execute();
    if (options.passwordHash !== undefined) {
      const data = JSON.stringify({ hash: options.passwordHash });
      const password = { user_id: userId, kind: "password", name: null, data, created_at: now, last_used_at: null } as const;
      await trx.insertInto("credentials").values(password).execute();
    }
    const walletId = await openWallet(trx, userId, now);
    if (options.credits) await giveCredits(trx, userId, options.credits);
    return { userId, walletId, email };
  });
}

/** Gives the credits as an adjustment that expires after a year. Once for each person. */
export async function giveCredits(trx: Trx, userId: string, credits: number): Promise<void> {
  const now = new Date();
  const payerId = await payerIdOf(trx, userId);
  await postGrant(trx, { payerId, kind: "adjustment", credits, expiresAt: addMilliseconds(now, 365 * dayMs), key: `test:${userId}` }, now);
}

/** Subscribes the person for a month that begins now. */
export async function subscribe(db: Db, userId: string, plan: PlanKey): Promise<void> {
  const now = new Date();
  await db
    .insertInto("user_subscriptions")
    .values({
      user_id: userId,
      plan_key: plan,
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
    await inTransaction(db, async (trx) =>
      postGrant(
        trx,
        {
          payerId: await payerIdOf(trx, userId),
          kind: "trial",
          credits: trialCredits,
          expiresAt: addMilliseconds(now, 7 * dayMs),
          key: `trial:${userId}`,
        },
        now,
      ),
    );
  if (options.plan) await subscribe(db, userId, options.plan);
  return { userId, email, walletId, token: signAccessToken(app, { sub: userId, sid: sessionId }) };
}
