/** Who asks is a person, who pays is a billing account: its members spend from one wallet, and nobody else can. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { grantKinds } from "#domain/credits.ts";
import { readLedger } from "#server/features/credits/history.ts";
import { findDisagreements, readWallet } from "#server/features/credits/service.ts";
import { callStart, callStarts } from "#server/features/generations/starts.ts";
import { announceToMembers } from "#server/http/live-events.ts";
import type { AnswerWorld } from "../support/answers.ts";
import { ask, call, readAnswer, send, startAnswerWorld } from "../support/answers.ts";
import { joinAccountOf, payerIdOf } from "../support/payers.ts";
import type { TestPerson } from "../support/people.ts";
import { createPerson } from "../support/people.ts";
import { plantBug } from "../support/planted-bugs.ts";
import { startOf } from "../support/starts.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let api: AnswerWorld["api"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, api } = world);
  world.models.pace.milliseconds = 0;
});
afterAll(async () => {
  expect(await findDisagreements(database.db)).toEqual([]);
  await world.close();
});

/** Two members of one billing account, whose wallet has `credits`. */
async function couple(credits = 10): Promise<[TestPerson, TestPerson]> {
  const owner = await createPerson(api, database.db, { credits, plan: "starter" });
  const second = await createPerson(api, database.db, { credits: 0, plan: "starter" });
  await joinAccountOf(database, owner.userId, second.userId);
  return [owner, second];
}

const walletOf = ({ userId }: TestPerson) => readWallet(database.db, userId, grantKinds, new Date());
const outcomeOf = async ({ userId }: TestPerson, limits: Partial<ReturnType<typeof startOf>> = {}) =>
  (await callStart(database.db, { ...startOf(userId), ...limits })).outcome;

describe("two members of one account", () => {
  test("spend from one wallet, see one balance and one history, and each row names who asked and who paid", async () => {
    const [owner, second] = await couple();
    const answers = [await ask(api, owner), await ask(api, second)];
    expect(answers.map(({ receipt }) => receipt?.availableAfter)).toEqual([9, 8]);
    for (const person of [owner, second]) expect(await walletOf(person)).toMatchObject({ balance: 8, available: 8, held: 0 });
    const payer = await payerIdOf(database.db, owner.userId);
    const rows = database.db.selectFrom("generations").select(["user_id", "payer_id"]).where("payer_id", "=", payer).orderBy("id");
    expect(await rows.execute()).toEqual([owner, second].map(({ userId }) => ({ user_id: userId, payer_id: payer })));
    for (const [reader, own] of [[owner, 0] as const, [second, 1] as const]) {
      const { lines } = await readLedger(database.db, reader.userId, undefined, 10);
      expect(lines.map((line) => line.credits)).toEqual([-1, -1, 10]);
      const named = lines.flatMap((line) => line.conversationId ?? []);
      expect(named).toEqual([answers[own]?.conversationId]);
    }
  });

  test("have conversations, answers and keys of their own", async () => {
    const [owner, second] = await couple();
    const key = "the-same-key-of-both";
    const answer = await ask(api, owner, {}, { key });
    expect((await call(api, second, "GET", `/api/conversations/${answer.conversationId}`)).status).toBe(404);
    expect((await call(api, second, "GET", `/api/generations/${answer.generationId}`)).status).toBe(404);
    expect((await send(api, second, { conversationId: answer.conversationId })).status).toBe(404);
    const other = await ask(api, second, {}, { key });
    expect(other.generationId).not.toBe(answer.generationId);
  });

  test("never spend more than the wallet has when they ask at the same moment", async () => {
    const [owner, second] = await couple(1);
    const responses = await Promise.all([send(api, owner), send(api, second)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 402]);
    for (const response of responses) if (response.status === 200) await readAnswer(response);
    expect(await walletOf(owner)).toMatchObject({ balance: 0, held: 0 });
  });

  test("are started by one statement, each from the wallet they share", async () => {
    const [owner, second] = await couple();
    const outcomes = await callStarts(database.db, [startOf(owner.userId), startOf(second.userId)], false);
    expect(outcomes.map((each) => each?.outcome)).toEqual(["created", "created"]);
    expect(outcomes.map((each) => each?.available).sort()).toEqual([10, 9]);
    expect(await walletOf(owner)).toMatchObject({ balance: 10, held: 2, available: 8 });
  });

  test("are both told when the wallet changes, and a person of another account is not", async () => {
    const [owner, second] = await couple();
    const stranger = await createPerson(api, database.db);
    const told: string[] = [];
    const unsubscribe = api.deps.live.subscribe((event) => {
      if (event !== "resync" && event.table === "wallets") told.push(event.userId);
    });
    await ask(api, owner);
    // The reader has the receipt before the members are told.
    await expect.poll(() => told).toEqual(expect.arrayContaining([owner.userId, second.userId]));
    // One channel keeps its order, so anything the answer told the stranger would have come before this.
    await announceToMembers(api.deps, await payerIdOf(database.db, stranger.userId), "wallets");
    await expect.poll(() => told).toContain(stranger.userId);
    unsubscribe();
    for (const person of [second, stranger]) expect(told.filter((userId) => userId === person.userId)).toHaveLength(1);
  });
});

