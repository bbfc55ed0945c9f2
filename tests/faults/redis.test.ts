/**
 * Redis only transports jobs and events: when it is killed with -9 and restarted empty, nothing is lost and work continues within 30 s.
 * `npm run test:full` adds the kill before jobs are published and while they are processed.
 */
import type { TestContext } from "vitest";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { RealtimeMessage } from "#contract/realtime.ts";
import { waitUntil } from "#server/embedded/processes.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import { startRedis } from "#tests/support/redis.ts";
import type { ScaleOptions, ScaleSetup } from "#tests/support/scale.ts";
import { scaleFor } from "#tests/support/scale.ts";
import { until } from "#tests/support/until.ts";
import { Visitor } from "#tests/support/visitor.ts";

interface World {
  product: ScaleSetup;
  visitor: Visitor;
  killRedis(): Promise<void>;
  /** Starts an empty Redis at the same address. */
  startRedis(): Promise<void>;
}

async function begin(test: TestContext, options: ScaleOptions = {}): Promise<World> {
  const setup = await scaleFor(test, { ...options, redis: true });
  const port = setup.redis?.port ?? 0;
  return {
    product: setup,
    visitor: await new Visitor(setup.apiUrls[0] ?? "", setup.sandboxUrl).join(),
    killRedis: async () => setup.redis?.kill(),
    async startRedis() {
      setup.redis = await startRedis(port);
    },
  };
}

/** The guarantee is thirty seconds; ninety where other tests run on the same machine. */
const withinMs = full ? 30_000 : 90_000;

async function expectBoughtOnce({ product: setup, visitor }: World): Promise<void> {
  await visitor.waitForSubscription(300, withinMs);
  await waitUntilSettled(setup.database, withinMs);
  await expectBooksAgree(setup.database);
  const { db } = setup.database;
  expect(await db.selectFrom("grants").select("credits").execute()).toEqual([{ credits: 300 }]);
  expect(await db.selectFrom("user_subscriptions").select("status").execute()).toEqual([{ status: "active" }]);
  const mails = (await (await fetch(`${setup.sandboxUrl}/mail?to=${encodeURIComponent(visitor.email)}`)).json()) as { subject: string }[];
  expect(mails.map((mail) => mail.subject).sort()).toEqual(["Confirm your email address", "Your Starter plan has started"]);
}

const outboxOf = ({ product: setup }: World) => setup.database.db.selectFrom("outbox").selectAll().execute();

describe.concurrent("Redis killed with -9 between a paid checkout and its grant", () => {
  it.runIf(full)(
    "before the worker has published the jobs: Stripe's events are accepted, and processed when Redis is back",
    async (test) => {
      const world = await begin(test);
      const url = await world.visitor.checkout();
      await world.killRedis();
      expect((await world.visitor.pay(url)).status).toBe(303);
      await until(async () => (await outboxOf(world)).length > 0, "the events' jobs");
      await until(
        () => world.product.workers[0]?.output.includes("queue is unreachable") === true,
        "the relay to log that the queue is unreachable",
      );
      expect((await world.visitor.check()).subscribed).toBe(false);
      await world.startRedis();
      await expectBoughtOnce(world);
    },
    240_000,
  );

  it.runIf(full)(
    "after the jobs were published: they are lost with Redis and published again",
    async (test) => {
      const world = await begin(test);
      const [worker] = world.product.workers;
      const url = await world.visitor.checkout();
      await worker?.stop();
      await worker?.start({ TESSERA_FAULT_POINT: "job-published" });
      await world.visitor.pay(url);
      // The jobs are published and no worker is left to process them.
      expect(await worker?.ended()).toBe("SIGKILL");
      expect((await outboxOf(world)).filter((job) => job.published_at !== null)).not.toEqual([]);
      await world.killRedis();
      await Promise.all([world.startRedis(), worker?.start()]);
      await expectBoughtOnce(world);
    },
    240_000,
  );

  it.runIf(full)(
    "while two workers process the jobs: they continue when Redis is back",
    async (test) => {
      const world = await begin(test, { workers: 2 });
      const url = await world.visitor.checkout();
      const paid = world.visitor.pay(url);
      await until(async () => (await outboxOf(world)).some((job) => job.published_at !== null), "a published job");
      await world.killRedis();
      await paid;
      await world.startRedis();
      await expectBoughtOnce(world);
    },
    240_000,
  );
});

async function setPace({ sandboxUrl }: ScaleSetup, paceMs: number): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${sandboxUrl}/models/pace`, { method: "POST", headers, body: JSON.stringify({ paceMs }) });
  expect(answer.status).toBe(200);
}

/** Connects a page to the live updates of the API process at `apiUrl` and collects them. */
async function openPage(apiUrl: string, visitor: Visitor): Promise<{ changes: RealtimeMessage[]; close(): void }> {
  const socket = new WebSocket(`${apiUrl.replace("http", "ws")}/api/realtime`, { headers: { origin: apiUrl } });
  const messages: RealtimeMessage[] = [];
  socket.on("message", (data) => messages.push(JSON.parse(String(data)) as RealtimeMessage));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.send(JSON.stringify({ type: "authenticate", access_token: visitor.session?.access_token }));
  await until(() => messages.shift()?.type === "ready", "the page to be connected");
  return { changes: messages, close: () => socket.terminate() };
}

describe.concurrent("Redis killed with -9 during an answer, with two API processes", () => {
  it("both stream it to its end; it is charged once, and live updates work again when Redis is back", async (test) => {
    const world = await begin(test, { apis: 2 });
    const { product: setup, visitor } = world;
    await visitor.subscribe();
    const page = await openPage(setup.apiUrls[1] ?? "", visitor);
    // Slow enough that Redis goes and comes back in the middle of the answer.
    await setPace(setup, 100);
    let seen = 0;
    let started: ((id: string) => void) | undefined;
    const id = new Promise<string>((resolve) => {
      started = resolve;
    });
    const told = visitor.ask({
      prompt: "Tell a long story about mosaics",
      onEvent: (event) => {
        seen += 1;
        if (event.event === "start") started?.(event.data.generationId);
      },
    });
    const elsewhere = visitor.resume(await id, 0, { apiUrl: setup.apiUrls[1] ?? "" });
    await until(() => seen > 3, "the first words");
    await world.killRedis();
    const before = seen;
    await until(() => seen > before + 3, "words while Redis is away");
    expect((await visitor.call("GET", "/readyz")).status).toBe(200);
    await world.startRedis();
    const back = seen;
    await until(() => seen > back, "words while Redis is back");
    await setPace(setup, 0);
    const [one, other] = await Promise.all([told, elsewhere]);
    expect(one.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect([other.text, other.receipt]).toEqual([one.text, one.receipt]);
    expect((await visitor.check()).credits).toBe(299);
    // The update has to go from one process to the other. It is lost while either reconnects to Redis, so ask until one arrives.
    let asked = 0;
    const isTold = async () => {
      page.changes.length = 0;
      expect((await visitor.ask()).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      asked += 1;
      return waitUntil(() => page.changes.some((change) => change.type === "change" && change.table === "generations"), 1_000);
    };
    await until(isTold, "a page to be told through the new Redis");
    page.close();
    expect((await visitor.check()).credits).toBe(299 - asked);
    await waitUntilSettled(setup.database);
    await expectBooksAgree(setup.database);
  }, 240_000);
});
