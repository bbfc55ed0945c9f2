import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grantKinds, maximumCredits } from "#domain/credits.ts";
import { inTransaction, sqlState } from "#server/db/transaction.ts";
import * as credits from "#server/features/credits/service.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function hold(walletId: string, amount: number, holdId: string = randomUUID(), deadline = new Date(Date.now() + hourMs)) {
  return credits.holdCredits(database.db, {
    holdId,
    walletId,
    credits: amount,
    kinds: grantKinds,
    now: new Date(),
    deadline,
    wallNow: new Date(),
  });
}
function capture(holdId: string, amount: number) {
  return credits.captureHold(database.db, holdId, amount, new Date(), new Date());
}
function release(holdId: string) {
  return credits.releaseHold(database.db, holdId, new Date(), new Date());
}
function grant(userId: string, amount: number, key: string, expiresAt = new Date(Date.now() + yearMs)) {
  return inTransaction(database.db, (trx) => credits.postGrant(trx, { userId, kind: "plan", credits: amount, expiresAt, key }, new Date()));
}
async function wallet(userId: string) {
  return credits.readWallet(database.db, userId, grantKinds, new Date());
}
async function countRows() {
  const rows = await database.pool.query<{ rows: number }>(
    "select (select count(*) from ledger_entries) + (select count(*) from holds) + (select count(*) from grants) + (select count(*) from ledger_transactions) as rows",
  );
  return rows.rows[0]?.rows;
}
async function booksAgree() {
  expect(await credits.findDisagreements(database.db)).toEqual([]);
}

describe("spending", () => {
  it("200 requests at once with credits for 50: exactly 50 succeed, balance 0 (acceptance 14)", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 50 });
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, async () => {
        const holdId = randomUUID();
        await hold(walletId, 1, holdId);
        await capture(holdId, 1);
      }),
    );
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(50);
    for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "insufficient_credits" });
    expect(await wallet(userId)).toMatchObject({ balance: 0, held: 0, available: 0 });
    await booksAgree();
  });

  it("says what is needed and what is available when credits are short", async () => {
    const { walletId } = await createUser(database.db, { credits: 3 });
    await expect(hold(walletId, 5)).rejects.toMatchObject({ code: "insufficient_credits", details: { needed: 5, available: 3 } });
  });

  it("spends the soonest-expiring grant first", async () => {
    const { userId, walletId } = await createUser(database.db);
    await grant(userId, 10, `late:${userId}`, new Date(Date.now() + 20 * hourMs));
    await grant(userId, 10, `soon:${userId}`, new Date(Date.now() + 10 * hourMs));
    const holdId = randomUUID();
    await hold(walletId, 12, holdId);
    await capture(holdId, 12);
    const rows = await database.db.selectFrom("grants").select(["source_key", "remaining"]).where("wallet_id", "=", walletId).execute();
    expect(Object.fromEntries(rows.map((row) => [row.source_key.split(":")[0], row.remaining]))).toEqual({ soon: 0, late: 8 });
  });
});

