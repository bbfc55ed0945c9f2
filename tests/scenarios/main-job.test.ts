import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { startScale } from "#tests/support/scale.ts";
import { advanceClock, Visitor } from "#tests/support/visitor.ts";

/** Connects to an API process's live updates and keeps every message. */
async function listen(apiUrl: string, accessToken: string) {
  const socket = new WebSocket(`${apiUrl.replace("http", "ws")}/api/realtime`, { origin: new URL(apiUrl).origin });
  const messages: { type: string; table?: string }[] = [];
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.send(JSON.stringify({ type: "authenticate", access_token: accessToken }));
  await new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      messages.push(JSON.parse(String(data)));
      resolve();
    });
  });
  return { messages, close: () => socket.close() };
}

describe("the main job on Redis with two API processes and two workers", () => {
  let product: ScaleSetup;
  beforeAll(async () => {
    product = await startScale({ apis: 2, workers: 2, redis: true });
  });
  afterAll(() => product?.stop());

  it("sign up → pay → subscription by live push → priced answer → receipt → renewal after a month", async () => {
    const [first = "", second = ""] = product.apiUrls;
    const visitor = await new Visitor(first, product.sandboxUrl).join();
    const live = await listen(second, visitor.session?.access_token ?? "");

    await visitor.subscribe();
    await expect.poll(() => live.messages.some((message) => message.table === "user_subscriptions")).toBe(true);
    live.close();

    const answer = await visitor.ask();
    expect(answer.text.length).toBeGreaterThan(20);
    expect(answer.eventIds).toEqual(answer.eventIds.map((_, index) => index + 1));
    expect(answer.receipt).toMatchObject({
      modelId: "gpt-6-luna",
      status: "completed",
      heldCredits: 1,
      chargedCredits: 1,
      availableAfter: 299,
    });
    expect((await visitor.check()).credits).toBe(299);

    const before = Date.parse((await visitor.check()).server_time);
    const now = await advanceClock(product.sandboxUrl, "P1M");
    expect(Date.parse(now) - before).toBeGreaterThan(27 * 86_400_000);
    // Stripe keeps the renewal's invoice as a draft for an hour.
    await advanceClock(product.sandboxUrl, "PT2H");
    const renewed = await visitor.waitForSubscription(300);
    expect(Date.parse(renewed.subscription_end ?? "")).toBeGreaterThan(Date.parse(now));
    await waitUntilSettled(product.database);
    await expectBooksAgree(product.database);
  }, 240_000);

  it("an answer started on one process can be resumed on the other; no event is lost or repeated, and it is charged once", async () => {
    const [first = "", second = ""] = product.apiUrls;
    const visitor = await new Visitor(first, product.sandboxUrl).join();
    await visitor.subscribe();
    const dropped = new AbortController();
    const part = await visitor.ask({
      prompt: "Write a long list of the models in this mosaic",
      signal: dropped.signal,
      onEvent: (_event, id) => {
        if (id >= 4) dropped.abort();
      },
    });
    const rest = await visitor.resume(part.generationId, part.lastEventId, { apiUrl: second });
    const whole = await visitor.resume(part.generationId, 0, { apiUrl: second });
    expect(part.text + rest.text).toBe(whole.text);
    expect([...part.eventIds, ...rest.eventIds]).toEqual(whole.eventIds);
    expect(rest.receipt).toMatchObject({ status: "completed", chargedCredits: 1, availableAfter: 299 });
    await expectBooksAgree(product.database);
  }, 240_000);

  it("the same idempotency key sent to both processes at once gives one answer and one charge", async () => {
    const [first = "", second = ""] = product.apiUrls;
    const visitor = await new Visitor(first, product.sandboxUrl).join();
    await visitor.subscribe();
    const key = randomUUID();
    const answers = await Promise.all([visitor.ask({ key }), visitor.ask({ key, apiUrl: second }), visitor.ask({ key })]);
    expect(new Set(answers.map((answer) => answer.generationId)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect((await visitor.check()).credits).toBe(299);
  }, 240_000);

  it("Stripe's events are accepted while Redis is away and processed when it is back", async () => {
    const visitor = await new Visitor(product.apiUrls[0] ?? "", product.sandboxUrl).join();
    const url = await visitor.checkout();
    const port = product.redis?.port;
    await product.redis?.stop();
    expect((await visitor.pay(url)).status).toBe(303);
    await expect
      .poll(async () => (await product.database.pool.query("select count(*) as n from stripe_events where status = 'received'")).rows[0].n)
      .toBeGreaterThan(0);
    const { startRedis } = await import("#tests/support/redis.ts");
    product.redis = await startRedis(port);
    await visitor.waitForSubscription(300);
    await waitUntilSettled(product.database);
    await expectBooksAgree(product.database);
  }, 240_000);
});
