import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createPool } from "#server/db/database.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import type { ApiWorld } from "../support/billing-world.ts";
import { deliver, startApiWorld } from "../support/billing-world.ts";
import { testWebhookSecret } from "../support/deps.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const previousSecret = "whsec_the-one-before";
let world: ApiWorld;

beforeAll(async () => {
  world = await startApiWorld({ STRIPE_WEBHOOK_SECRET_PREVIOUS: previousSecret });
});
afterAll(() => world.close());

function eventBody(changes: Record<string, unknown> = {}): { id: string; body: string } {
  const id = `evt_${randomUUID().replaceAll("-", "")}`;
  const event = {
    id,
    object: "event",
    type: "customer.created",
    livemode: false,
    created: 1_800_000_000,
    data: { object: { id: "cus_1" } },
  };
  return { id, body: JSON.stringify({ ...event, ...changes }, null, 2) };
}

async function rowOf(id: string) {
  return world.database.db.selectFrom("stripe_events").selectAll().where("id", "=", id).executeTakeFirst();
}

async function jobsOf(id: string): Promise<number> {
  const rows = await world.database.db.selectFrom("outbox").select("payload").where("job", "=", "process-stripe-event").execute();
  return rows.filter((row) => (row.payload as { eventId: string }).eventId === id).length;
}

const wallSeconds = () => Math.floor(Date.now() / 1000);

describe("a webhook is accepted", () => {
  test("with 200, and recorded with its job", async () => {
    const { id, body } = eventBody();
    const response = await deliver(world, body);
    expect([response.statusCode, response.json()]).toEqual([200, { received: true }]);
    expect(await rowOf(id)).toMatchObject({ type: "customer.created", object_id: "cus_1", status: "received", livemode: false });
    expect(await jobsOf(id)).toBe(1);
  });

  test("and recorded with the time at which Stripe created it, or without one if that is missing or invalid", async () => {
    const instants: [unknown, Date | null][] = [
      [1_770_000_000, new Date(1_770_000_000_000)],
      [0, new Date(0)],
      ...[-1, 1e300, 1.5, "1770000000", null, undefined].map((none): [unknown, null] => [none, null]),
    ];
    for (const [created, expected] of instants) {
      const { id, body } = eventBody({ created });
      expect((await deliver(world, body)).statusCode, String(created)).toBe(200);
      expect((await rowOf(id))?.created_at, String(created)).toEqual(expected);
    }
  });

  test("ten times at once with ten 200s, one row and one job", async () => {
    const { id, body } = eventBody();
    const responses = await Promise.all(Array.from({ length: 10 }, () => deliver(world, body)));
    expect(responses.map((response) => response.statusCode)).toEqual(Array(10).fill(200));
    expect(await jobsOf(id)).toBe(1);
  });

  test("among many at once, and each is recorded once", async () => {
    const events = Array.from({ length: 100 }, () => eventBody());
    const responses = await Promise.all([...events, ...events].map(({ body }) => deliver(world, body)));
    expect(new Set(responses.map((response) => response.statusCode))).toEqual(new Set([200]));
    for (const { id } of events) expect(await rowOf(id)).toBeDefined();
    const jobs = await world.database.db.selectFrom("outbox").select("payload").execute();
    const named = jobs.map((row) => (row.payload as { eventId: string }).eventId);
    expect(events.filter(({ id }) => named.filter((each) => each === id).length === 1)).toHaveLength(100);
  });

  test("although PostgreSQL refuses another one at the same time", async () => {
    const refused = eventBody({ number: 0 });
    const bodies = [eventBody(), { ...refused, body: refused.body.replace('"number": 0', '"number": 1e999999') }, eventBody(), eventBody()];
    const responses = await Promise.all(bodies.map(({ body }) => deliver(world, body)));
    expect(responses.map((response) => response.statusCode)).toEqual([200, 500, 200, 200]);
  });

  test.each([
    ["the new", testWebhookSecret],
    ["the previous", previousSecret],
  ])("signed with %s secret while rotating", async (_name, secret) => {
    const { id, body } = eventBody();
    expect((await deliver(world, body, { secret })).statusCode).toBe(200);
    expect(await rowOf(id)).toBeDefined();
  });

  test("signed with both secrets in one header", async () => {
    const { body } = eventBody();
    const timestamp = wallSeconds();
    const make = (secret: string) => world.deps.payments.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
    const header = `${make(previousSecret)},${make("whsec_another").split(",")[1]}`;
    expect((await deliver(world, body, { header })).statusCode).toBe(200);
  });

  test("if it has an unknown type, which is set aside, or no object, which is ignored", async () => {
    for (const [changes, status] of [
      [{ type: "unheard.of.yet" }, "set_aside"],
      [{ type: "invoice.paid", data: null }, "ignored"],
      [{ type: "invoice.upcoming", data: { object: {} } }, "set_aside"],
    ] as const) {
      const { id, body } = eventBody(changes);
      expect((await deliver(world, body)).statusCode).toBe(200);
      await processStripeEvent(world.deps, id);
      expect((await rowOf(id))?.status).toBe(status);
    }
  });

  test("with the wrong livemode, but set aside without a job and never processed", async () => {
    const { id, body } = eventBody({ livemode: true });
    expect((await deliver(world, body)).statusCode).toBe(200);
    expect([(await rowOf(id))?.status, await jobsOf(id)]).toEqual(["set_aside", 0]);
    await processStripeEvent(world.deps, id);
    expect((await rowOf(id))?.status).toBe("set_aside");
  });

  test("if it is as old as the tolerance allows", async () => {
    expect((await deliver(world, eventBody().body, { signedAt: wallSeconds() - 298 })).statusCode).toBe(200);
  });

  test("with text that PostgreSQL can't store, which is replaced", async () => {
    const { id, body } = eventBody({ data: { object: { id: "cus_1", name: "a\u0000b\ud800c", "k\u0000y": 1 } } });
    expect((await deliver(world, body)).statusCode).toBe(200);
    expect((await rowOf(id))?.payload).toMatchObject({ data: { object: { name: "a\ufffdb\ufffdc", "k\ufffdy": 1 } } });
  });

  test("with any content type", async () => {
    expect((await deliver(world, eventBody().body, { contentType: "text/plain" })).statusCode).toBe(200);
  });
});

