import { afterEach, expect, it } from "vitest";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { Part } from "../support/scale.ts";
import type { SilentServer } from "../support/silent-server.ts";
import { startSilentServer } from "../support/silent-server.ts";

let database: TestDatabase | undefined;
let worker: Part | undefined;
let stripe: SilentServer | undefined;

afterEach(async () => {
  await worker?.stop("SIGKILL");
  await stripe?.close();
  await database?.drop();
});

it("a worker that is told to stop cuts its calls to a silent Stripe off, puts the job back and ends in order", async () => {
  database = await createTestDatabase();
  const { db } = database;
  const event = { type: "customer.subscription.created", livemode: false, payload: "{}", status: "received", processed_at: null } as const;
  await db
    .insertInto("stripe_events")
    .values({ ...event, id: "evt_1", object_id: "sub_1" })
    .execute();
  await db
    .insertInto("outbox")
    .values({ job: "process-stripe-event", payload: JSON.stringify({ eventId: "evt_1" }), published_at: null })
    .execute();
  const silent = await startSilentServer();
  stripe = silent;
  worker = new Part("worker", "worker/main.ts", {
    PATH: process.env.PATH,
    DATABASE_URL: database.applicationUrl,
    SECRET_KEY: "0123456789abcdef0123456789abcdef",
    STRIPE_SECRET_KEY: "sk_test_unused",
    STRIPE_WEBHOOK_SECRET: "whsec_unused",
    STRIPE_API_URL: `http://127.0.0.1:${silent.port}`,
    SMTP_URL: "smtp://127.0.0.1:1",
  });
  await worker.start();
  // Reconciliation has connected to Stripe, and so has the job.
  await expect.poll(() => silent.taken()).toBeGreaterThan(1);
  expect(await worker.stop("SIGTERM")).toBe("exit code 0");
  expect(await db.selectFrom("outbox").select(["job", "failures"]).execute()).toEqual([{ job: "process-stripe-event", failures: 0 }]);
});
