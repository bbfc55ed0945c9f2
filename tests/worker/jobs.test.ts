import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { buildApp } from "#server/app.ts";
import { replayDeadLetter } from "#server/queue/replay.ts";
import { deliver } from "#tests/support/billing-world.ts";
import { full } from "#tests/support/full.ts";
import type { TestRedis } from "#tests/support/redis.ts";
import { startRedis } from "#tests/support/redis.ts";
import type { WorkerWorld } from "#tests/support/worker-world.ts";
import { createWorkerWorld } from "#tests/support/worker-world.ts";

let world: WorkerWorld | undefined;
let redis: TestRedis | undefined;
afterEach(async () => {
  await world?.close();
  await redis?.stop();
  world = undefined;
  redis = undefined;
});

async function create(backend: "PostgreSQL" | "Redis"): Promise<WorkerWorld> {
  redis = backend === "Redis" ? await startRedis() : undefined;
  world = await createWorkerWorld(redis ? { redisUrl: redis.url } : {});
  return world;
}

const jobsLeft = async ({ database }: WorkerWorld) => (await database.db.selectFrom("outbox").select("id").execute()).length;

describe.each(["PostgreSQL", "Redis"] as const)("jobs on %s", (backend) => {
  it("each runs exactly once with three workers", async () => {
    const { startWorker, queueOne, delivered } = await create(backend);
    const recipients = await Promise.all(Array.from({ length: 30 }, queueOne));
    for (let count = 0; count < 3; count += 1) startWorker();
    await expect.poll(() => delivered.length).toBe(30);
    expect([...delivered].sort()).toEqual([...recipients].sort());
    if (world) await expect.poll(() => world && jobsLeft(world)).toBe(0);
    expect(delivered).toHaveLength(30);
  });

  it("a job that always fails becomes a dead letter, other jobs still run, and a replay runs it again", async () => {
    const { deps, startWorker, queueOne, delivered } = await create(backend);
    const id = randomUUID();
    await deps.db
      .insertInto("outbox")
      .values({ id, job: "send-mail", payload: JSON.stringify({ mailId: "not a uuid" }), published_at: null })
      .execute();
    await deps.db.insertInto("outbox").values({ job: "no-such-job", payload: "{}", published_at: null }).execute();
    const recipient = await queueOne();
    startWorker();
    await expect.poll(() => delivered).toEqual([recipient]);
    await expect.poll(() => world && jobsLeft(world)).toBe(0);
    const letters = await deps.db.selectFrom("dead_letters").select(["job", "error"]).orderBy("job").execute();
    expect(letters.map((letter) => letter.job)).toEqual(["no-such-job", "send-mail"]);
    expect(letters[1]?.error).toContain("does not fit its schema");

    const mail = await deps.db.selectFrom("mails").select("id").executeTakeFirstOrThrow();
    await deps.db.updateTable("mails").set({ sent_at: null }).where("id", "=", mail.id).execute();
    await deps.db
      .updateTable("dead_letters")
      .set({ payload: JSON.stringify({ mailId: mail.id }) })
      .where("id", "=", id)
      .execute();
    expect(await replayDeadLetter(deps.db, id)).toBe(true);
    expect(await replayDeadLetter(deps.db, id)).toBe(false);
    await expect.poll(() => delivered.length).toBe(2);
  });

  it("a mail job waits while the mail server is away and then runs; it never becomes a dead letter", async () => {
    const { deps, startWorker, queueOne, delivered, refuseWith } = await create(backend);
    refuseWith({ code: 451, message: "try again later" });
    const recipient = await queueOne();
    startWorker();
    await expect
      .poll(async () => (await deps.db.selectFrom("outbox").select("publications").executeTakeFirst())?.publications ?? 0)
      .toBeGreaterThan(1);
    refuseWith(undefined);
    await expect.poll(() => delivered).toEqual([recipient]);
    expect(await deps.db.selectFrom("dead_letters").select("id").execute()).toEqual([]);
  });

  it("a mail whose recipient is refused for good becomes a dead letter at once", async () => {
    const { deps, startWorker, queueOne, refuseWith } = await create(backend);
    refuseWith({ code: 550, message: "no such mailbox" });
    await queueOne();
    startWorker();
    await expect.poll(async () => (await deps.db.selectFrom("dead_letters").select("attempts").execute()).length).toBe(1);
  });
});

