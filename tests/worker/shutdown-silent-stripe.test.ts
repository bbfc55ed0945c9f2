import type { Socket } from "node:net";
import { createServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";
import { Part } from "../support/scale.ts";

let database: TestDatabase | undefined;
let worker: Part | undefined;
const sockets: Socket[] = [];
/** Takes connections and never says a word. */
const silent = createServer((socket) => {
  sockets.push(socket);
  socket.on("error", () => {});
});

afterEach(async () => {
  await worker?.stop("SIGKILL");
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  await database?.drop();
});

it("a worker asked to end exits by its deadline though Stripe does not answer", async () => {
  database = await createTestDatabase();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const port = typeof address === "object" && address ? address.port : 0;
  worker = new Part("worker", "worker/main.ts", {
    PATH: process.env.PATH,
    DATABASE_URL: database.applicationUrl,
    SECRET_KEY: "0123456789abcdef0123456789abcdef",
    STRIPE_SECRET_KEY: "sk_test_unused",
    STRIPE_WEBHOOK_SECRET: "whsec_unused",
    STRIPE_API_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: "smtp://127.0.0.1:1",
  });
  await worker.start();
  // Reconciliation has asked.
  await expect.poll(() => sockets.length, { timeout: 15_000 }).toBeGreaterThan(0);
  const startedAt = performance.now();
  await worker.stop("SIGTERM");
  expect(performance.now() - startedAt).toBeLessThan(15_000);
}, 90_000);
