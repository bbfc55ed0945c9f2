/** The wallet's history: its order, its balances and the cost of reading a page. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LedgerPage } from "#contract/credits/ledger.ts";
import { grantKinds } from "#domain/credits.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { readLedger } from "#server/features/credits/history.ts";
import * as credits from "#server/features/credits/service.ts";
import { clawBack, endHold, holdCredits } from "#tests/support/ledger-calls.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { payerIdOf } from "../support/payers.ts";

const hourMs = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function readAll(userId: string, limit: number): Promise<LedgerPage["lines"]> {
  const lines: LedgerPage["lines"] = [];
  let cursor: string | undefined;
  do {
    const page = await readLedger(database.db, userId, cursor, limit);
    lines.push(...page.lines);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return lines;
}

/** Every posting of the wallet, computed from the entries, oldest first: id, credits, and the balance after it. */
async function rebuild(walletId: string): Promise<[string, number, number][]> {
  const { rows } = await database.pool.query<{ id: string; credits: number; kind: string }>(
    `select t.id, t.kind, sum(e.amount)::bigint as credits from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
       where t.wallet_id = $1 and e.account = 'wallet' group by t.id order by t.recorded_at, t.id`,
    [walletId],
  );
  let balance = 0;
  return rows
    .map(({ id, kind, credits: moved }): [string, number, number, string] => {
      balance += moved;
      return [id, moved, balance, kind];
    })
    .filter(([, , , kind]) => kind !== "repay")
    .map(([id, moved, after]) => [id, moved, after]);
}

async function hold(walletId: string, amount: number): Promise<string> {
  const [holdId, now] = [randomUUID(), new Date()];
  const deadline = new Date(Date.now() + hourMs);
  await holdCredits(database.db, { holdId, walletId, credits: amount, kinds: grantKinds, now, deadline, wallNow: now });
  return holdId;
}

it("is listed newest first, each line with the balance after it, and alike in pages of any size", async () => {
  const { userId, walletId } = await createUser(database.db);
  const payerId = await payerIdOf(database.db, userId);
  const random = seededRandom(20_261_122);
  const expiresAt = new Date(Date.now() + hourMs);
  const grants: string[] = [];
  for (let step = 0; step < 40; step += 1) {
    const input = { payerId, kind: "plan" as const, credits: 1 + random(20), expiresAt, key: `history:${userId}:${step}` };
    if (step % 4 === 0) grants.push((await inTransaction(database.db, (trx) => credits.postGrant(trx, input, new Date()))).grantId);
    else if (step % 7 === 6) await credits.expireGrant(database.db, grants.shift() ?? "", new Date());
    else if (step % 9 === 8) {
      const clawback = { grantId: grants[0] ?? "", creditsInAll: 1, key: `refund:${userId}:${step}` };
      await inTransaction(database.db, (trx) => clawBack(trx, clawback, new Date()));
    } else await endHold(database.db, await hold(walletId, 1), 1, new Date(), new Date());
  }
  const expected = (await rebuild(walletId)).toReversed();
  expect(expected.length).toBeGreaterThan(30);
  for (const limit of [1, 3, 7, 100]) {
    const told = (await readAll(userId, limit)).map(({ id, credits: moved, balanceAfter }) => [id, moved, balanceAfter]);
    expect(told, `pages of ${limit}`).toEqual(expected);
  }
});

it("stays consistent across pages while new lines arrive, and an invalid cursor is refused", async () => {
  const { userId, walletId } = await createUser(database.db, { credits: 10 });
  for (let answer = 0; answer < 4; answer += 1) await endHold(database.db, await hold(walletId, 1), 1, new Date(), new Date());
  const first = await readLedger(database.db, userId, undefined, 2);
  await endHold(database.db, await hold(walletId, 3), 3, new Date(), new Date());
  const second = await readLedger(database.db, userId, first.nextCursor ?? "", 100);
  expect([...first.lines, ...second.lines].map(({ credits: moved, balanceAfter }) => [moved, balanceAfter])).toEqual([
    [-1, 6],
    [-1, 7],
    [-1, 8],
    [-1, 9],
    [10, 10],
  ]);
  for (const bad of ["", "x", randomUUID(), Buffer.from(`${randomUUID()} 1e3`).toString("base64url")])
    await expect(readLedger(database.db, userId, bad, 10), bad).rejects.toMatchObject({ code: "validation_failed" });
});

it("costs the same to read in an old wallet as in a new one", async () => {
  const fill = async (answers: number) => {
    const { userId, walletId } = await createUser(database.db, { credits: 10_000 });
    await database.asOwner(`do $$
      declare hold uuid;
      begin
        for answer in 1..${answers} loop
          hold := uuidv7();
          perform ledger_hold(hold, '${walletId}', 1, array['plan', 'trial', 'pack', 'adjustment'], now(), now() + interval '1 hour', now());
          perform ledger_end_hold(hold, 1, 'capture:' || hold, now(), now());
          commit;
        end loop;
      end $$`);
    return userId;
  };
  /** The number of ledger rows read for the first and second page. */
  const touched = async (userId: string) =>
    inTransaction(database.db, async (trx) => {
      const first = await readLedger(trx, userId, undefined, 25);
      expect(first.lines).toHaveLength(25);
      expect((await readLedger(trx, userId, first.nextCursor ?? "", 25)).lines).toHaveLength(25);
      const counted = await trx
        .selectFrom("pg_stat_xact_user_tables" as never)
        .select(["seq_tup_read" as never, "idx_tup_fetch" as never])
        .where("relname" as never, "in", ["ledger_transactions", "ledger_entries"] as never)
        .execute();
      return (counted as { seq_tup_read: number; idx_tup_fetch: number }[]).reduce(
        (sum, row) => sum + Number(row.seq_tup_read) + Number(row.idx_tup_fetch),
        0,
      );
    });
  const [young, old] = [await fill(60), await fill(1_500)];
  await database.asOwner("analyze");
  const few = await touched(young);
  expect(few).toBeGreaterThanOrEqual(100);
  expect(await touched(old)).toBeLessThanOrEqual(few * 1.3);
});
