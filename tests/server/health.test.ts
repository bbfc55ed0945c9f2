import pg from "pg";
import { afterEach, expect, it } from "vitest";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import type { TestRedis } from "#tests/support/redis.ts";
import { startRedis } from "#tests/support/redis.ts";

let world: ApiWorld | undefined;
let redis: TestRedis | undefined;
afterEach(async () => {
  await world?.close();
  await redis?.stop();
  world = undefined;
  redis = undefined;
});

const ready = async () => {
  const answer = await world?.app.inject({ url: "/readyz" });
  return { code: answer?.statusCode, ...(answer?.json() as object) };
};

it("without the queue the API is degraded and still ready; without the database it is not ready", async () => {
  redis = await startRedis();
  world = await startApiWorld({ REDIS_URL: redis.url });
  await expect.poll(ready).toEqual({ code: 200, status: "ok", database: true, queue: true, storage: true });
  await redis.stop();
  redis = undefined;
  await expect.poll(ready).toEqual({ code: 200, status: "degraded", database: true, queue: false, storage: true });
  await world.database.drop();
  await expect.poll(ready).toMatchObject({ code: 503, status: "unavailable", database: false });
  expect((await world.app.inject({ url: "/healthz" })).statusCode).toBe(200);
});

it("a PostgreSQL without a free connection gives a 503 with Retry-After, not a 500", async () => {
  world = await startApiWorld();
  const { headers } = await world.person();
  const owner = new pg.Client({ connectionString: world.database.ownerUrl });
  await owner.connect();
  await owner.query(`alter database ${owner.escapeIdentifier(owner.database ?? "")} connection limit 0`);
  await owner.end();
  // What the process has open already answers others.
  const { pool } = world.deps;
  const taken = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
  const answer = await world.app.inject({ url: "/api/account", headers });
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ status: 503, code: "service_unavailable" });
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  expect(await ready()).toMatchObject({ code: 503, status: "unavailable", database: false });
  for (const client of taken) client.release();
});

it("metrics are served to the same machine only, never through the proxy", async () => {
  world = await startApiWorld();
  const local = await world.app.inject({ url: "/metrics" });
  expect(local.statusCode).toBe(200);
  expect(local.body).toContain("http_request_duration_seconds");
  expect(local.body).toContain("outbox_rows 0");
  expect((await world.app.inject({ url: "/metrics", headers: { "x-forwarded-for": "203.0.113.5" } })).statusCode).toBe(404);
  expect((await world.app.inject({ url: "/metrics", remoteAddress: "203.0.113.5" })).statusCode).toBe(404);
});
