/**
 * PostgreSQL is killed with -9 during an answer: the answer completes or its hold is released, and the person can see which. Each case
 * starts a product and a PostgreSQL of its own. `npm run test:full` adds the second case of each kind, an absence longer than a lease, one killed backend
 * (postgres-main-job.test.ts kills some too), and the kill together with the API.
 */
import { randomUUID } from "node:crypto";
import type { TestContext } from "vitest";
import { describe, expect, it } from "vitest";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import type { OwnPostgres } from "#tests/support/own-postgres.ts";
import { startOwnPostgres } from "#tests/support/own-postgres.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { scaleFor } from "#tests/support/scale.ts";
import { until } from "#tests/support/until.ts";
import type { Answer } from "#tests/support/visitor.ts";
import { advanceClock, Visitor } from "#tests/support/visitor.ts";

const longPrompt = "Tell a long story about mosaics";

const some = <Case>(cases: readonly Case[]): readonly Case[] => (full ? cases : cases.slice(0, 1));

interface World {
  postgres: OwnPostgres;
  product: ScaleSetup;
  visitor: Visitor;
}

/** Starts the product on its own PostgreSQL, with a subscriber who has 300 credits. */
async function begin(test: TestContext, options: { redis?: boolean } = {}): Promise<World> {
  const postgres = await startOwnPostgres();
  const product = await scaleFor(test, { database: postgres.database, redis: options.redis ?? false });
  const visitor = await new Visitor(product.apiUrls[0] ?? "", product.sandboxUrl).join();
  await visitor.subscribe();
  await waitUntilSettled(product.database);
  return { postgres, product, visitor };
}

