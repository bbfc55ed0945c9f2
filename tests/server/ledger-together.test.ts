/** Holds that are made, and shares of holds that are settled, by one call for several wallets. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grantKinds } from "#domain/credits.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { sqlState } from "#server/failures.ts";
import * as credits from "#server/features/credits/service.ts";
import { clawBack, holdTogether, settleTogether } from "#tests/support/ledger-calls.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import { createUser } from "#tests/support/people.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const hourMs = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  expect(await credits.findDisagreements(database.db)).toEqual([]);
  await database.drop();
});

interface Purse {
  userId: string;
  walletId: string;
}

async function grant(userId: string, amount: number, key: string, hours = 24) {
  const expiresAt = new Date(Date.now() + hours * hourMs);
  return inTransaction(database.db, async (trx) =>
    credits.postGrant(trx, { payerId: await payerIdOf(trx, userId), kind: "plan", credits: amount, expiresAt, key }, new Date()),
  );
}

async function purses(count: number, each: number): Promise<Purse[]> {
  const people = await Promise.all(Array.from({ length: count }, () => createUser(database.db)));
  for (const { userId } of people) await grant(userId, each, `together:${userId}`);
  return people;
}

/** One purse, or a pair of them, with `each` credits. */
async function pair(each: number): Promise<[Purse, Purse]> {
  const [one, two] = await purses(2, each);
  if (!one || !two) throw new Error("nobody was made");
  return [one, two];
}

const heldOf = (people: readonly Purse[]) =>
  Promise.all(people.map(async ({ userId }) => (await credits.readWallet(database.db, userId, grantKinds, new Date())).held));
const balancesOf = (people: readonly Purse[]) =>
  Promise.all(people.map(async ({ userId }) => (await credits.readWallet(database.db, userId, grantKinds, new Date())).balance));

/** Returns the ids of the holds. */
async function together(...amounts: (readonly [walletId: string, credits: number])[]): Promise<string[]> {
  const [now, deadline] = [new Date(), new Date(Date.now() + hourMs)];
  const holds = amounts.map(([walletId, amount]) => {
    return { holdId: randomUUID(), walletId, credits: amount, kinds: grantKinds, now, deadline, wallNow: now };
  });
  await holdTogether(database.db, holds);
  return holds.map(({ holdId }) => holdId);
}

describe("holds made together", () => {
  it("are made in all wallets or in none, from as many grants as it takes", async () => {
    const [one, two, three] = await purses(3, 5);
    if (!one || !two || !three) throw new Error("nobody was made");
    await grant(two.userId, 3, `more:${two.userId}`);
    await expect(together([one.walletId, 5], [two.walletId, 8], [three.walletId, 6])).rejects.toMatchObject({
      code: "insufficient_credits",
      details: { available: 5 },
    });
    expect(await heldOf([one, two, three])).toEqual([0, 0, 0]);
    await together([one.walletId, 5], [two.walletId, 8], [three.walletId, 1]);
    expect(await heldOf([one, two, three])).toEqual([5, 8, 1]);
  });

  it("are refused, all of them, if two are of one wallet, a wallet is frozen, or an amount is no amount", async () => {
    const people = await purses(2, 5);
    const [one, two] = people;
    if (!one || !two) throw new Error("nobody was made");
    await expect(together([one.walletId, 2], [one.walletId, 2])).rejects.toMatchObject({ code: "insufficient_credits" });
    for (const amount of [0, -1, 1_000_000_001]) await expect(together([one.walletId, 1], [two.walletId, amount])).rejects.toThrow();
    await database.db.updateTable("wallets").set({ frozen_at: new Date() }).where("id", "=", two.walletId).execute();
    await expect(together([one.walletId, 1], [two.walletId, 1])).rejects.toMatchObject({ code: "wallet_frozen" });
    expect(await heldOf(people)).toEqual([0, 0]);
  });

  it("of a hundred pairs at once in two wallets of fifty credits, in both orders, exactly fifty are made", async () => {
    const people = await purses(2, 50);
    const [one, two] = people;
    if (!one || !two) throw new Error("nobody was made");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0 ? together([one.walletId, 1], [two.walletId, 1]) : together([two.walletId, 1], [one.walletId, 1]),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => (reason as { code?: string }).code)).toEqual(
      Array.from({ length: 50 }, () => "insufficient_credits"),
    );
    expect(await heldOf(people)).toEqual([50, 50]);
  });
});

type Share = readonly [holdId: string, share: number, credits: number, key?: string];
const settled = (...shares: Share[]) =>
  settleTogether(
    database.db,
    shares.map(([holdId, share, amount, key = `capture:${holdId}`]) => ({ holdId, share, credits: amount, key })),
    new Date(),
  );
const entriesOf = async ({ walletId }: Purse) => {
  const rows = await database.db
    .selectFrom("ledger_entries")
    .innerJoin("ledger_transactions", "ledger_transactions.id", "ledger_entries.transaction_id")
    .select(["key", "account", "amount"])
    .where("ledger_entries.wallet_id", "=", walletId)
    .where("kind", "=", "capture")
    .orderBy("key")
    .orderBy("line")
    .execute();
  return rows.map(({ key, account, amount }) => `${key} ${account} ${amount}`);
};