describe("limits", () => {
  const free = { credits: 1, concurrentAnswers: 100, requestsPerMinute: 2 };

  test("per minute are each member's own", async () => {
    const [owner, second] = await couple();
    const outcomes = [
      await outcomeOf(owner, free),
      await outcomeOf(owner, free),
      await outcomeOf(owner, free),
      await outcomeOf(second, free),
    ];
    expect(outcomes).toEqual(["created", "created", "rate_limited", "created"]);
  });

  test("of answers at once are each member's own", async () => {
    const [owner, second] = await couple();
    const one = { credits: 1, concurrentAnswers: 1, requestsPerMinute: 100 };
    const outcomes = [await outcomeOf(owner, one), await outcomeOf(owner, one), await outcomeOf(second, one)];
    expect(outcomes).toEqual(["created", "too_many_answers", "created"]);
  });

  test("are also the account's: who takes another person's place in it gets no second helping", async () => {
    for (const [limits, refusal] of [
      [free, "rate_limited"],
      [{ credits: 1, concurrentAnswers: 2, requestsPerMinute: 100 }, "too_many_answers"],
    ] as const) {
      const owner = await createPerson(api, database.db, { credits: 10 });
      const next = await createPerson(api, database.db, { credits: 0 });
      const stranger = await createPerson(api, database.db, { credits: 10 });
      expect([await outcomeOf(owner, limits), await outcomeOf(owner, limits)]).toEqual(["created", "created"]);
      await joinAccountOf(database, owner.userId, next.userId);
      await joinAccountOf(database, stranger.userId, owner.userId);
      expect(await outcomeOf(next, limits)).toBe(refusal);
      expect(await outcomeOf(stranger, limits)).toBe("created");
    }
  });

  test("of an account of one are the plan's own numbers", async () => {
    const person = await createPerson(api, database.db, { credits: 10 });
    expect([await outcomeOf(person, free), await outcomeOf(person, free), await outcomeOf(person, free)]).toEqual([
      "created",
      "created",
      "rate_limited",
    ]);
  });
});