describe("a hold", () => {
  it("ends exactly once when a capture and a release race (acceptance 16)", async () => {
    for (let round = 0; round < 40; round += 1) {
      const { userId, walletId } = await createUser(database.db, { credits: 10 });
      const holdId = randomUUID();
      await hold(walletId, 4, holdId);
      const ends = await Promise.all([capture(holdId, 4), release(holdId), capture(holdId, 4), release(holdId)]);
      expect(ends.filter((end) => end.ended)).toHaveLength(1);
      const winner = ends.find((end) => end.ended);
      for (const end of ends) expect(end.state).toBe(winner?.state);
      expect(await wallet(userId)).toMatchObject({ held: 0, balance: winner?.state === "captured" ? 6 : 10 });
    }
    await booksAgree();
  });

  it("is settled from its own grant when that expires meanwhile, and what is released then expires at once (acceptance 16)", async () => {
    const { userId, walletId } = await createUser(database.db);
    const { grantId } = await grant(userId, 10, `month:${userId}`);
    const holdId = randomUUID();
    await hold(walletId, 6, holdId);
    expect(await credits.expireGrant(database.db, grantId, new Date())).toBe(4);
    expect(await wallet(userId)).toMatchObject({ balance: 6, held: 6, available: 0 });
    await capture(holdId, 2);
    expect(await wallet(userId)).toMatchObject({ balance: 0, held: 0 });
    const { lines } = await credits.readLedger(database.db, userId, undefined, 10);
    expect(lines.map((line) => [line.kind, line.credits, line.balanceAfter]).sort()).toEqual(
      [
        ["capture", -2, 4],
        ["expire", -4, 6],
        ["expire", -4, 0],
        ["grant", 10, 10],
      ].sort(),
    );
    await booksAgree();
  });

  it("past its deadline is released (invariant 4)", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 5 });
    const holdId = randomUUID();
    await hold(walletId, 5, holdId, new Date(Date.now() - 1));
    expect(await credits.releaseOverdueHolds(database.db, new Date(), new Date())).toContain(holdId);
    expect(await wallet(userId)).toMatchObject({ balance: 5, held: 0, available: 5 });
  });

  it("same id and content: the same answer; other content: conflict (acceptance 17)", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 9 });
    const holdId = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => hold(walletId, 3, holdId)));
    expect(answers.filter((answer) => answer.created)).toHaveLength(1);
    expect(await wallet(userId)).toMatchObject({ held: 3, balance: 9 });
    await expect(hold(walletId, 4, holdId)).rejects.toMatchObject({ code: "idempotency_conflict" });
    await release(holdId);
    await booksAgree();
  });
});

describe("a posting", () => {
  it("same key and content, 10 times at once: one grant; other content: conflict (acceptance 17)", async () => {
    const { userId } = await createUser(database.db);
    const expiresAt = new Date(Date.now() + yearMs);
    const results = await Promise.all(Array.from({ length: 10 }, () => grant(userId, 300, `grant:in_1:${userId}`, expiresAt)));
    expect(results.filter((result) => result.posted)).toHaveLength(1);
    expect(new Set(results.map((result) => result.grantId)).size).toBe(1);
    expect((await wallet(userId)).balance).toBe(300);
    await expect(grant(userId, 301, `grant:in_1:${userId}`, expiresAt)).rejects.toMatchObject({ code: "idempotency_conflict" });
    await booksAgree();
  });

  it.each([-1, 0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, maximumCredits + 1])(
    "of %s credits is refused and nothing is written (acceptance 17)",
    async (amount) => {
      const { userId, walletId } = await createUser(database.db, { credits: 5 });
      const before = await countRows();
      await expect(grant(userId, amount, `bad:${userId}`)).rejects.toMatchObject({ code: "invalid_credits", status: 400 });
      await expect(hold(walletId, amount)).rejects.toMatchObject({ code: "invalid_credits" });
      expect(await countRows()).toBe(before);
    },
  );

  it("a clawback of spent credits becomes recorded debt, blocks spending, and the next grant repays it (acceptance 11)", async () => {
    const { userId, walletId } = await createUser(database.db);
    const { grantId } = await grant(userId, 100, `first:${userId}`);
    const holdId = randomUUID();
    await hold(walletId, 80, holdId);
    await capture(holdId, 80);
    await inTransaction(database.db, (trx) => credits.clawBack(trx, { grantId, credits: 100, key: `refund:${userId}` }, new Date()));
    expect(await wallet(userId)).toMatchObject({ balance: -80, available: 0 });
    await expect(hold(walletId, 1)).rejects.toMatchObject({ code: "insufficient_credits" });
    await grant(userId, 300, `second:${userId}`);
    expect(await wallet(userId)).toMatchObject({ balance: 220, available: 220 });
    await booksAgree();
  });
});

