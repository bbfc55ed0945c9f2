import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findModel } from "#domain/models.ts";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { checkSubscription } from "#server/features/billing/service.ts";
import { findDisagreements, hasSpent, postGrant } from "#server/features/credits/service.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, askAndHold, call, readAnswer, send, startAnswerProcess, startAnswerWorld, storedText } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { payerIdOf } from "../support/payers.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerWorld["api"];
/** A process that waits for a silent provider for a short time only. */
let impatient: AnswerWorld["api"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, models, api } = world);
  impatient = await startAnswerProcess(database.applicationUrl, models.url, { firstTokenMs: 1_500, idleMs: 1_500 });
});
afterEach(async () => {
  models.faults.clear("*");
  models.pace.milliseconds = 0;
  expect(await findDisagreements(database.db)).toEqual([]);
  const open = await database.db.selectFrom("holds").select("id").where("state", "=", "open").execute();
  expect(open).toEqual([]);
});
afterAll(async () => {
  await impatient.close();
  await world.close();
});

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

async function problem(response: Response): Promise<Record<string, unknown>> {
  return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}

const storedAnswer = (generationId: string) => storedText(database.db, generationId);

describe("an answer", () => {
  test("streams numbered events, is charged once, is stored completely and has its receipt", async () => {
    models.pace.milliseconds = 20;
    const person = await createPerson(api, database.db, { credits: 300, plan: "starter" });
    const response = await send(api, person);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const answer = await readAnswer(response, (seen) => {
      if (seen.text !== "") models.pace.milliseconds = 0;
      return false;
    });
    expect(answer.events.map((event) => event.id)).toEqual(answer.events.map((_, index) => index + 1));
    expect(answer.events[0]).toMatchObject({ event: "start", data: { modelId: "gpt-6-luna", heldCredits: 1, trimmedMessages: 0 } });
    // The first words were sent before the last ones were there; how many go together depends on the machine.
    expect(answer.events.filter(({ event }) => event === "delta").length).toBeGreaterThan(1);
    expect(answer.receipt).toMatchObject({
      status: "completed",
      heldCredits: 1,
      chargedCredits: 1,
      availableAfter: 299,
      failureCode: null,
    });
    expect(answer.text).toContain("Sandbox answer");
    expect(await storedAnswer(answer.generationId)).toBe(answer.text);
    expect(await wallet(person)).toEqual({ balance: 299, held: 0 });
    const row = await database.db.selectFrom("generations").selectAll().where("id", "=", answer.generationId).executeTakeFirstOrThrow();
    expect(row.completion_tokens).toBe(models.calls.list()[0]?.completionTokens);
    expect(await (await call(api, person, "GET", `/api/generations/${answer.generationId}`)).json()).toEqual({
      ...answer.receipt,
      parts: [{ kind: "text", text: answer.text }],
    });
  });

  test("counts as a person's first only if it was charged", async () => {
    const person = await createPerson(api, database.db);
    models.faults.set({ model: "*", fault: "server_error", count: 2, afterTokens: 0, delayMs: 0 });
    await ask(api, person);
    expect(await hasSpent(database.db, person.userId)).toBe(false);
    await ask(api, person);
    expect(await hasSpent(database.db, person.userId)).toBe(true);
  });

  test("continues when its reader disconnects, and is charged when complete", async () => {
    models.pace.milliseconds = 2;
    const person = await createPerson(api, database.db);
    const cut = await readAnswer(await send(api, person), (seen) => seen.text !== "");
    const rest = await readAnswer(await call(api, person, "GET", `/api/generations/${cut.generationId}/events`));
    expect(rest.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect(rest.text.startsWith(cut.text)).toBe(true);
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    const { first_text_ms: firstTextMs } = await database.db
      .selectFrom("generations")
      .select("first_text_ms")
      .where("id", "=", cut.generationId)
      .executeTakeFirstOrThrow();
    expect(firstTextMs).toBeGreaterThanOrEqual(0);
    expect(firstTextMs).toBeLessThan(60_000);
  });

  test("includes the conversation so far, trimmed to the model's limit, and reports how much was left out", async () => {
    const person = await createPerson(api, database.db, { credits: 100, plan: "enterprise" });
    const model = "claude-haiku-4-5";
    const first = await ask(api, person, { model, prompt: "First question about mosaics" });
    const { conversationId } = first;
    const second = await ask(api, person, { model, prompt: "And the second?", conversationId });
    expect(second.conversationId).toBe(first.conversationId);
    expect(second.text).toContain("First question about mosaics");
    expect(second.receipt?.trimmedMessages).toBe(0);
    // Each digit may be a token.
    const long = "7".repeat(9_000);
    for (const _ of [1, 2]) await ask(api, person, { model, prompt: long, conversationId });
    const last = await ask(api, person, { model, prompt: "What was the first?", conversationId });
    expect(last.receipt?.trimmedMessages).toBeGreaterThan(0);
    expect(last.events[0]?.data.trimmedMessages).toBe(last.receipt?.trimmedMessages);
    expect(models.calls.list()[0]?.promptTokens).toBeLessThanOrEqual(findModel(model)?.inputTokenLimit ?? 0);
  });
});

test("other pages are notified when a question is accepted, and see it and the balance without the held credits", async () => {
  models.pace.milliseconds = slowestPaceMs;
  const person = await createPerson(api, database.db, { plan: "starter" });
  const told: string[] = [];
  const unsubscribe = api.deps.live.subscribe((event) => event !== "resync" && event.userId === person.userId && told.push(event.table));
  const response = await send(api, person, { model: "gpt-6.1-sol", quotedCredits: 5 });
  await expect.poll(() => [...told].sort()).toEqual(["generations", "wallets"]);
  const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
  const { conversations } = (await (await call(api, person, "GET", "/api/conversations")).json()) as { conversations: { id: string }[] };
  expect(await (await call(api, person, "GET", `/api/conversations/${conversations[0]?.id}`)).json()).toMatchObject({
    messages: [
      { role: "user", parts: [{ kind: "text", text: "What is a tessera?" }] },
      { role: "assistant", parts: [], receipt: { status: "streaming" } },
    ],
    streamingGenerationId: id,
  });
  expect((await checkSubscription(api.deps, person.userId)).credits).toBe(95);
  models.pace.milliseconds = 0;
  expect((await readAnswer(response)).receipt).toMatchObject({ availableAfter: 95 });
  await expect.poll(() => told.length).toBe(4);
  unsubscribe();
});

describe("the available credits in the receipt", () => {
  const yearMs = 365 * 86_400_000;
  const give = (userId: string, kind: "plan" | "pack", credits: number) =>
    inTransaction(database.db, async (trx) => {
      const expiresAt = new Date(Date.now() + yearMs);
      return postGrant(trx, { payerId: await payerIdOf(trx, userId), kind, credits, expiresAt, key: `${kind}:${userId}` }, new Date());
    });

  test("leave out credits that are locked without a subscription", async () => {
    const person = await createPerson(api, database.db, { credits: 0, trialCredits: 3 });
    await give(person.userId, "pack", 100);
    expect((await ask(api, person)).receipt).toMatchObject({ chargedCredits: 1, availableAfter: 2 });
    expect((await checkSubscription(api.deps, person.userId)).credits).toBe(2);
  });

  test("are those at the answer's end, not at its start", async () => {
    const person = await createPerson(api, database.db, { credits: 5, plan: "starter" });
    await give(person.userId, "plan", 310);
    const answer = await askAndHold(models, api, person);
    await database.db.updateTable("user_subscriptions").set({ status: "canceled" }).where("user_id", "=", person.userId).execute();
    models.pace.milliseconds = 0;
    const rest = await readAnswer(await call(api, person, "GET", `/api/generations/${answer.generationId}/events`));
    expect(rest.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect(rest.receipt?.availableAfter).toBe((await checkSubscription(api.deps, person.userId)).credits);
    expect(rest.receipt?.availableAfter).toBeLessThanOrEqual(5);
  });
});

describe("fairness: failures of the provider", () => {
  test("a provider that cannot be reached costs nothing", async () => {
    const away = await startAnswerProcess(
      database.applicationUrl,
      models.url,
      {},
      { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
    );
    const person = await createPerson(away, database.db);
    expect((await ask(away, person)).receipt).toMatchObject({ status: "failed", failureCode: "provider_error", chargedCredits: 0 });
    await away.close();
  });
});

describe("stopping", () => {
  test("before any output is free", async () => {
    const person = await createPerson(api, database.db);
    models.faults.set({ model: "*", fault: "slow_first_token", count: 1, afterTokens: 0, delayMs: 20_000 });
    const response = await send(api, person);
    const reading = readAnswer(response);
    const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
    const stopped = await (await call(api, person, "POST", `/api/generations/${id}/stop`)).json();
    expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 0, availableAfter: 100 });
    expect((await reading).receipt).toEqual(stopped);
    expect(await wallet(person)).toEqual({ balance: 100, held: 0 });
  });

  test("after output costs the full price, keeps the text and aborts the provider's request", async () => {
    const person = await createPerson(api, database.db, { plan: "starter" });
    const seen = await askAndHold(models, api, person, { model: "gpt-6.1-sol", quotedCredits: 5 });
    const stopped = await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
    expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 5, availableAfter: 95 });
    expect(await storedAnswer(seen.generationId)).toContain(seen.text);
    await expect.poll(() => models.calls.list()[0]?.outcome).toBe("aborted");
    // A second stop returns the same receipt.
    expect(await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json()).toEqual(stopped);
  });

  test.each([
    ["content_filter", { status: "failed", failureCode: "content_filtered", chargedCredits: 0 }],
    ["tool_calls", { status: "failed", failureCode: "provider_error", chargedCredits: 0 }],
    ["stop", { status: "completed", failureCode: null, chargedCredits: 1 }],
  ])("changes nothing once the provider has said why the answer ended: %s", async (reason, receipt) => {
    const provider = createServer((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      // The usage, which would follow, never comes.
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Some words" }, finish_reason: reason }] })}\n\n`);
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    const other = await startAnswerProcess(database.applicationUrl, models.url, {}, { MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: address });
    const person = await createPerson(other, database.db);
    const seen = await readAnswer(await send(other, person, { model: "mistral-small-2603" }), (answer) => answer.text !== "");
    const stopped = await (await call(other, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
    expect(stopped).toMatchObject(receipt);
    await other.close();
    provider.closeAllConnections();
    provider.close();
  });
});

describe("the idempotency key", () => {
  test("sent twice at once gives one answer, read twice", async () => {
    models.pace.milliseconds = 1;
    const person = await createPerson(api, database.db);
    const key = randomUUID();
    const both = await Promise.all([ask(api, person, {}, { key }), ask(api, person, {}, { key }), ask(api, person, {}, { key })]);
    expect(new Set(both.map((answer) => answer.generationId)).size).toBe(1);
    expect(new Set(both.map((answer) => answer.text)).size).toBe(1);
    expect(both.map((answer) => answer.receipt)).toEqual([both[0]?.receipt, both[0]?.receipt, both[0]?.receipt]);
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    const again = await ask(api, person, {}, { key });
    expect(again.text).toBe(both[0]?.text);
    expect(again.events.map((event) => event.id)).toEqual(both[0]?.events.map((event) => event.id));
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
  });

  test("gives the same answer even if a new request would now be refused", async () => {
    const person = await createPerson(api, database.db, { credits: 1 });
    const key = randomUUID();
    const first = await ask(api, person, {}, { key });
    expect((await send(api, person)).status).toBe(402);
    expect((await ask(api, person, {}, { key })).receipt).toEqual(first.receipt);
  });

  test("with other content is refused and writes nothing", async () => {
    const person = await createPerson(api, database.db);
    const key = randomUUID();
    await ask(api, person, {}, { key });
    expect(await problem(await send(api, person, { prompt: "Another" }, { key }))).toMatchObject({
      status: 409,
      code: "idempotency_conflict",
    });
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
  });
});
