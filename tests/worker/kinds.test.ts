/** Each kind of job has its own slots, so that a provider that hangs delays only its own jobs. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { apiConnectionsNeeded } from "#server/config.ts";
import type { JobName } from "#server/queue/jobs.ts";
import { connectionsNeeded } from "../../worker/slots.ts";
import { testEnvironment } from "../support/deps.ts";
import { createUser } from "../support/people.ts";
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

async function blockedStatements({ database }: WorkerWorld): Promise<string[]> {
  const { rows } = await database.pool.query<{ query: string }>(
    "select query from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0",
  );
  return rows.map(({ query }) => query);
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

it("a file is deleted while the file of an export is being made", async () => {
  const here = await start("PostgreSQL", {});
  const { db } = here.database;
  const { userId } = await createUser(db);
  const { id: exportId } = await db
    .insertInto("data_exports")
    .values({ user_id: userId, status: "making", asked_at: new Date(), file_name: randomUUID() })
    .returning("id")
    .executeTakeFirstOrThrow();
  const job = async (name: JobName, payload: object) => {
    const row = { job: name, payload: JSON.stringify(payload), published_at: null };
    return (await db.insertInto("outbox").values(row).returning("id").executeTakeFirstOrThrow()).id;
  };
  const waiting = async () => (await db.selectFrom("outbox").select("id").execute()).map(({ id }) => id);
  const locked = await here.database.pool.connect();
  try {
    await locked.query("begin");
    await locked.query("select from data_exports where id = $1 for update", [exportId]);
    const long = await job("make-export", { exportId });
    here.startWorker();
    await expect.poll(async () => (await blockedStatements(here)).join()).toContain("data_exports");
    const short = await job("delete-file", { name: randomUUID() });
    await expect.poll(waiting).not.toContain(short);
    expect(await waiting()).toContain(long);
  } finally {
    await locked.query("rollback");
    locked.release();
  }
});

it("a sweep goes on while another waits for a lock", async () => {
  const here = await start("PostgreSQL", {});
  const owner = new pg.Client({ connectionString: here.database.ownerUrl });
  await owner.connect();
  try {
    // The first of the sweeps of every hour waits, and so the others would have to.
    await owner.query("begin; lock table avatars in access exclusive mode");
    await here.database.db.updateTable("ledger_checks").set({ reached: randomUUID() }).where("name", "=", "round").execute();
    here.startWorker();
    await expect.poll(async () => (await blockedStatements(here)).join()).toContain("avatars");
    const mark = () => here.database.db.selectFrom("ledger_checks").select("reached").where("name", "=", "round").executeTakeFirst();
    await expect.poll(mark).toEqual({ reached: "00000000-0000-0000-0000-000000000000" });
  } finally {
    await owner.query("rollback");
    await owner.end();
  }
});

it.each([
  ["worker", "worker/main.ts", connectionsNeeded],
  ["api", "server/main.ts", apiConnectionsNeeded],
] as const)(
  "a process whose connection pool is too small for its concurrent work reports that in one line and does not start: %s",
  async (name, entry, needed) => {
    const database = await createTestDatabase();
    const size = String(needed - 1);
    const part = new Part(name, entry, { PATH: process.env.PATH, ...testEnvironment(database, { DATABASE_POOL_SIZE: size }) });
    await expect(part.start()).rejects.toThrow();
    expect(await part.ended()).toBe("exit code 1");
    expect(part.output.trim().split("\n")).toEqual([expect.stringMatching(new RegExp(`^DATABASE_POOL_SIZE=${size} .*${needed}`))]);
    await database.drop();
  },
);
