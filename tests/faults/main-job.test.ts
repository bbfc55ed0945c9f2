/**
 * Processes of the product are killed with -9, at named points and at random moments. `npm test` has the points whose outcomes differ most,
 * and kills each process once at a random moment; `npm run test:full` has all points and thirty random moments.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GenerationEvent } from "#contract/generations/generations.ts";
import { findModel } from "#domain/models.ts";
import { humanPaceMs } from "#sandbox/models/plugin.ts";
import type { FaultPoint } from "#server/fault-points.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { liveOn } from "#tests/support/lives.ts";
import type { Part, ScaleSetup } from "#tests/support/scale.ts";
import { scaleFor, startScale } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

/** Restarts the part so that it dies at `point`, and then restarts it as the supervisor would; `ended` resolves with how it died. */
async function arm(part: Part | undefined, point: FaultPoint): Promise<{ ended: Promise<string> }> {
  if (!part) throw new Error("no such part");
  await part.stop();
  await part.start({ TESSERA_FAULT_POINT: point });
  const ended = part.ended().then(async (how) => {
    await part.start();
    return how;
  });
  return { ended };
}

interface Purchase {
  point: FaultPoint;
  of: "api" | "worker";
}
const purchases: readonly Purchase[] = [{ point: "event-committed", of: "worker" }];
const morePurchases: readonly Purchase[] = [
  { point: "webhook-stored", of: "api" },
  { point: "job-published", of: "worker" },
  { point: "event-read", of: "worker" },
];

interface Cut {
  point: FaultPoint;
  charged: number;
  status: string;
}
const cuts: readonly Cut[] = [
  { point: "answer-streaming", charged: 0, status: "failed" },
  { point: "answer-ended", charged: 1, status: "completed" },
];
const moreCuts: readonly Cut[] = [{ point: "answer-held", charged: 0, status: "failed" }];

/** The two groups mostly wait for leases to run out, so they run at the same time, each on a product of its own. */
const inTurn = { concurrent: false, timeout: 300_000 } as const;

