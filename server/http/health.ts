/** Liveness, readiness and metrics. A lost queue is degraded and still ready; a lost database is not (decisions.md, "Calls"). */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import type { App } from "./app-type.ts";
import { sendNotFound } from "./problem.ts";

const readinessTimeoutMs = 2_000;

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

export async function registerHealth(app: App, deps: Deps): Promise<void> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time to answer a request",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  new Gauge({
    name: "outbox_rows",
    help: "Jobs written and not done",
    registers: [registry],
    async collect() {
      const row = await deps.db
        .selectFrom("outbox")
        .select((select) => select.fn.countAll<number>().as("rows"))
        .executeTakeFirst();
      this.set(row?.rows ?? 0);
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
    const database = await answersWithin(deps.pool.query("select 1"), readinessTimeoutMs);
    const queue = deps.live.connected();
    const status = database ? (queue ? "ok" : "degraded") : "unavailable";
    return reply.code(database ? 200 : 503).send({ status, database, queue });
  });
  app.get("/metrics", { schema: { hide: true }, config: { rateLimit: false } }, async (request, reply) => {
    // For a scraper on the same host or network namespace only: a proxy in front adds a forwarded header.
    const local = ["127.0.0.1", "::1", "::ffff:127.0.0.1"].includes(request.socket.remoteAddress ?? "");
    if (!local || request.headers["x-forwarded-for"] !== undefined) return sendNotFound(reply);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
