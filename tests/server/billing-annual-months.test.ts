import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, addMonths, dayMs } from "#domain/clock.ts";
import { payerOf } from "#server/db/payer.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { lockSubject } from "#server/features/billing/queries.ts";
import { postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import type { ApiWorld } from "../support/billing-world.ts";
import { startApiWorld } from "../support/billing-world.ts";
import { payerIdOf } from "../support/payers.ts";

let world: ApiWorld;

beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.close());

test("if one person's monthly credits can't be posted, the other people's are", async () => {
  const { db } = world.database;
  const now = world.clock.now();
  const people = [await world.person(), await world.person()];
  for (const [index, { userId }] of people.entries()) {
    const payerId = await payerIdOf(db, userId);
    const dueAt = addMilliseconds(now, (index - people.length) * dayMs);
    const month = {
      key: `month:in_${randomUUID()}:il_1:1`,
      billing_account_id: payerId,
      credits: 300,
      due_at: dueAt,
      expires_at: addMonths(dueAt, 1),
    };
    await db
      .insertInto("scheduled_grants")
      .values({ ...month, posted_at: null, cancelled_at: null })
      .execute();
  }
  const balanceOf = async (index: number) =>
    (
      await db
        .selectFrom("wallets")
        .select("balance")
        .where("billing_account_id", "=", payerOf(people[index]?.userId ?? ""))
        .executeTakeFirst()
    )?.balance;
  // Holds the first person's billing lock, as another writer does.
  await inTransaction(world.deps.db, async (trx) => {
    await lockSubject(trx, `billing:${await payerIdOf(trx, people[0]?.userId ?? "")}`);
    await expect(postDueScheduledGrants(world.deps, now)).rejects.toMatchObject({ code: "55P03" });
    expect(await balanceOf(1)).toBe(300);
  });
  expect(await postDueScheduledGrants(world.deps, now)).toBe(1);
  expect([await balanceOf(0), await balanceOf(1)]).toEqual([300, 300]);
});