describe.concurrent("kill -9 at a named point, then a restart", () => {
  /** Each test has a visitor of its own and leaves every part running, so that they can share a product, one after the other. */
  let product: ScaleSetup;
  beforeAll(async () => {
    product = await startScale();
  });
  afterAll(() => product?.stop());

  const newVisitor = () => new Visitor(product.apiUrls[0] ?? "", product.sandboxUrl);
  const subjectsTo = async ({ email }: Visitor): Promise<string[]> => {
    const mails = await (await fetch(`${product.sandboxUrl}/mail?to=${encodeURIComponent(email)}`)).json();
    return (mails as { subject: string }[]).map(({ subject }) => subject);
  };

  const sandbox = (path: string, body: object) =>
    fetch(`${product.sandboxUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(body),
    });

  it.for(full ? [...purchases, ...morePurchases] : purchases)(
    "of a purchase, $point: one subscription, one grant, one mail",
    inTurn,
    async ({ point, of }) => {
      const visitor = await newVisitor().join();
      const url = await visitor.checkout();
      const restarted = await arm(of === "api" ? product.apis[0] : product.workers[0], point);
      await visitor.pay(url);
      expect(await restarted.ended).toBe("SIGKILL");
      await visitor.waitForSubscription(300);
      await waitUntilSettled(product.database);
      await expectBooksAgree(product.database);
      const { rows: grants } = await product.database.pool.query(
        "select g.credits from grants g join wallets w on w.id = g.wallet_id where w.billing_account_id = payer_of($1)",
        [visitor.session?.user.id],
      );
      expect(grants).toEqual([{ credits: 300 }]);
      const subjects = await subjectsTo(visitor);
      expect(new Set(subjects).size).toBe(subjects.length);
    },
  );

  const clips = [
    "of the worker that makes a clip: before its job is noted it ends uncharged, later another goes on with it, and it is charged once",
  ];
  it.for(full ? clips : [])("%s", inTurn, async () => {
    const { db } = product.database;
    const [worker] = product.workers;
    const setPace = (paceMs: number) => sandbox("/models/pace", { paceMs });
    const visitor = await newVisitor().join();
    await visitor.subscribe();
    const begin = async () => {
      const leave = new AbortController();
      const options = {
        model: "grok-imagine-video-1.5",
        prompt: "The sea",
        quotedCredits: 50,
        clip: { seconds: 4, shape: "1:1" },
      } as const;
      let id = "";
      const onEvent = (event: GenerationEvent) => {
        if (event.event === "start") id = event.data.generationId;
        leave.abort();
      };
      await visitor.ask({ ...options, signal: leave.signal, onEvent }).catch(() => undefined);
      return id;
    };
    const untilWorking = (id: string) =>
      expect
        .poll(async () => (await db.selectFrom("clip_jobs").select("state").where("generation_id", "=", id).executeTakeFirst())?.state, {
          timeout: 30_000,
        })
        .toBe("working");

    const restarted = await arm(worker, "clip-begun");
    const forgotten = await begin();
    expect(await restarted.ended).toBe("SIGKILL");
    // Slow enough to be killed in the middle.
    await setPace(500);
    const kept = await begin();
    await untilWorking(kept);
    await worker?.stop("SIGKILL");
    await setPace(0);
    await worker?.start();
    await waitUntilSettled(product.database);
    // The answers of the next tests are killed in their middle.
    await setPace(humanPaceMs);
    const told = await Promise.all([forgotten, kept].map((id) => visitor.resume(id, 0)));
    expect(told.map(({ receipt }) => receipt)).toMatchObject([
      { status: "failed", failureCode: "interrupted", chargedCredits: 0 },
      { status: "completed", failureCode: null, chargedCredits: 50 },
    ]);
    expect((await visitor.check()).credits).toBe(250);
    const userId = visitor.session?.user.id ?? "";
    const files = await db.selectFrom("files").select("content_type").where("user_id", "=", userId).execute();
    expect(files).toEqual([{ content_type: "video/mp4" }]);
    await expectBooksAgree(product.database);
  });

  const media = ["voxtral-mini-tts-3-0", "gpt-image-2.6-flare"].map((model) => ({
    ...{ model, prompt: "A mosaic by the sea" },
    quotedCredits: findModel(model)?.credits ?? expect.fail(`no model ${model}`),
  }));
  it.for(full ? media : [])(
    "of the API in the middle of an answer by $model: it costs nothing, and no file is left",
    inTurn,
    async (asked) => {
      const { db } = product.database;
      const [api] = product.apis;
      const visitor = await newVisitor().join();
      await visitor.subscribe();
      await sandbox("/models/faults", { model: asked.model, fault: "hang", count: 1, afterTokens: 1 });
      const cut = visitor.ask(asked).catch(() => undefined);
      const own = db
        .selectFrom("generations")
        .select(["id", "status"])
        .where("user_id", "=", visitor.session?.user.id ?? "");
      await expect.poll(async () => (await own.executeTakeFirst())?.status, { timeout: 30_000 }).toBe("streaming");
      await api?.stop("SIGKILL");
      await cut;
      await api?.start();
      await waitUntilSettled(product.database);
      const { id } = await own.executeTakeFirstOrThrow();
      expect((await visitor.resume(id, 0)).receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0 });
      expect((await visitor.check()).credits).toBe(300);
      const userId = visitor.session?.user.id ?? "";
      expect(await db.selectFrom("files").select("id").where("user_id", "=", userId).execute()).toEqual([]);
      // The next one is made as ever.
      expect((await visitor.ask(asked)).receipt).toMatchObject({ status: "completed", chargedCredits: asked.quotedCredits });
      await expectBooksAgree(product.database);
    },
  );

  it("of the worker, after it has sent a mail and before it has recorded it: the mailbox has one mail", inTurn, async () => {
    const restarted = await arm(product.workers[0], "mail-sent");
    const visitor = newVisitor();
    await visitor.signUp();
    expect(await restarted.ended).toBe("SIGKILL");
    await waitUntilSettled(product.database);
    expect(await subjectsTo(visitor)).toHaveLength(1);
    await visitor.confirm();
  });

  it("of an answer: cut short it fails and costs nothing, told to its end it completes, and the books agree", inTurn, async () => {
    const asked = await Promise.all(
      (full ? [...cuts, ...moreCuts] : cuts).map(async (cut) => {
        const visitor = await newVisitor().join();
        await visitor.subscribe();
        return { ...cut, visitor };
      }),
    );
    const [api] = product.apis;
    for (const { point, visitor } of asked) {
      await api?.stop();
      await api?.start({ TESSERA_FAULT_POINT: point });
      const cut = visitor.ask({ prompt: "Tell a long story about mosaics" }).catch(() => undefined);
      expect(await api?.ended()).toBe("SIGKILL");
      await cut;
    }
    await api?.start();
    await waitUntilSettled(product.database);
    for (const { point, charged, status, visitor } of asked) {
      const generation = await product.database.db
        .selectFrom("generations")
        .select(["id", "status", "charged_credits"])
        .where("user_id", "=", visitor.session?.user.id ?? "")
        .executeTakeFirstOrThrow();
      expect(generation, point).toMatchObject({ status, charged_credits: charged });
      expect((await visitor.check()).credits, point).toBe(300 - charged);
      const told = await visitor.resume(generation.id, 0);
      expect(told.receipt, point).toMatchObject({ status, chargedCredits: charged });
      if (point === "answer-streaming") expect(told.text.length).toBeGreaterThan(0);
    }
    await expectBooksAgree(product.database);
  });
});

describe.concurrent("kill -9 at random moments of the main job", () => {
  it("of API, workers and sandbox: every answer completes or costs nothing, and the books agree", async (test) => {
    const seed = Math.floor(Date.now() / 1000) % 100_000;
    const random = seededRandom(seed);
    const product = await scaleFor(test, { apis: 1, workers: 2 });
    const { apis, workers, sandbox } = product;
    const parts = [...apis, ...workers, sandbox];
    const kills = full ? 30 : parts.length;
    const lives = liveOn(product, 3);
    let next: Part[] = [];
    for (let round = 0; round < kills; round += 1) {
      await pause(300 + random(1_200));
      if (next.length === 0) next = [...parts];
      const [victim] = next.splice(random(next.length), 1);
      await victim?.stop("SIGKILL");
      await victim?.start();
    }
    await lives.end(seed);
  }, 300_000);
});