describe("shares settled together", () => {
  it("are charged and released each by itself, also several of one wallet and one grant", async () => {
    const [one, two] = await pair(20);
    const [a = "", b = "", c = ""] = await Promise.all(
      [[one, 5] as const, [one, 4] as const, [two, 7] as const].map(
        async ([{ walletId }, amount]) => (await together([walletId, amount]))[0],
      ),
    );
    const rows = await settled([a, 5, 5], [b, 4, 0], [c, 7, 3]);
    expect(rows).toMatchObject([
      { state: "captured", captured: 5, capture: expect.any(String) },
      { state: "released", captured: 0, capture: null },
      { state: "captured", captured: 3, capture: expect.any(String) },
    ]);
    expect([await balancesOf([one, two]), await heldOf([one, two])]).toEqual([
      [15, 17],
      [0, 0],
    ]);
    expect(await entriesOf(one)).toEqual([`capture:${a} wallet -5`, `capture:${a} spent 5`]);
    expect(await entriesOf(two)).toEqual([`capture:${c} wallet -3`, `capture:${c} spent 3`]);
    // A second time nothing happens.
    expect(await settled([a, 5, 5], [c, 7, 3])).toMatchObject([
      { state: "captured", captured: 5, capture: rows[0]?.capture },
      { state: "captured", captured: 3, capture: rows[2]?.capture },
    ]);
    expect(await balancesOf([one, two])).toEqual([15, 17]);
  });

  it("of holds of several grants, and a part of a hold, leave what others are owed", async () => {
    const [one, two] = await pair(5);
    await grant(one.userId, 5, `later:${one.userId}`, 48);
    const [wide = "", narrow = ""] = await together([one.walletId, 8], [two.walletId, 5]);
    // The share takes as much as one of the grants holds, and the rest stays held.
    expect(await settled([wide, 5, 4, "wide:1"], [narrow, 2, 2, "narrow:1"])).toMatchObject([
      { state: "open", captured: 4 },
      { state: "open", captured: 2 },
    ]);
    expect(await heldOf([one, two])).toEqual([3, 3]);
    expect(await settled([wide, 3, 3, "wide:2"], [narrow, 3, 0, "narrow:2"])).toMatchObject([
      { state: "captured", captured: 3 },
      { state: "captured", captured: 0 },
    ]);
    expect([await balancesOf([one, two]), await heldOf([one, two])]).toEqual([
      [3, 3],
      [0, 0],
    ]);
  });

  it("are settled all or none: not for a hold that is not there, more than was held, or a key that was posted before", async () => {
    const [one, two] = await pair(10);
    const [a = "", b = ""] = await together([one.walletId, 5], [two.walletId, 5]);
    const refused = async (...shares: Share[]) => {
      const error = await settled(...shares).catch((reason: unknown) => reason);
      return sqlState(error);
    };
    expect(await refused([a, 5, 5], [randomUUID(), 5, 5])).toBe("TS404");
    expect(await refused([a, 5, 5], [b, 5, 6])).toBe("TS400");
    expect(await refused([a, 5, 5], [b, 5, -1])).toBe("TS400");
    expect(await refused([a, 5, 5, "same"], [b, 5, 5, "same"])).toBe("TS409");
    expect([await balancesOf([one, two]), await heldOf([one, two])]).toEqual([
      [10, 10],
      [5, 5],
    ]);
    await settled([a, 5, 5, "posted"], [b, 5, 5]);
    const [again = ""] = await together([one.walletId, 5]);
    expect(await refused([again, 5, 5, "posted"])).toBe("TS409");
    expect(await heldOf([one])).toEqual([5]);
    await settled([again, 5, 0]);
  });

  it("of a hundred pairs at once, in both orders, each is charged once", async () => {
    const [one, two] = await pair(200);
    const holds = await Promise.all(Array.from({ length: 100 }, () => together([one.walletId, 2], [two.walletId, 2])));
    await Promise.all(
      holds.flatMap(([a = "", b = ""], index) => {
        const shares: Share[] =
          index % 2 === 0
            ? [
                [a, 2, 1],
                [b, 2, 2],
              ]
            : [
                [b, 2, 2],
                [a, 2, 1],
              ];
        return [settled(...shares), settled(...shares)];
      }),
    );
    expect([await balancesOf([one, two]), await heldOf([one, two])]).toEqual([
      [100, 0],
      [0, 0],
    ]);
  });

  /** What a release frees repays what the wallet owes. */
  async function expectDebtRepaid(): Promise<void> {
    const [one, two] = await pair(10);
    const { grantId } = await grant(one.userId, 5, `taken:${one.userId}:${randomUUID()}`, 1);
    const [first = "", second = "", other = ""] = [
      ...(await together([one.walletId, 5])),
      ...(await together([one.walletId, 10])),
      ...(await together([two.walletId, 1])),
    ];
    await inTransaction(database.db, (trx) => clawBack(trx, { grantId, creditsInAll: 5, key: `clawback:${randomUUID()}` }, new Date()));
    await settled([second, 10, 0], [other, 1, 1]);
    const { rows } = await database.pool.query("select remaining, held from grants where id = $1", [grantId]);
    expect(rows).toEqual([{ remaining: 5, held: 5 }]);
    await settled([first, 5, 5]);
    expect(await balancesOf([one, two])).toEqual([5, 9]);
  }

  it("repay what a wallet owes", expectDebtRepaid);

  it("would be noticed if they did not", async () => {
    const repair = await plantBug(database, "ledger_settle_many", (source) =>
      source.replace("d.remaining < d.held) = 0", "d.remaining < d.held) >= 0"),
    );
    await expect(expectDebtRepaid()).rejects.toThrow();
    await repair();
  });
});
