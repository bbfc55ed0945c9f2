/** The explanation of a balance. That it is true step by step is compared with the simpler ledger after every operation (support/ledger-run.ts). */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Explanation } from "#contract/credits/ledger.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { grantKinds } from "#domain/credits.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { explainBalance } from "#server/features/credits/explanation.ts";
import { expireGrant, postGrant } from "#server/features/credits/service.ts";
import { clawBack, endHold, holdCredits } from "#tests/support/ledger-calls.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import { createPerson, createUser } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

const now = new Date("2026-03-10T12:00:00.000Z");

async function post(userId: string, credits: number, days: number): Promise<string> {
  const payerId = await payerIdOf(product.db, userId);
  const grant = {
    payerId,
    kind: "pack" as const,
    credits,
    expiresAt: addMilliseconds(now, days * dayMs),
    key: `explained:${randomUUID()}`,
  };
  return (await inTransaction(product.db, (trx) => postGrant(trx, grant, addMilliseconds(now, days)))).grantId;
}

async function hold(walletId: string, credits: number): Promise<string> {
  const holdId = randomUUID();
  const deadline = addMilliseconds(new Date(), hourMs);
  await holdCredits(product.db, { holdId, walletId, credits, kinds: grantKinds, now, deadline, wallNow: new Date() });
  return holdId;
}

it("names for each open grant what was spent, expired, taken back, moved, held and is left, and begins with what is used up", async () => {
  const { userId, walletId } = await createUser(product.db);
  const closed = await post(userId, 40, 1);
  await expireGrant(product.db, closed, now);
  const first = await post(userId, 100, 10);
  await post(userId, 50, 20);
  await endHold(product.db, await hold(walletId, 70), 70, now, new Date());
  const held = await hold(walletId, 10);
  // Takes back all of the first: 80 of it are spent or held, and what is held is paid by the second.
  await inTransaction(product.db, (trx) => clawBack(trx, { grantId: first, creditsInAll: 100, key: `refund:${first}` }, now));
  // Nothing is left of the second then: it belongs to what is used up.
  const step = { id: first, credits: 100, spent: 70, expired: 0, takenBack: 100, moved: 50, remaining: -20, held: 10 };
  expect(await explainBalance(product.db, userId)).toMatchObject({
    ...{ balance: -20, held: 10, closedCredits: 90, agrees: true, grants: [step] },
  });
  await endHold(product.db, held, 0, now, new Date());
});

it("is a person's own, is empty before their first credits, and needs a sign-in", async () => {
  const [ada, eve] = [await createPerson(product, product.db, { credits: 30 }), await createPerson(product, product.db, { credits: 7 })];
  const told = async (token: string) => (await product.get("/api/credits/explanation", token)).json<Explanation>();
  expect(await told(ada.token)).toMatchObject({ balance: 30, grants: [{ kind: "adjustment", credits: 30, remaining: 30 }] });
  expect(await told(eve.token)).toMatchObject({ balance: 7, grants: [{ credits: 7 }] });
  const { userId } = await createUser(product.db);
  expect(await explainBalance(product.db, userId)).toEqual({ balance: 0, held: 0, closedCredits: 0, grants: [], agrees: true });
  expect((await product.app.inject({ method: "GET", url: "/api/credits/explanation" })).statusCode).toBe(401);
});

it("says so when the steps do not add up to the balance", async () => {
  const { userId, walletId } = await createUser(product.db, { credits: 30 });
  await product.asOwner("alter table wallets disable trigger user", `update wallets set balance = 31 where id = '${walletId}'`);
  expect(await explainBalance(product.db, userId)).toMatchObject({ balance: 31, agrees: false, grants: [{ remaining: 30 }] });
  await product.asOwner("alter table wallets enable trigger user");
});

it("reads no entries of grants of which nothing is left", async () => {
  const { userId, walletId } = await createUser(product.db);
  await post(userId, 60, 5);
  for (let answer = 0; answer < 60; answer += 1) await endHold(product.db, await hold(walletId, 1), 1, now, new Date());
  await post(userId, 5, 9);
  await product.asOwner("analyze");
  const fetched = await product.db.transaction().execute(async (trx) => {
    const count = async () => {
      const { rows } = await sql<{ fetched: number }>`select (seq_tup_read + idx_tup_fetch)::integer as fetched
        from pg_stat_xact_user_tables where relname = 'ledger_entries'`.execute(trx);
      return rows[0]?.fetched ?? 0;
    };
    // In a small table PostgreSQL would read all of it rather than use an index.
    await sql`set local enable_seqscan = off`.execute(trx);
    const before = await count();
    expect(await explainBalance(trx, userId)).toMatchObject({ balance: 5, closedCredits: 60 });
    return (await count()) - before;
  });
  expect(fetched).toBeLessThanOrEqual(2);
});
