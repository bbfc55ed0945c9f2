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

it("a worker exits within its deadline on SIGTERM although Stripe does not answer", async () => {
  database = await createTestDatabase();
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
  // Reconciliation has connected to Stripe.
  await expect.poll(() => silent.taken(), { timeout: 15_000 }).toBeGreaterThan(0);
  const startedAt = performance.now();
  await worker.stop("SIGTERM");
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});
