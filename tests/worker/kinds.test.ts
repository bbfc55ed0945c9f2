/** Each kind of job has its own slots, so that a provider that hangs delays only its own jobs. */
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { connectionsNeeded } from "../../worker/slots.ts";
import { testEnvironment } from "../support/deps.ts";
import { createTestDatabase } from "../support/postgres.ts";
import type { TestRedis } from "../support/redis.ts";
import { startRedis } from "../support/redis.ts";
import { Part } from "../support/scale.ts";
import type { SilentServer } from "../support/silent-server.ts";
import { patientPayments, startSilentServer } from "../support/silent-server.ts";
import type { WorkerWorld } from "../support/worker-world.ts";
import { createWorkerWorld } from "../support/worker-world.ts";

let world: WorkerWorld | undefined;
let redis: TestRedis | undefined;
let silent: SilentServer | undefined;
afterEach(async () => {
  // First, so that no job waits for it while the worker closes.
  await silent?.close();
  await world?.close();
  await redis?.stop();
  world = redis = silent = undefined;
});

async function start(backend: "PostgreSQL" | "Redis", variables: NodeJS.ProcessEnv): Promise<WorkerWorld> {
  redis = backend === "Redis" ? await startRedis() : undefined;
  world = await createWorkerWorld({ ...(redis ? { redisUrl: redis.url } : {}), variables });
  return world;
}

/** Inserts purchase events, each with its job, as the webhook does. */
async function queueEvents({ database: { db } }: WorkerWorld, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => ({ id: `evt_${randomUUID()}`, objectId: `sub_${randomUUID()}` }));
  const event = { type: "customer.subscription.created", livemode: false, payload: "{}", status: "received", processed_at: null } as const;
  await db
    .insertInto("stripe_events")
    .values(events.map(({ id, objectId }) => ({ ...event, id, object_id: objectId })))
    .execute();
  const jobs = events.map(({ id }) => ({ job: "process-stripe-event", payload: JSON.stringify({ eventId: id }), published_at: null }));
  await db.insertInto("outbox").values(jobs).execute();
}

describe.each(["PostgreSQL", "Redis"] as const)("with the queue on %s", (backend) => {
  it("a mail goes out while 40 purchases wait for a Stripe that never answers", async () => {
    silent = await startSilentServer();
    const { taken } = silent;
    const here = await start(backend, { STRIPE_API_URL: `http://127.0.0.1:${silent.port}` });
    here.deps.payments = patientPayments(here.deps.config.stripe);
    await queueEvents(here, 40);
    here.startWorker();
    // Reconciliation connects to Stripe as well.
    await expect.poll(taken).toBeGreaterThan(2);
    for (let count = 0; count < 3; count += 1) {
      const recipient = await here.queueOne();
      await expect.poll(() => here.delivered).toContain(recipient);
    }
  });
});

it("a worker whose connection pool is too small for its concurrent work reports that in one line and does not start", async () => {
  const database = await createTestDatabase();
  const size = String(connectionsNeeded - 1);
  const worker = new Part("worker", "worker/main.ts", {
    PATH: process.env.PATH,
    ...testEnvironment(database, { DATABASE_POOL_SIZE: size }),
  });
  await expect(worker.start()).rejects.toThrow();
  expect(await worker.ended()).toBe("exit code 1");
  expect(worker.output.trim().split("\n")).toEqual([
    expect.stringMatching(new RegExp(`^DATABASE_POOL_SIZE=${size} .*${connectionsNeeded}`)),
  ]);
  await database.drop();
});
