import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addMilliseconds, dayMs, minuteMs } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import { findDisagreements, postGrant } from "#server/features/credits/service.ts";
import type { Schedules } from "../../worker/schedules.ts";
import { startSchedules } from "../../worker/schedules.ts";
import { holdCredits } from "../support/ledger-calls.ts";
import { payerIdOf } from "../support/payers.ts";
import { createUser, subscribe } from "../support/people.ts";
import type { SilentServer } from "../support/silent-server.ts";
import { patientPayments, startSilentServer } from "../support/silent-server.ts";
import type { WorkerWorld } from "../support/worker-world.ts";
import { createWorkerWorld } from "../support/worker-world.ts";

let world: WorkerWorld;

beforeEach(async () => {
  world = await createWorkerWorld();
});
afterEach(() => world.close());

/** Inserts an answer whose process has died and whose hold is past its deadline. Returns its id. */
async function orphan(frames: string, goneForMs: number): Promise<string> {
  const { db } = world.database;
  const { userId, walletId } = await createUser(db, { credits: 10 });
  const id = randomUUID();
  const now = new Date();
  const goneAt = addMilliseconds(now, -goneForMs);
  await holdCredits(db, { holdId: id, walletId, credits: 1, kinds: ["adjustment"], now, deadline: goneAt, wallNow: now });
  await db
    .insertInto("generations")
    .values({
      id,
      user_id: userId,
      payer_id: await payerIdOf(db, userId),
      hold_id: id,
      model_id: "gpt-5-mini",
      idempotency_key: id,
      request_hash: Buffer.alloc(32),
      failure_code: null,
      quoted_credits: 1,
      charged_credits: null,
      available_after: null,
      prompt_tokens: null,
      completion_tokens: null,
      lease_owner: randomUUID(),
      lease_expires_at: goneAt,
      stop_requested_at: null,
      created_at: goneAt,
      ended_at: null,
    })
    .execute();
  await db.insertInto("generation_events").values({ generation_id: id, first_event: 1, last_event: 1, frames }).execute();
  return id;
}

it("an answer whose log can't be read blocks neither the ending of other answers nor the release of any hold", async () => {
  const broken = await orphan('id: 1\nevent: delta\ndata: {"text": \n\n', 2 * minuteMs);
  const sound = await orphan('id: 1\nevent: delta\ndata: {"text":"so far"}\n\n', minuteMs);
  const schedules = startSchedules(world.deps);
  try {
    const { db } = world.database;
    const statusOf = async (id: string) =>
      (await db.selectFrom("generations").select("status").where("id", "=", id).executeTakeFirst())?.status;
    const openHolds = async () => (await db.selectFrom("holds").select("id").where("state", "=", "open").execute()).length;
    await expect.poll(() => statusOf(sound)).toBe("failed");
    await expect.poll(openHolds).toBe(0);
    expect(await statusOf(broken)).toBe("streaming");
  } finally {
    await schedules.stop();
  }
});