describe("racing", () => {
  interface Person {
    userId: string;
    walletId: string;
  }
  const random = seededRandom(Math.floor(Date.now() / 1000));
  const open: string[] = [];

  async function takeHold({ walletId }: Person): Promise<void> {
    const holdId = randomUUID();
    await hold(walletId, 1 + random(8), holdId);
    open.push(holdId);
  }
  async function endSomeHold(): Promise<void> {
    const holdId = open[random(open.length)];
    if (holdId) await (random(2) ? capture(holdId, 1) : release(holdId));
  }
  async function changeSomeGrant({ walletId }: Person, expire: boolean, key: string): Promise<void> {
    const grants = await database.db
      .selectFrom("grants")
      .select(["id", "credits", "clawed_back"])
      .where("wallet_id", "=", walletId)
      .execute();
    const target = grants[random(grants.length)];
    if (!target) return;
    if (expire) await credits.expireGrant(database.db, target.id, new Date());
    else if (target.clawed_back < target.credits) {
      await inTransaction(database.db, (trx) => credits.clawBack(trx, { grantId: target.id, credits: 1, key }, new Date()));
    }
  }
  async function act(person: Person, round: number): Promise<void> {
    const choice = random(10);
    if (choice < 4) await takeHold(person);
    else if (choice < 7) await endSomeHold();
    else if (choice < 8) await grant(person.userId, 1 + random(30), `race:${person.userId}:${round}`);
    else await changeSomeGrant(person, choice === 8, `race-refund:${round}`);
  }

  it("spend, expiry, refund and grant at once keep every invariant (acceptance 15)", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => createUser(database.db, { credits: 40 })));
    const rounds = process.env.TEST_FULL === "1" ? 4_000 : 600;
    for (let round = 0; round < rounds; round += 20) {
      const work = Array.from({ length: 20 }, async (_, index) => {
        const person = people[random(people.length)];
        if (person) await act(person, round + index);
      });
      for (const result of await Promise.allSettled(work)) {
        // A clawback may race another past what was granted: the check constraint refuses it.
        if (result.status === "rejected") expect(["insufficient_credits", "23514"]).toContain((result.reason as { code?: string }).code);
      }
    }
    await booksAgree();
  }, 300_000);
});

describe("the application's role", () => {
  it.each([
    "update ledger_entries set amount = 1",
    "delete from ledger_entries",
    "truncate ledger_entries cascade",
    "insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) select transaction_id, 9::smallint, account, wallet_id, grant_id, 5 from ledger_entries",
    "update ledger_transactions set kind = 'grant'",
    "delete from ledger_transactions",
    "update wallets set balance = 1000000",
    "update grants set remaining = credits",
    "insert into holds (id, wallet_id, amount, deadline, created_at) select gen_random_uuid(), id, 1, now(), now() from wallets",
  ])("may not run: %s (acceptance 18)", async (statement) => {
    await createUser(database.db, { credits: 5 });
    const error = await database.pool.query(statement).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(sqlState(error)).toBe("42501");
  });

  it("even the owner cannot change an entry", async () => {
    await createUser(database.db, { credits: 5 });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    try {
      const error = await owner.query("update ledger_entries set amount = amount + 1").then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(sqlState(error)).toBe("TS901");
    } finally {
      await owner.end();
    }
  });

  it("a rebuild from the entries gives the same figures; a tampered balance is found (acceptance 18)", async () => {
    const { walletId } = await createUser(database.db, { credits: 5 });
    await booksAgree();
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    try {
      await owner.query("begin; alter table wallets disable trigger wallets_agree");
      await owner.query("update wallets set balance = 6 where id = $1", [walletId]);
      await owner.query("alter table wallets enable trigger wallets_agree; commit");
      expect(await credits.findDisagreements(database.db)).toContainEqual({ kind: "wallet", id: walletId, recorded: 6, rebuilt: 5 });
    } finally {
      await owner.end();
    }
  });
});
