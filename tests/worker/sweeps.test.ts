import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import { holdCredits } from "#server/features/credits/service.ts";
import { startSchedules } from "../../worker/schedules.ts";
import { createUser } from "../support/people.ts";
import type { WorkerWorld } from "../support/worker-world.ts";
import { createWorkerWorld } from "../support/worker-world.ts";

let world: WorkerWorld;

beforeEach(async () => {
  world = await createWorkerWorld();
});
afterEach(() => world.close());

/** An answer whose process is gone, and whose hold is past its deadline. Returns its id. */
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
      conversation_id: null,
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

it("an answer whose log can't be read keeps neither the ends of others nor any hold", async () => {
  const broken = await orphan('id: 1\nevent: delta\ndata: {"text": \n\n', 2 * minuteMs);
  const sound = await orphan('id: 1\nevent: delta\ndata: {"text":"so far"}\n\n', minuteMs);
  const schedules = startSchedules(world.deps);
  try {
    const { db } = world.database;
    const statusOf = async (id: string) =>
      (await db.selectFrom("generations").select("status").where("id", "=", id).executeTakeFirst())?.status;
    const openHolds = async () => (await db.selectFrom("holds").select("id").where("state", "=", "open").execute()).length;
    await expect.poll(() => statusOf(sound), { timeout: 10_000 }).toBe("failed");
    await expect.poll(openHolds, { timeout: 10_000 }).toBe(0);
    expect(await statusOf(broken)).toBe("streaming");
  } finally {
    await schedules.stop();
  }
});

it("attempts that no limit looks at any more are dropped; what still counts stays", async () => {
  const { db } = world.database;
  const now = new Date();
  const old = addMilliseconds(now, -61 * minuteMs);
  await db
    .insertInto("auth_attempts")
    .values([
      { key: "email:old@example.com", failures: 3, window_started_at: old, blocked_until: null },
      { key: "contact-mail:past@example.com", failures: 5, window_started_at: old, blocked_until: addMilliseconds(now, -minuteMs) },
      { key: "email:blocked@example.com", failures: 12, window_started_at: old, blocked_until: addMilliseconds(now, 10 * minuteMs) },
      { key: "email:recent@example.com", failures: 4, window_started_at: addMilliseconds(now, -59 * minuteMs), blocked_until: null },
    ])
    .execute();
  const schedules = startSchedules(world.deps);
  try {
    const keys = async () => (await db.selectFrom("auth_attempts").select("key").orderBy("key").execute()).map(({ key }) => key);
    await expect.poll(keys).toEqual(["email:blocked@example.com", "email:recent@example.com"]);
  } finally {
    await schedules.stop();
  }
});