it("a deleted account whose time is over is erased, and the worker stops in the middle of one that is large", async () => {
  const { db } = world.database;
  const [small, large, waits] = [await createUser(db, { credits: 1 }), await createUser(db), await createUser(db)];
  const deleteAt = (userId: string, ms: number) =>
    db
      .updateTable("users")
      .set({ delete_at: addMilliseconds(new Date(), ms) })
      .where("id", "=", userId)
      .execute();
  await sql`with conversation as (insert into conversations (user_id, title, created_at, updated_at) values (${large.userId}, 'long', now(), now())
      returning id)
    insert into messages (conversation_id, role, content, created_at) select id, 'user', 'words', now() from conversation, generate_series(1, 1000)`.execute(
    db,
  );
  // Each batch takes so long that the worker is stopped before the last one.
  await world.database.asOwner(
    "create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.05); return null; end'",
    "create trigger slow after delete on messages for each statement execute function slow()",
  );
  await deleteAt(small.userId, -minuteMs);
  await deleteAt(large.userId, -1_000);
  await deleteAt(waits.userId, minuteMs);
  const left = async (userId: string) => (await db.selectFrom("users").select("id").where("id", "=", userId).execute()).length;
  const messages = async () => (await db.selectFrom("messages").select("id").execute()).length;
  const schedules = startSchedules(world.deps);
  await expect.poll(() => left(small.userId)).toBe(0);
  await expect.poll(messages).toBeLessThan(1_000);
  await schedules.stop();
  expect([await left(large.userId), await left(waits.userId)]).toEqual([1, 1]);
  expect(await db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
  await world.database.asOwner("drop trigger slow on messages");
  const next = startSchedules(world.deps);
  try {
    await expect.poll(() => left(large.userId), { timeout: 30_000 }).toBe(0);
    expect(await left(waits.userId)).toBe(1);
    expect(await findDisagreements(db)).toEqual([]);
  } finally {
    await next.stop();
  }
});

/** Makes the wallets' balances wrong by `by`, so that the database refuses every later posting to them. */
async function tamper(walletIds: readonly string[], by: number): Promise<void> {
  const owner = new pg.Client({ connectionString: world.database.ownerUrl });
  await owner.connect();
  await owner.query("begin; alter table wallets disable trigger wallets_agree");
  await owner.query("update wallets set balance = balance + $2 where id = any ($1)", [walletIds, by]);
  await owner.query("alter table wallets enable trigger wallets_agree; commit");
  await owner.end();
}

/** A person with 10 adjustment credits, one of them held, and 5 plan credits; hold and plan credits are due at `dueAt`. */
async function overdue(dueAt: Date) {
  const { db } = world.database;
  const { userId, walletId } = await createUser(db, { credits: 10 });
  const before = addMilliseconds(dueAt, -minuteMs);
  const grant = { payerId: await payerIdOf(db, userId), kind: "plan", credits: 5, expiresAt: dueAt, key: `due:${userId}` } as const;
  await inTransaction(db, (trx) => postGrant(trx, grant, before));
  await holdCredits(db, {
    holdId: randomUUID(),
    walletId,
    credits: 1,
    kinds: ["adjustment"],
    now: before,
    deadline: dueAt,
    wallNow: before,
  });
  return walletId;
}

it("a row that can't be written blocks neither other rows nor the sandbox's clock, and is tried again", async () => {
  const { db } = world.database;
  const dueAt = addMilliseconds(new Date(), -minuteMs);
  const broken = await overdue(addMilliseconds(dueAt, -minuteMs));
  const sound = await overdue(dueAt);
  await tamper([broken], 1);
  const schedules = startSchedules(world.deps);
  try {
    const balances = () => db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", sound).executeTakeFirst();
    await expect.poll(balances).toEqual({ balance: 10, held: 0 });
    const setAside = async () =>
      (await db.selectFrom("sweep_failures").select("sweep").orderBy("sweep").execute()).map(({ sweep }) => sweep);
    await expect.poll(setAside).toEqual(["expired-grants", "overdue-holds"]);
    // The failed row must not keep the sandbox's clock waiting.
    expect((await dueInstants(db))["expired-grants"]?.getTime()).toBeGreaterThan(Date.now());
    // Once the row is repaired, the next try succeeds.
    await tamper([broken], -1);
    await db.updateTable("sweep_failures").set({ retry_at: new Date() }).execute();
    await expect.poll(setAside).toEqual([]);
    expect(await findDisagreements(db)).toEqual([]);
  } finally {
    await schedules.stop();
  }
});

describe("with a Stripe that accepts connections and never answers", () => {
  let stripe: SilentServer;
  let schedules: Schedules;

  beforeEach(async () => {
    stripe = await startSilentServer();
    await world.close();
    world = await createWorkerWorld({ variables: { STRIPE_API_URL: `http://127.0.0.1:${stripe.port}` } });
    world.deps.payments = patientPayments(world.deps.config.stripe);
  });
  afterEach(async () => {
    await stripe.close();
    await schedules.stop();
  });

  it("answers end, holds are released and credits expire; the sweep that waits for Stripe renews its lease and stops on request", async () => {
    const { db } = world.database;
    const id = await orphan('id: 1\nevent: delta\ndata: {"text":"so far"}\n\n', minuteMs);
    const walletId = await overdue(addMilliseconds(new Date(), -minuteMs));
    schedules = startSchedules(world.deps);
    await expect.poll(() => stripe.taken()).toBeGreaterThan(0);
    const leasedUntil = async () =>
      (await db.selectFrom("schedules").select("leased_until").where("name", "=", "reconcile").executeTakeFirst())?.leased_until?.getTime();
    const firstLease = (await leasedUntil()) ?? 0;
    const state = async () => {
      const answer = await db.selectFrom("generations").select("status").where("id", "=", id).executeTakeFirst();
      const wallet = await db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", walletId).executeTakeFirst();
      return { ...answer, ...wallet };
    };
    await expect.poll(state).toEqual({ status: "failed", balance: 10, held: 0 });
    await expect.poll(leasedUntil).toBeGreaterThan(firstLease);
    await schedules.stop(200);
  });

  it("credits expire on while the mails about yearly renewals wait for it", async () => {
    const { db } = world.database;
    const yearly = await createUser(db);
    await subscribe(db, yearly.userId, "starter");
    const endsAt = addMilliseconds(new Date(), dayMs);
    await db
      .updateTable("user_subscriptions")
      .set({ billing_interval: "year", current_period_end: endsAt })
      .where("user_id", "=", yearly.userId)
      .execute();
    schedules = startSchedules(world.deps);
    // Reconciliation, and what will be charged for the year.
    await expect.poll(() => stripe.taken()).toBeGreaterThan(1);
    await expect.poll(async () => (await dueInstants(db))["expired-grants"]).toBeNull();
    const { userId, walletId } = await createUser(db);
    const grant = { payerId: await payerIdOf(db, userId), kind: "adjustment", credits: 5, key: `test:${userId}` } as const;
    await inTransaction(db, (trx) => postGrant(trx, { ...grant, expiresAt: addMilliseconds(new Date(), 200) }, new Date()));
    const balance = async () => (await db.selectFrom("wallets").select("balance").where("id", "=", walletId).executeTakeFirst())?.balance;
    await expect.poll(balance).toBe(0);
    await schedules.stop(200);
  });
});