describe("a webhook is refused and leaves no row", () => {
  async function expectRefused(id: string, response: { statusCode: number; json(): unknown }, code = "invalid_signature", status = 400) {
    expect([response.statusCode, response.json()]).toEqual([status, expect.objectContaining({ code, status })]);
    expect(await rowOf(id)).toBeUndefined();
    expect(await jobsOf(id)).toBe(0);
  }

  test.each([
    ["301 s old", -301],
    ["an hour old", -3600],
    ["10 s from the future", 10],
    ["301 s from the future", 301],
    ["a year from the future", 31_536_000],
  ])("signed %s", async (_name, seconds) => {
    const { id, body } = eventBody();
    await expectRefused(id, await deliver(world, body, { signedAt: wallSeconds() + seconds }));
  });

  test("signed with another secret", async () => {
    const { id, body } = eventBody();
    await expectRefused(id, await deliver(world, body, { secret: "whsec_nobody" }));
  });

  test.each(["", " ", "t=,v1=", "t=abc,v1=00", "v1=00", "t=1,t=2,v1=00", "nonsense", "t=99999999999999999999,v1=00"])(
    "with the header %j",
    async (header) => {
      const { id, body } = eventBody();
      await expectRefused(id, await deliver(world, body, { header }));
    },
  );

  test("without a header", async () => {
    const { id, body } = eventBody();
    const response = await world.app.inject({
      method: "POST",
      url: "/api/stripe/webhook",
      headers: { "content-type": "application/json" },
      payload: body,
    });
    await expectRefused(id, response);
  });

  test("with a re-serialised body", async () => {
    const { id, body } = eventBody();
    const timestamp = wallSeconds();
    const header = world.deps.payments.webhooks.generateTestHeaderString({ payload: body, secret: testWebhookSecret, timestamp });
    await expectRefused(id, await deliver(world, JSON.stringify(JSON.parse(body)), { header }));
  });

  test("without a body", async () => {
    const response = await world.app.inject({
      method: "POST",
      url: "/api/stripe/webhook",
      headers: { "stripe-signature": `t=${wallSeconds()},v1=00` },
    });
    expect([response.statusCode, response.json().code]).toEqual([400, "invalid_signature"]);
  });

  test.each([
    ["{"],
    ["null"],
    ["[]"],
    ['"text"'],
    ["{}"],
    ['{"id":"evt_x","type":"a.b","livemode":"no"}'],
    ['{"id":5,"type":"a.b","livemode":false}'],
  ])("if it is signed but no event: %s", async (body) => {
    const response = await deliver(world, body);
    expect([response.statusCode, response.json().code]).toEqual([400, "invalid_json"]);
  });

  test("with 413 over the limit of 1 MiB", async () => {
    const { id, body } = eventBody({ padding: "x".repeat(1024 * 1024) });
    await expectRefused(id, await deliver(world, body), "body_too_large", 413);
  });
});

test("the product does not start with a blank or missing webhook secret", () => {
  for (const blank of [undefined, "", "  "]) {
    expect(() =>
      readConfig({
        DATABASE_URL: "postgres://x/y",
        SECRET_KEY: "k".repeat(32),
        SMTP_URL: "smtp://x",
        STRIPE_SECRET_KEY: "sk_test_x",
        STRIPE_WEBHOOK_SECRET: blank,
      }),
    ).toThrow(/STRIPE_WEBHOOK_SECRET/);
  }
});

test("a webhook gets a 5xx while PostgreSQL is away, and its redelivery is accepted once", async () => {
  const postgres = new URL(world.database.applicationUrl);
  const proxy = await startTcpProxy({ host: postgres.hostname, port: Number(postgres.port) });
  const { id, body } = eventBody();
  postgres.port = String(proxy.port);
  const pool = createPool(postgres.href, 4, "tessera test behind a proxy");
  const away = { app: await buildApp({ ...world.deps, pool }), deps: world.deps };
  try {
    await proxy.cut();
    const refused = await deliver(away, body);
    expect([refused.statusCode, refused.json().code]).toEqual([503, "service_unavailable"]);
    expect(await rowOf(id)).toBeUndefined();
    await proxy.mend();
    expect((await deliver(away, body)).statusCode).toBe(200);
    expect((await deliver(away, body)).statusCode).toBe(200);
    expect(await jobsOf(id)).toBe(1);
  } finally {
    await away.app.close();
    await pool.end();
    await proxy.cut();
  }
});