describe("a person of another account", () => {
  async function expectOutOfReach(stranger: TestPerson): Promise<void> {
    expect(await walletOf(stranger)).toMatchObject({ balance: 0, available: 0, grants: [] });
    expect(await readLedger(database.db, stranger.userId, undefined, 10)).toEqual({ lines: [], nextCursor: null, readTo: null });
    expect((await send(api, stranger)).status).toBe(402);
    expect(await outcomeOf(stranger)).toBe("insufficient_credits");
  }

  test("reaches neither the wallet nor its history", async () => {
    const [owner] = await couple();
    const stranger = await createPerson(api, database.db, { credits: 0 });
    await ask(api, owner);
    await expectOutOfReach(stranger);
  });

  test("who is taken for a member is noticed: a planted bug gives everybody the oldest account", async () => {
    await couple();
    const stranger = await createPerson(api, database.db, { credits: 0 });
    const repair = await plantBug(database, "payer_of", (source) =>
      source.replace("where user_id = p_user", "order by created_at limit 1"),
    );
    await expect(expectOutOfReach(stranger)).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
    await expectOutOfReach(stranger);
  });

  test("can't be made a member by the application's role, whatever SQL it runs", async () => {
    const [owner] = await couple();
    const stranger = await createPerson(api, database.db, { credits: 0 });
    const payer = await payerIdOf(database.db, owner.userId);
    const client = new pg.Client({ connectionString: database.applicationUrl });
    await client.connect();
    try {
      for (const statement of [
        `update billing_account_members set billing_account_id = '${payer}' where user_id = '${stranger.userId}'`,
        `delete from billing_account_members where user_id = '${stranger.userId}'`,
        `insert into billing_account_members (user_id, billing_account_id, role, created_at) values (uuidv7(), '${payer}', 'owner', now())`,
        "insert into billing_accounts (created_at) values (now())",
        `update billing_accounts set id = uuidv7() where id = '${payer}'`,
        `update wallets set billing_account_id = '${payer}'`,
        "select user_open_billing_account()",
      ])
        await expect(client.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    } finally {
      await client.end();
    }
  });
});

describe("every person", () => {
  test("has an account of their own from the transaction on that makes them, and none if it fails", async () => {
    const accounts = () => database.db.selectFrom("billing_accounts").select("id").execute();
    const before = (await accounts()).length;
    await expect(
      database.db.transaction().execute(async (trx) => {
        const values = { avatar_url: null, banned_at: null, created_at: new Date(), last_sign_in_at: null };
        const { id } = await trx.insertInto("users").values(values).returning("id").executeTakeFirstOrThrow();
        expect(await payerIdOf(trx, id)).toEqual(expect.any(String));
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    expect(await accounts()).toHaveLength(before);
  });

  test("who is deleted leaves the account's books to those who stay, and the last one leaves them unlinked", async () => {
    const [owner, second] = await couple();
    const payer = await payerIdOf(database.db, owner.userId);
    await database.db.updateTable("billing_accounts").set({ stripe_customer_id: "cus_of_two" }).where("id", "=", payer).execute();
    const { generationId } = await ask(api, owner);
    const account = () => database.db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", payer).execute();

    await database.asOwner(`delete from users where id = '${owner.userId}'`);
    expect(await walletOf(second)).toMatchObject({ balance: 9 });
    expect(await account()).toEqual([{ stripe_customer_id: "cus_of_two" }]);
    const earlier = { stripe_customer_id: "cus_deleted", billing_account_id: payer, retired_at: new Date() };
    await database.db.insertInto("former_customers").values(earlier).execute();
    const generation = database.db.selectFrom("generations").select(["user_id", "payer_id"]).where("id", "=", generationId);
    expect(await generation.execute()).toEqual([{ user_id: null, payer_id: payer }]);

    const month = { key: `month:${payer}`, billing_account_id: payer, credits: 5, due_at: new Date(), expires_at: new Date() };
    await database.db
      .insertInto("scheduled_grants")
      .values({ ...month, posted_at: null, cancelled_at: null })
      .execute();
    await database.asOwner(`delete from users where id = '${second.userId}'`);
    expect(await account()).toEqual([{ stripe_customer_id: null }]);
    expect(await database.db.selectFrom("former_customers").select("stripe_customer_id").execute()).toEqual([]);
    const wallet = database.db.selectFrom("wallets").select("balance").where("billing_account_id", "=", payer);
    expect(await wallet.execute()).toEqual([{ balance: 9 }]);
    const left = await database.db.selectFrom("scheduled_grants").select("cancelled_at").where("billing_account_id", "=", payer).execute();
    expect(left).toEqual([{ cancelled_at: expect.any(Date) }]);
  });
});