async function setPace({ sandboxUrl }: ScaleSetup, paceMs: number): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${sandboxUrl}/models/pace`, { method: "POST", headers, body: JSON.stringify({ paceMs }) });
  expect(answer.status).toBe(200);
}

interface LongAnswer {
  /** The number of events received so far. */
  seen: () => number;
  told: Promise<Answer>;
}

/** Starts an answer of about 400 tokens, one every `paceMs`; resolves when the first words are in the log, so the start is durable. */
async function askAtLength({ product: setup, visitor }: World, paceMs: number): Promise<LongAnswer> {
  await setPace(setup, paceMs);
  let seen = 0;
  const told = visitor.ask({
    prompt: longPrompt,
    onEvent: () => {
      seen += 1;
    },
  });
  told.catch(() => {});
  const logged = async () =>
    (await setup.database.db.selectFrom("generation_events").select("last_event").where("last_event", ">", 1).execute()).length > 0;
  await until(logged, "the first words in the log");
  return { seen: () => seen, told };
}

/** What was asked, or answered, in all conversations. */
async function messagesOf({ product: setup }: World, role: "user" | "assistant"): Promise<string[]> {
  const rows = await setup.database.db
    .selectFrom("messages")
    .leftJoin("generation_parts", "generation_parts.generation_id", "messages.generation_id")
    .select(["content", "text"])
    .where("role", "=", role)
    .orderBy("messages.id")
    .execute();
  return rows.flatMap(({ content, text }) => content ?? text ?? []);
}

/** Checks that receipt, conversation and books agree on how the answer ended, and that the next answer costs exactly one credit. */
async function expectAllWell(world: World, generationId: string, charged: number): Promise<void> {
  const { product: setup, visitor } = world;
  await setPace(setup, 0);
  await waitUntilSettled(setup.database);
  await expectBooksAgree(setup.database);
  expect((await visitor.check()).credits).toBe(300 - charged);
  const again = await visitor.resume(generationId, 0);
  expect(again.receipt).toMatchObject({ chargedCredits: charged });
  expect(await messagesOf(world, "assistant")).toEqual(again.text === "" ? [] : [again.text]);
  expect((await visitor.ask()).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
  expect((await visitor.check()).credits).toBe(300 - charged - 1);
  await waitUntilSettled(setup.database);
  await expectBooksAgree(setup.database);
}

/**
 * Starts the product so that PostgreSQL keeps asynchronous commits in memory: its writers are stopped, and no worker runs
 * whose own commits would flush the WAL.
 */
async function beginForgetful(test: TestContext): Promise<World> {
  const world = await begin(test, { redis: true });
  // The clock stands still until Stripe's last event has arrived; the API's commit of a late one would flush the WAL.
  await advanceClock(world.product.sandboxUrl, "PT1M");
  await setPace(world.product, 10);
  await Promise.all(world.product.workers.map((worker) => worker.stop()));
  await world.postgres.holdWriters();
  return world;
}

const generationsOf = ({ product: setup }: World) => setup.database.db.selectFrom("generations").select("id").execute();

/** Asks, and resolves when `said` has been told and what the start wrote is in PostgreSQL's memory only. */
async function askUnflushed(test: TestContext, paceMs: number, said: RegExp) {
  for (let attempt = 1; ; attempt += 1) {
    const world = await beginForgetful(test);
    await setPace(world.product, paceMs);
    // Blocks writes to the answer's log, whose commit would flush the start to disk as well.
    const blocker = await world.product.database.pool.connect();
    await blocker.query("begin");
    await blocker.query("lock table generation_events in exclusive mode");
    const { rows } = await blocker.query<{ before: string }>("select pg_current_wal_insert_lsn() as before");
    const key = randomUUID();
    let words = "";
    const asked = world.visitor.ask({
      prompt: longPrompt,
      key,
      onEvent: ({ event, data }) => {
        if (event === "delta") words += data.text;
      },
    });
    await until(() => said.test(words), "the words");
    const flushed = await blocker.query("select where pg_current_wal_flush_lsn() > $1::pg_lsn", [rows[0]?.before]);
    // Anything else that happens to commit meanwhile, such as a lease's renewal on a slow machine, flushes the start too.
    if (flushed.rowCount === 0) return { world, key, asked, blocker };
    if (attempt === 3) throw new Error("the start was flushed three times");
    asked.catch(() => {});
    blocker.release(true);
  }
}

describe.concurrent("PostgreSQL killed with -9 before an answer's start is on disk", () => {
  const moments = [
    ["after its last word", 1, /opens our conversation\. [^.]+\.$/],
    ["as it begins", 10, /./],
  ] as const;
  it.for(some(moments))(
    "loses an answer's question and hold, %s; the API writes both again, and the answer completes and is charged once",
    { timeout: 240_000 },
    async ([, paceMs, said], test) => {
      const { world, key, asked, blocker } = await askUnflushed(test, paceMs, said);
      const { visitor } = world;
      expect(await generationsOf(world)).toHaveLength(1);
      await world.postgres.killAll();
      blocker.release(true);
      await world.postgres.start();
      const { receipt, text, generationId } = await asked;
      expect(world.product.apis[0]?.output).toContain("PostgreSQL had lost the start of an answer");
      expect(receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      expect([await messagesOf(world, "user"), await messagesOf(world, "assistant")]).toEqual([[longPrompt], [text]]);
      expect(await visitor.ask({ prompt: longPrompt, key })).toMatchObject({ generationId, text, receipt });
      await expectAllWell(world, generationId, 1);
    },
  );

  it("together with the API: question and hold are both lost, and asking again with the same key is charged once", async (test) => {
    const world = await beginForgetful(test);
    const { product: setup, visitor } = world;
    const [api] = setup.apis;
    await api?.stop();
    await api?.start({ TESSERA_FAULT_POINT: "answer-held" });
    const key = randomUUID();
    await expect(visitor.ask({ prompt: longPrompt, key })).rejects.toThrow();
    expect(await api?.ended()).toBe("SIGKILL");
    expect(await generationsOf(world)).toHaveLength(1);
    await world.postgres.killAll();
    await world.postgres.start();
    expect([await generationsOf(world), await messagesOf(world, "user")]).toEqual([[], []]);
    await Promise.all([...setup.apis, ...setup.workers].map((part) => part.start()));
    expect((await visitor.check()).credits).toBe(300);
    const again = await visitor.ask({ prompt: longPrompt, key });
    expect(again.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    await expectAllWell(world, again.generationId, 1);
  }, 240_000);
});

describe.concurrent("PostgreSQL killed with -9 in the middle of an answer, then restarted", () => {
  const queues = [
    ["Redis", true],
    ["PostgreSQL", false],
  ] as const;
  it.runIf(full).for(queues)(
    "the postmaster, with the queue on %s: the answer continues, completes and is charged once",
    { timeout: 240_000 },
    async ([, redis], test) => {
      const world = await begin(test, { redis });
      const answer = await askAtLength(world, 100);
      await world.postgres.killPostmaster();
      const before = answer.seen();
      await until(() => answer.seen() > before + 3, "words while PostgreSQL is away");
      const away = await world.visitor.call("GET", "/api/credits/wallet");
      expect([away.status, await away.json()]).toEqual([503, expect.objectContaining({ code: "service_unavailable" })]);
      await world.postgres.start();
      await setPace(world.product, 0);
      const { receipt, text, generationId, eventIds } = await answer.told;
      expect(receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      expect(eventIds).toEqual(eventIds.map((_, index) => index + 1));
      expect(await messagesOf(world, "assistant")).toEqual([text]);
      await expectAllWell(world, generationId, 1);
    },
  );

  it.runIf(full)(
    "one of the API's backends: PostgreSQL closes all connections; the answer completes and is charged once",
    async (test) => {
      const world = await begin(test);
      const answer = await askAtLength(world, 20);
      await world.postgres.killBackend("tessera api");
      const { receipt, text, generationId } = await answer.told;
      expect(receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      expect(await messagesOf(world, "assistant")).toEqual([text]);
      await expectAllWell(world, generationId, 1);
    },
    240_000,
  );

  it.runIf(full)(
    "for longer than the answer's lease: it completes or its hold is released, and the receipt says which",
    async (test) => {
      const world = await begin(test);
      const answer = await askAtLength(world, 5);
      const { lease_expires_at: leaseEnd } = await world.product.database.db
        .selectFrom("generations")
        .select("lease_expires_at")
        .executeTakeFirstOrThrow();
      await world.postgres.killPostmaster();
      await until(() => Date.now() > leaseEnd.getTime() + 1_000, "the lease to run out", 20_000);
      await world.postgres.start();
      const { receipt, generationId } = await answer.told;
      const charged = receipt?.status === "completed" ? 1 : 0;
      expect(receipt).toMatchObject(charged === 1 ? { status: "completed" } : { status: "failed", failureCode: "interrupted" });
      expect(receipt?.chargedCredits).toBe(charged);
      await expectAllWell(world, generationId, charged);
    },
    240_000,
  );

  it.runIf(full)(
    "together with the API: the person can read the words logged so far, and nothing is charged",
    async (test) => {
      const world = await begin(test);
      const answer = await askAtLength(world, 100);
      const [api] = world.product.apis;
      await Promise.all([world.postgres.killAll(), api?.stop("SIGKILL")]);
      const { text, generationId, receipt } = await answer.told;
      expect(receipt).toBeUndefined();
      await world.postgres.start();
      await api?.start();
      const resumed = await world.visitor.resume(generationId, 0);
      expect(resumed.receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0 });
      expect(text.startsWith(resumed.text)).toBe(true);
      expect(resumed.text).not.toBe("");
      await expectAllWell(world, generationId, 0);
    },
    240_000,
  );
});
