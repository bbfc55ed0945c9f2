/** Liveness, readiness and metrics. Without queue or files a process is `degraded` but ready; without the database it is not ready. */
import type pg from "pg";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Db } from "../db/database.ts";
import type { App } from "./app-type.ts";
import type { Draining } from "./draining.ts";
import type { LiveEvents } from "./live-events.ts";
import { sendNotFound } from "./problem.ts";

const readinessTimeoutMs = 1_800;
/** Counting more at every scrape would take long. */
const mostCountedJobs = 100_000;

async function answersWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timeout = new Promise<boolean>((resolve) => setTimeout(resolve, timeoutMs, false).unref());
  return Promise.race([
    work.then(
      () => true,
      () => false,
    ),
    timeout,
  ]);
}

interface HealthDeps {
  db: Db;
  pool: pg.Pool;
  live: LiveEvents;
  storage: { check(): Promise<void> };
}

export async function registerHealth(app: App, deps: HealthDeps, draining: Draining): Promise<void> {
  const registry = new Registry();
  // Its default of 10 ms wakes a process that has nothing to do a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer a request",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  new Gauge({
    name: "outbox_rows",
    help: `Jobs enqueued and not done yet, counted up to ${mostCountedJobs}`,
    registers: [registry],
    async collect() {
      const counted = await deps.db
        .selectFrom((select) => select.selectFrom("outbox").select("id").limit(mostCountedJobs).as("some"))
        .select((select) => select.fn.countAll<number>().as("rows"))
        .executeTakeFirst();
      this.set(counted?.rows ?? 0);
    },
  });
  app.addHook("onResponse", async (request, reply) => {
    durations.observe(
      { method: request.method, route: request.routeOptions.url ?? "none", status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
  });
  app.get("/healthz", { schema: { hide: true }, config: { rateLimit: false } }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema: { hide: true }, config: { rateLimit: false } }, async (_request, reply) => {
    const [database, queue, storage] = await Promise.all([
      answersWithin(deps.pool.query("select 1"), readinessTimeoutMs),
      answersWithin(deps.live.ping(), readinessTimeoutMs),
      answersWithin(deps.storage.check(), readinessTimeoutMs),
    ]);
    if (draining.begun) return reply.code(503).send({ status: "draining", database, queue, storage });
    const status = database ? (queue && storage ? "ok" : "degraded") : "unavailable";
    return reply.code(database ? 200 : 503).send({ status, database, queue, storage });
  });
  app.get("/metrics", { schema: { hide: true }, config: { rateLimit: false } }, async (request, reply) => {
    // Only for a scraper on the same host or in the same network namespace. Requests through a proxy have a forwarded header.
    const local = ["127.0.0.1", "::1", "::ffff:127.0.0.1"].includes(request.socket.remoteAddress ?? "");
    if (!local || request.headers["x-forwarded-for"] !== undefined) return sendNotFound(reply);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
