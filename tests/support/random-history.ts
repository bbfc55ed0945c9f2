/** Fills a wallet with a random history from a seed: grants, answers of several models, expiries, clawbacks, and holds that are still open. */
import { randomUUID } from "node:crypto";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import type { GrantKind } from "#domain/credits.ts";
import { grantKinds } from "#domain/credits.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { expireGrant, postGrant } from "#server/features/credits/service.ts";
import { clawBack, endHold, holdCredits } from "./ledger-calls.ts";
import { seededRandom } from "./ledger-model.ts";
import { payerIdOf } from "./payers.ts";
import type { TestDatabase } from "./postgres.ts";

export const historyModels = ["gpt-5-mini", "gpt-5", "gpt-image-1"] as const;

interface Owner {
  userId: string;
  walletId: string;
}

/** Ends a hold with a charge, and writes the receipt of an answer that costs as much. Its conversation has the title, if one is given. */
export async function postAnswer(
  { db }: Pick<TestDatabase, "db">,
  { userId, walletId }: Owner,
  answer: { modelId: string; credits: number; title?: string },
  now: Date,
): Promise<void> {
  const id = randomUUID();
  const deadline = addMilliseconds(new Date(), hourMs);
  await holdCredits(db, { holdId: id, walletId, credits: answer.credits, kinds: grantKinds, now, deadline, wallNow: new Date() });
  await endHold(db, id, answer.credits, now, new Date());
  const { transaction_id } = await db
    .selectFrom("ledger_keys")
    .select("transaction_id")
    .where("key", "=", `capture:${id}`)
    .executeTakeFirstOrThrow();
  await db
    .insertInto("generations")
    .values({
      id,
      user_id: userId,
      payer_id: await payerIdOf(db, userId),
      model_id: answer.modelId,
      idempotency_key: id,
      request_hash: Buffer.from(id),
      status: "completed",
      failure_code: null,
      hold_id: id,
      quoted_credits: answer.credits,
      charged_credits: answer.credits,
      available_after: null,
      prompt_tokens: null,
      completion_tokens: null,
      capture_id: transaction_id,
      lease_owner: id,
      lease_expires_at: deadline,
      stop_requested_at: null,
      created_at: now,
      ended_at: now,
    })
    .execute();
  if (answer.title === undefined) return;
  const conversation = await db
    .insertInto("conversations")
    .values({ user_id: userId, title: answer.title, created_at: now, updated_at: now })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("messages")
    .values({ conversation_id: conversation.id, parent_id: null, role: "assistant", generation_id: id, content: null, created_at: now })
    .execute();
}

/** Returns the ids of the grants and the business time at the end. */
export async function fillHistory(
  database: Pick<TestDatabase, "db">,
  owner: Owner,
  { seed, steps, from }: { seed: number; steps: number; from: Date },
): Promise<{ grantIds: string[]; now: Date }> {
  const { db } = database;
  const random = seededRandom(seed);
  const payerId = await payerIdOf(db, owner.userId);
  const grants: { id: string; credits: number }[] = [];
  let now = from;
  for (let step = 0; step < steps; step += 1) {
    now = addMilliseconds(now, 1 + random(12 * hourMs));
    const grant = grants[random(Math.max(1, grants.length))];
    const { balance, held } = await db
      .selectFrom("wallets")
      .select(["balance", "held"])
      .where("id", "=", owner.walletId)
      .executeTakeFirstOrThrow();
    const choice = random(100);
    if (!grant || choice < 12 || balance - held < 8) {
      const kind: GrantKind = grantKinds[random(grantKinds.length)] ?? "plan";
      const credits = 10 + random(60);
      const expiresAt = addMilliseconds(now, (30 + random(300)) * dayMs);
      const input = { payerId, kind, credits, expiresAt, key: `random:${owner.walletId}:${step}` };
      grants.push({ id: (await inTransaction(db, (trx) => postGrant(trx, input, now))).grantId, credits });
    } else if (choice < 16) await expireGrant(db, grant.id, now);
    else if (choice < 22) {
      const clawback = { grantId: grant.id, creditsInAll: 1 + random(grant.credits), key: `refund:${owner.walletId}:${step}` };
      await inTransaction(db, (trx) => clawBack(trx, clawback, now));
    } else if (choice < 26) {
      const hold = { holdId: randomUUID(), walletId: owner.walletId, credits: 1 + random(3), kinds: grantKinds };
      const deadline = addMilliseconds(new Date(), hourMs);
      await holdCredits(db, { ...hold, now, deadline, wallNow: new Date() }).catch(() => undefined);
    } else {
      const modelId = historyModels[random(historyModels.length)] ?? "gpt-5";
      await postAnswer(database, owner, { modelId, credits: 1 + random(5) }, now).catch((error: { code?: string }) => {
        if (error.code !== "insufficient_credits") throw error;
      });
    }
  }
  return { grantIds: grants.map(({ id }) => id), now };
}