describe("a lost queue", () => {
  it("jobs that Redis has lost are published again and run", async () => {
    const { deps, startWorker, queueOne, delivered } = await create("Redis");
    await queueOne();
    // Pretend that the job was published and Redis lost it: the row says when to publish it again.
    await deps.db
      .updateTable("outbox")
      .set({ published_at: new Date(), publications: 1, redrive_at: new Date(Date.now() + 1_500) })
      .execute();
    startWorker();
    await expect.poll(() => delivered.length).toBe(1);
  });

  it("jobs queued while Redis is away at a worker's start run when Redis comes", async () => {
    const first = await startRedis();
    const { port } = first;
    await first.stop();
    world = await createWorkerWorld({ redisUrl: `redis://127.0.0.1:${port}` });
    world.startWorker();
    const recipient = await world.queueOne();
    await expect.poll(() => world && jobsLeft(world)).toBe(1);
    redis = await startRedis(port);
    await expect.poll(() => world?.delivered).toEqual([recipient]);
  });
});

it("Stripe's events are accepted within a second while Redis is away, at an API's start and for a minute, and processed when it comes", async () => {
  const first = await startRedis();
  const { port } = first;
  await first.stop();
  const own = await createWorkerWorld({ redisUrl: `redis://127.0.0.1:${port}` });
  world = own;
  const { db } = own.database;
  const app = await buildApp(own.deps);
  const send = async () => {
    const event = { id: `evt_${randomUUID()}`, object: "event", type: "charge.updated", livemode: false, created: 1, data: { object: {} } };
    const { statusCode } = await deliver({ app, deps: own.deps }, JSON.stringify(event));
    const answeredAtMs = Date.now();
    const { received_at } = await db.selectFrom("stripe_events").select("received_at").where("id", "=", event.id).executeTakeFirstOrThrow();
    expect([statusCode, answeredAtMs - received_at.getTime() < 1_000]).toEqual([200, true]);
  };
  try {
    own.startWorker();
    const until = performance.now() + (full ? 60_000 : 1_500);
    do {
      await send();
      await delay(full ? 500 : 100);
    } while (performance.now() < until);
    expect(await jobsLeft(own)).toBeGreaterThan(0);
    redis = await startRedis(port);
    await send();
    await expect.poll(() => jobsLeft(own), { timeout: 30_000 }).toBe(0);
    expect(await db.selectFrom("stripe_events").select("id").where("status", "=", "received").execute()).toEqual([]);
  } finally {
    await app.close();
  }
}, 120_000);

describe.concurrent("PostgreSQL lost while a job runs", () => {
  it.for(["PostgreSQL", "Redis"] as const)(
    "with the queue on %s: a job whose result could not be saved is due again within 30 s and runs",
    async (backend, { onTestFinished, expect }) => {
      const own = backend === "Redis" ? await startRedis() : undefined;
      const { way, database, delivered, queueOne, startWorker, onArrival, close } = await createWorkerWorld({
        cuttable: true,
        ...(own ? { redisUrl: own.url } : {}),
      });
      onTestFinished(async () => {
        await close();
        await own?.stop();
      });
      let cut = false;
      onArrival(async () => {
        if (cut) return;
        cut = true;
        await way?.cut();
      });
      const recipient = await queueOne();
      startWorker();
      await expect.poll(() => cut).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const { redrive_at } = await database.db.selectFrom("outbox").select("redrive_at").executeTakeFirstOrThrow();
      expect(Number(redrive_at) - Date.now()).toBeLessThan(30_000);
      await way?.mend();
      await expect.poll(async () => (await database.db.selectFrom("outbox").select("id").execute()).length).toBe(0);
      expect(new Set(delivered)).toEqual(new Set([recipient]));
      expect(await database.db.selectFrom("dead_letters").select("id").execute()).toEqual([]);
    },
  );
});
