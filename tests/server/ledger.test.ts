import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grantKinds, maximumCredits } from "#domain/credits.ts";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { createDeps } from "#server/deps.ts";
import { sqlState } from "#server/failures.ts";
import { readLedger } from "#server/features/credits/history.ts";
import * as credits from "#server/features/credits/service.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { full } from "#tests/support/full.ts";
import { clawBack, endHold, holdCredits, settle } from "#tests/support/ledger-calls.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { createUser } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { payerIdOf } from "../support/payers.ts";
import { endOf, startOf } from "../support/starts.ts";

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function hold(walletId: string, amount: number, holdId: string = randomUUID(), deadline = new Date(Date.now() + hourMs)) {
  return holdCredits(database.db, {
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
  return endHold(database.db, holdId, amount, new Date(), new Date());
}
function release(holdId: string) {
  return endHold(database.db, holdId, 0, new Date(), new Date());
}
function grant(userId: string, amount: number, key: string, expiresAt = new Date(Date.now() + yearMs)) {
  return inTransaction(database.db, async (trx) => {
    const payerId = await payerIdOf(trx, userId);
    return credits.postGrant(trx, { payerId, kind: "plan", credits: amount, expiresAt, key }, new Date());
  });
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
  it("of 200 requests at once with 50 credits exactly 50 succeed, and the balance is 0", async () => {
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

  it("of 200 answers that start at once with 50 credits exactly 50 start and are charged; nothing else is held, and the balance is 0", async () => {
    const { userId } = await createUser(database.db, { credits: 50 });
    const { start, end } = createAnswerBatches(database.db);
    const starts = Array.from({ length: 200 }, () => ({ ...startOf(userId), requestsPerMinute: 1_000, concurrentAnswers: 1_000 }));
    const outcomes = await Promise.all(starts.map(start));
    const created = starts.filter((_, place) => outcomes[place]?.outcome === "created");
    expect(created).toHaveLength(50);
    expect(outcomes.filter(({ outcome }) => outcome === "insufficient_credits")).toHaveLength(150);
    expect(await wallet(userId)).toMatchObject({ balance: 50, held: 50, available: 0 });
    const ended = await Promise.all(created.map((row) => end(endOf(row))));
    expect(ended.map((row) => row?.charged_credits)).toEqual(created.map(() => 1));
    expect(await wallet(userId)).toMatchObject({ balance: 0, held: 0, available: 0 });
    await booksAgree();
  });

  it("names the credits needed and available when there are too few", async () => {
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
  it("ends exactly once when a capture and a release race", async () => {
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

  it("is charged to its own grant even if that has expired meanwhile; credits released from that grant expire at once", async () => {
    const { userId, walletId } = await createUser(database.db);
    const { grantId } = await grant(userId, 10, `month:${userId}`);
    const holdId = randomUUID();
    await hold(walletId, 6, holdId);
    expect(await credits.expireGrant(database.db, grantId, new Date())).toBe(4);
    expect(await wallet(userId)).toMatchObject({ balance: 6, held: 6, available: 0 });
    await capture(holdId, 2);
    expect(await wallet(userId)).toMatchObject({ balance: 0, held: 0 });
    const { lines } = await readLedger(database.db, userId, undefined, 10);
    expect(lines.map((line) => [line.kind, line.credits, line.balanceAfter])).toEqual([
      ["expire", -4, 0],
      ["capture", -2, 4],
      ["expire", -4, 6],
      ["grant", 10, 10],
    ]);
    await booksAgree();
  });

  it("is released after its deadline (invariant 4)", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 5 });
    const holdId = randomUUID();
    await hold(walletId, 5, holdId, new Date(Date.now() - 1));
    const deps = createDeps(readConfig(testEnvironment(database)), "test");
    expect(await credits.releaseOverdueHolds(deps, new Date())).toBe(1);
    await deps.close();
    expect(await wallet(userId)).toMatchObject({ balance: 5, held: 0, available: 5 });
  });

  it("with the same id and content is made once; other content is a conflict", async () => {
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
  it("with the same key and content, 10 times at once, is made once; other content is a conflict", async () => {
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
    "of %s credits is refused and nothing is written",
    async (amount) => {
      const { userId, walletId } = await createUser(database.db, { credits: 5 });
      const before = await countRows();
      await expect(grant(userId, amount, `bad:${userId}`)).rejects.toMatchObject({ code: "invalid_credits", status: 400 });
      await expect(hold(walletId, amount)).rejects.toThrow();
      expect(await countRows()).toBe(before);
    },
  );

  it("a clawback of spent credits becomes recorded debt, blocks spending, and the next grant repays it", async () => {
    const { userId, walletId } = await createUser(database.db);
    const { grantId } = await grant(userId, 100, `first:${userId}`);
    const holdId = randomUUID();
    await hold(walletId, 80, holdId);
    await capture(holdId, 80);
    await inTransaction(database.db, (trx) => clawBack(trx, { grantId, creditsInAll: 100, key: `refund:${userId}` }, new Date()));
    expect(await wallet(userId)).toMatchObject({ balance: -80, available: 0 });
    await expect(hold(walletId, 1)).rejects.toMatchObject({ code: "insufficient_credits" });
    await grant(userId, 300, `second:${userId}`);
    expect(await wallet(userId)).toMatchObject({ balance: 220, available: 220 });
    await booksAgree();
  });
});

describe("a clawback", () => {
  it("takes back the refunded credits minus those that had expired; the debt is what was spent", async () => {
    const { userId, walletId } = await createUser(database.db);
    const { grantId } = await grant(userId, 100, `month:${userId}`);
    const holdId = randomUUID();
    await hold(walletId, 40, holdId);
    await capture(holdId, 40);
    expect(await credits.expireGrant(database.db, grantId, new Date())).toBe(60);
    const refund = (creditsInAll: number, key: string) =>
      inTransaction(database.db, (trx) => clawBack(trx, { grantId, creditsInAll, key: `${key}:${userId}` }, new Date()));
    expect(await refund(50, "refund:first")).toBe(0);
    expect(await refund(100, "refund:second")).toBe(40);
    expect(await wallet(userId)).toMatchObject({ balance: -40, available: 0 });
    expect(await refund(100, "refund:second")).toBe(0);
    await expect(refund(99, "refund:second")).rejects.toMatchObject({ code: "idempotency_conflict" });
    await expect(refund(101, "refund:third")).rejects.toMatchObject({ code: "invalid_credits" });
    expect(await wallet(userId)).toMatchObject({ balance: -40 });
    await booksAgree();
  });
});

describe("a hold for several answers", () => {
  const share = (holdId: string, credits: number, captured: number, key: string) =>
    settle(database.db, { holdId, share: credits, credits: captured, key }, new Date());
  const stateOf = (holdId: string) =>
    database.db.selectFrom("holds").select(["state", "settled", "captured"]).where("id", "=", holdId).executeTakeFirstOrThrow();

  it("is settled one by one, each charged what it costs, and ends once, with the last", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 20 });
    const holdId = randomUUID();
    await hold(walletId, 11, holdId);
    expect(await share(holdId, 5, 5, `capture:${holdId}:1`)).toEqual({ settled: true, captured: 5 });
    expect([await stateOf(holdId), await wallet(userId)]).toMatchObject([
      { state: "open", settled: 5, captured: 5 },
      { balance: 15, held: 6, available: 9 },
    ]);
    expect(await share(holdId, 5, 0, `capture:${holdId}:2`)).toEqual({ settled: true, captured: 0 });
    await booksAgree();
    expect(await share(holdId, 1, 1, `capture:${holdId}:3`)).toEqual({ settled: true, captured: 1 });
    expect([await stateOf(holdId), await wallet(userId)]).toMatchObject([
      { state: "captured", settled: 11, captured: 6 },
      { balance: 14, held: 0, available: 14 },
    ]);
    // Asked again of an ended hold: what each was charged.
    for (const [number, captured] of [5, 0, 1].entries())
      expect(await share(holdId, 1, 0, `capture:${holdId}:${number + 1}`)).toEqual({ settled: false, captured });
    await booksAgree();
  });

  it("gives no more than was held: not to one answer, not to all of them, and not twice under one key", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 20 });
    const holdId = randomUUID();
    await hold(walletId, 6, holdId);
    await expect(share(holdId, 7, 7, `capture:${holdId}:1`)).rejects.toMatchObject({ code: "invalid_credits" });
    await expect(share(holdId, 2, 3, `capture:${holdId}:1`)).rejects.toMatchObject({ code: "invalid_credits" });
    await share(holdId, 4, 4, `capture:${holdId}:1`);
    await expect(share(holdId, 2, 2, `capture:${holdId}:1`)).rejects.toMatchObject({ code: "idempotency_conflict" });
    await expect(share(holdId, 3, 0, `capture:${holdId}:2`)).rejects.toMatchObject({ code: "invalid_credits" });
    const settled = await Promise.allSettled(
      Array.from({ length: 4 }, (_, number) => share(holdId, 1, 1, `capture:${holdId}:${number + 2}`)),
    );
    expect(settled.filter((each) => each.status === "fulfilled" && each.value.settled)).toHaveLength(2);
    expect(await wallet(userId)).toMatchObject({ balance: 14, held: 0 });
    await booksAgree();
  });

  it("is released at its deadline as far as it is not settled", async () => {
    const { userId, walletId } = await createUser(database.db, { credits: 20 });
    const holdId = randomUUID();
    await hold(walletId, 6, holdId, new Date(Date.now() - 1));
    await share(holdId, 2, 2, `capture:${holdId}:1`);
    expect(await release(holdId)).toMatchObject({ ended: true, state: "captured", captured: 0 });
    expect(await share(holdId, 2, 2, `capture:${holdId}:2`)).toEqual({ settled: false, captured: 0 });
    expect(await wallet(userId)).toMatchObject({ balance: 18, held: 0 });
    await booksAgree();
  });
});

describe("PostgreSQL refuses, even from the ledger's owner,", () => {
  const open =
    "insert into ledger_transactions (key, kind, wallet_id, content, occurred_at) values ($1::uuid || ':planted', 'grant', $1::uuid, '{}', now())";
  const entry = `with posted as (${open} returning id) insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
    select posted.id, 1, 'wallet', g.wallet_id, g.id, 1 from posted, grants g where g.wallet_id = $1::uuid limit 1`;
  const later = `insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
    select transaction_id, 3, 'spent', wallet_id, grant_id, 1 from ledger_entries where wallet_id = $1 limit 1`;
  const foreign = `with opened as (insert into billing_accounts (created_at) values (now()) returning id), other as (
      insert into wallets (id, billing_account_id, created_at) select uuidv7(), a.id, now() from opened a returning id)
    insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
      select transaction_id, 3 + sign, account, other.id, grant_id, 1 - 2 * sign
        from ledger_entries, other, generate_series(0, 1) sign where wallet_id = $1 and line = 1`;
  /** The wallet's transactions once more, entries included, under `key`, which none of them has entered in the table of keys. */
  const again = (key: string) => `with known as (select t.*, uuidv7() as new_id from ledger_transactions t where wallet_id = $1::uuid),
      posted as (insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
        select new_id, ${key}, kind, wallet_id, content, occurred_at from known t)
    insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
      select t.new_id, e.line, e.account, e.wallet_id, e.grant_id, e.amount from known t join ledger_entries e on e.transaction_id = t.id`;
  const held =
    "insert into holds (id, wallet_id, amount, state, captured, deadline, created_at, ended_at) values (gen_random_uuid(), $1::uuid, 1";
  it.each([
    ["entries that do not sum to zero (1)", [entry], "TS900"],
    ["an entry that is added to a transaction later (1)", [later], "TS900"],
    ["an entry of another wallet than its grant's (2)", [foreign], "23503"],
    ["a transaction without entries (1)", [open], "TS900"],
    ["a balance that is not its grants' (2)", ["update wallets set balance = balance + 1 where id = $1"], "TS900"],
    ["held credits that are not its grants' (2)", ["update wallets set held = held + 1 where id = $1"], "TS900"],
    [
      "more held than there is (3)",
      ["update grants set held = 8, remaining = 5 where wallet_id = $1", "update wallets set held = 8, balance = 5 where id = $1"],
      "23514",
    ],
    ["a grant that holds more than it has (3)", ["update grants set held = 11 where wallet_id = $1"], "23514"],
    ["a grant below zero without a clawback (3)", ["update grants set remaining = -1 where wallet_id = $1"], "23514"],
    ["a grant of more than was granted (3)", ["update grants set remaining = 11 where wallet_id = $1"], "23514"],
    [
      "a part of a hold that is settled beyond it (4)",
      [
        `with made as (${held}, 'open', 0, now(), now(), null) returning id)
      insert into hold_parts (hold_id, grant_id, amount, settled) select made.id, g.id, 1, 2 from made, grants g where g.wallet_id = $1::uuid`,
      ],
      "23514",
    ],
    [
      "a hold of nothing (4)",
      ["insert into holds (id, wallet_id, amount, deadline, created_at) values (gen_random_uuid(), $1, 0, now(), now())"],
      "23514",
    ],
    ["more captured than was held (4)", [`${held}, 'captured', 2, now(), now(), now())`], "23514"],
    ["an ended hold that is still open (4)", [`${held}, 'open', 0, now(), now(), now())`], "23514"],
    ["an ended hold of which some is held (4)", [`${held}, 'captured', 1, now(), now(), now())`], "23514"],
    ["the same fact twice (5)", [again("gen_random_uuid()::text")], "TS900"],
    ["a key that another transaction owns (5)", [again("t.key")], "TS900"],
    ["a key twice (5)", ["insert into ledger_keys select key, uuidv7() from ledger_transactions where wallet_id = $1"], "23505"],
  ])("%s", async (_name, statements, code) => {
    const { walletId } = await createUser(database.db, { credits: 10 });
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    try {
      const planting = (async () => {
        await owner.query("begin");
        for (const statement of statements) await owner.query(statement, [walletId]);
        await owner.query("commit");
      })();
      expect(sqlState(await planting.catch((error: unknown) => error))).toBe(code);
    } finally {
      await owner.end();
    }
  });
});

describe("racing", () => {
  interface Person {
    userId: string;
    walletId: string;
  }
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Date.now() / 1000) % 1_000_000);
  const random = seededRandom(seed);
  const rounds = full ? 40_000 : 600;
  /** What each person's wallet must have in the end: the sums of what was answered, whatever order PostgreSQL made of it. */
  const expected = new Map<string, { granted: number; captured: number; expired: number; clawedBack: number }>();
  const sumsOf = ({ walletId }: Pick<Person, "walletId">) => {
    const sums = expected.get(walletId) ?? { granted: 0, captured: 0, expired: 0, clawedBack: 0 };
    expected.set(walletId, sums);
    return sums;
  };
  const open: { holdId: string; walletId: string }[] = [];

  async function takeHold({ walletId }: Person): Promise<void> {
    const holdId = randomUUID();
    await hold(walletId, 1 + random(8), holdId);
    open.push({ holdId, walletId });
  }
  /** Often the same hold is ended by several at once: only the one that ended it counts. */
  async function endSomeHold(): Promise<void> {
    const target = open[random(open.length)];
    if (!target) return;
    const end = await (random(2) ? capture(target.holdId, 1) : release(target.holdId));
    if (end.ended) sumsOf(target).captured += end.captured;
  }
  async function changeSomeGrant({ walletId }: Person, expire: boolean, key: string): Promise<void> {
    const grants = await database.db.selectFrom("grants").select(["id", "credits"]).where("wallet_id", "=", walletId).execute();
    const target = grants[random(grants.length)];
    if (!target) return;
    if (expire) {
      const expired = await credits.expireGrant(database.db, target.id, new Date());
      sumsOf({ walletId }).expired += expired;
    } else {
      const creditsInAll = 1 + random(target.credits);
      const taken = await inTransaction(database.db, (trx) => clawBack(trx, { grantId: target.id, creditsInAll, key }, new Date()));
      sumsOf({ walletId }).clawedBack += taken;
    }
  }
  async function act(person: Person, round: number): Promise<void> {
    const choice = random(10);
    if (choice < 4) await takeHold(person);
    else if (choice < 7) await endSomeHold();
    else if (choice < 8) {
      const amount = 1 + random(30);
      await grant(person.userId, amount, `race:${person.userId}:${round}`);
      sumsOf(person).granted += amount;
    } else await changeSomeGrant(person, choice === 8, `race-refund:${round}`);
  }

  /** The sums of the wallet's entries by what they say, without their opposites in the wallet. */
  async function entriesOf(walletId: string) {
    const { rows } = await database.pool.query<{ account: string; amount: number }>(
      "select account, sum(amount)::bigint as amount from ledger_entries where wallet_id = $1 and account <> 'wallet' group by account",
      [walletId],
    );
    return Object.fromEntries(rows.map(({ account, amount }) => [account, Number(amount)]));
  }

  /** What each call answered must add up to what the books have: nothing is spent, granted or taken twice, or by nobody. */
  async function agreesWithAnswers({ userId, walletId }: Person): Promise<void> {
    const { granted, captured, expired, clawedBack } = sumsOf({ walletId });
    const entries = await entriesOf(walletId);
    const { balance, held, available } = await wallet(userId);
    const why = `seed ${seed}, wallet ${walletId}`;
    expect({ spent: entries.spent ?? 0, clawedBack: entries.clawed_back ?? 0 }, why).toEqual({ spent: captured, clawedBack });
    // The end of a hold lets the rest of an expired grant expire, which no call answers.
    const lost = entries.expired ?? 0;
    expect(lost, why).toBeGreaterThanOrEqual(expired);
    expect(balance, why).toBe(granted - captured - clawedBack - lost);
    expect(held, why).toBe(0);
    expect(available, why).toBeGreaterThanOrEqual(0);
    // Only what was taken back after it was spent can be owed.
    expect(-balance, why).toBeLessThanOrEqual(clawedBack);
    expect(captured, why).toBeLessThanOrEqual(granted);
  }

  it(`${rounds} times spending, expiry, refunds and grants at the same time keep every invariant and add up to what was answered (seed ${seed})`, async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => createUser(database.db, { credits: 40 })));
    for (const person of people) sumsOf(person).granted += 40;
    for (let round = 0; round < rounds; round += 20) {
      const work = Array.from({ length: 20 }, async (_, index) => {
        const person = people[random(people.length)];
        if (person) await act(person, round + index);
      });
      for (const result of await Promise.allSettled(work)) {
        if (result.status === "rejected") expect(result.reason, `seed ${seed}`).toMatchObject({ code: "insufficient_credits" });
      }
    }
    for (const { holdId } of open) await release(holdId);
    for (const person of people) await agreesWithAnswers(person);
    await booksAgree();
  }, 900_000);
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
  ])("may not run: %s", async (statement) => {
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

  it("a rebuild from the entries gives the same figures; a tampered balance is found", async () => {
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
