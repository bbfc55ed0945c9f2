import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addMonths } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { postGrant } from "#server/features/credits/service.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, call, readAnswer, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerWorld["api"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, models, api } = world);
  models.pace.milliseconds = 0;
});
afterAll(() => world.close());

async function problem(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  return {
    ...((await response.json()) as Record<string, unknown>),
    httpStatus: response.status,
    retryAfter: response.headers.get("retry-after"),
  };
}

async function expectNothingWritten(person: TestPerson): Promise<void> {
  const count = async (table: "generations" | "conversations") =>
    (await database.db.selectFrom(table).select("id").where("user_id", "=", person.userId).execute()).length;
  expect([await count("generations"), await count("conversations")]).toEqual([0, 0]);
  expect(await database.db.selectFrom("holds").select("id").where("wallet_id", "=", person.walletId).execute()).toEqual([]);
}

describe("refused, and nothing is written", () => {
  test.each([
    [
      "an empty prompt",
      { prompt: "  \n " },
      400,
      { code: "validation_failed", fields: [{ field: "prompt", message: "Prompt cannot be empty" }] },
    ],
    [
      "a prompt of 10,001 signs",
      { prompt: "𝕏".repeat(10_001) },
      400,
      { code: "validation_failed", error: "Prompt must be less than 10,000 characters" },
    ],
    ["no model", { model: " " }, 400, { code: "validation_failed", fields: [{ field: "model", message: "Model must be selected" }] }],
    ["an unknown model", { model: "gpt-9" }, 400, { code: "unknown_model" }],
    ["a model that does not answer in text", { model: "dall-e-3", quotedCredits: 10 }, 422, { code: "model_not_supported" }],
    ["another price than the one shown", { quotedCredits: 2 }, 409, { code: "price_changed", quotedCredits: 1 }],
    ["a negative price", { quotedCredits: -1 }, 400, { code: "validation_failed" }],
    ["a fractional price", { quotedCredits: 0.5 }, 400, { code: "validation_failed" }],
    ["a price in words", { quotedCredits: "1" }, 400, { code: "validation_failed" }],
    ["a price beyond all bounds", { quotedCredits: 2 ** 53 }, 400, { code: "validation_failed" }],
    ["a field too many", { stray: true }, 400, { code: "validation_failed" }],
    ["text that can't be stored", { prompt: "a\u0000b" }, 400, { code: "validation_failed" }],
    ["a conversation that is no id", { conversationId: "1" }, 400, { code: "validation_failed" }],
    ["a conversation that is not there", { conversationId: "019a0000-0000-7000-8000-000000000000" }, 404, { code: "not_found" }],
  ])("%s", async (_name, request, status, body) => {
    const person = await createPerson(api, database.db);
    expect(await problem(await send(api, person, request))).toMatchObject({ httpStatus: status, ...body });
    await expectNothingWritten(person);
  });

  test("a key that is missing, too short or too long", async () => {
    const person = await createPerson(api, database.db);
    for (const key of ["short", "k".repeat(201)])
      expect(await problem(await send(api, person, {}, { key }))).toMatchObject({ code: "validation_failed" });
    await expectNothingWritten(person);
  });

  test("nobody's call, and somebody who is neither subscribed nor on trial", async () => {
    expect((await fetch(`${api.url}/api/generations`, { method: "POST" })).status).toBe(401);
    const person = await createPerson(api, database.db, { credits: 0 });
    expect(await problem(await send(api, person))).toMatchObject({ httpStatus: 402, code: "subscription_required" });
    await expectNothingWritten(person);
  });

  test("a large model on the trial, whose credits reach small ones", async () => {
    const person = await createPerson(api, database.db, { credits: 0, trialCredits: 50 });
    expect(await problem(await send(api, person, { model: "gpt-5", quotedCredits: 5 }))).toMatchObject({ code: "subscription_required" });
    await expectNothingWritten(person);
    expect((await ask(api, person)).receipt).toMatchObject({ chargedCredits: 1, availableAfter: 49 });
  });

  test("too few credits, with what is needed and what there is", async () => {
    const person = await createPerson(api, database.db, { credits: 3, plan: "starter" });
    expect(await problem(await send(api, person, { model: "gpt-5", quotedCredits: 5 }))).toMatchObject({
      httpStatus: 402,
      code: "insufficient_credits",
      needed: 5,
      available: 3,
    });
    await expectNothingWritten(person);
  });

  test("a model without credentials", async () => {
    const bare = await startAnswerProcess(database.applicationUrl, models.url);
    bare.deps.models = { ...bare.deps.models, isAvailable: (model) => model.provider !== "mistral" };
    const person = await createPerson(bare, database.db, { plan: "starter" });
    expect(await problem(await send(bare, person, { model: "mistral-large-latest", quotedCredits: 5 }))).toMatchObject({
      httpStatus: 503,
      code: "model_unavailable",
    });
    await bare.close();
  });
});

describe("the plan's limits", () => {
  test("twenty sends at once on Starter: one is answered, the others are told", async () => {
    models.pace.milliseconds = 200;
    const person = await createPerson(api, database.db, { plan: "starter" });
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(api, person)));
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    const refused = await Promise.all(responses.filter((response) => response.status !== 200).map(problem));
    expect(refused.every((each) => each.code === "too_many_answers" && each.httpStatus === 429)).toBe(true);
    models.pace.milliseconds = 0;
    const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
    expect((await call(api, person, "POST", `/api/generations/${id}/stop`)).status).toBe(200);
  });

  test("the eleventh answer within a minute on Starter waits, and is told how long", async () => {
    const person = await createPerson(api, database.db, { plan: "starter" });
    for (let count = 0; count < 10; count += 1) expect((await ask(api, person)).receipt?.status).toBe("completed");
    const refused = await problem(await send(api, person));
    expect(refused).toMatchObject({ httpStatus: 429, code: "rate_limited" });
    expect(Number(refused.retryAfter)).toBe(refused.retryAfterSeconds);
    expect(refused.retryAfterSeconds).toBeGreaterThan(45);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test("with credits for five and ten sends at once on Enterprise: five are answered, balance 0", async () => {
    const person = await createPerson(api, database.db, { credits: 5, plan: "enterprise" });
    const responses = await Promise.all(Array.from({ length: 10 }, () => send(api, person)));
    const answered = responses.filter((response) => response.status === 200);
    expect(answered).toHaveLength(5);
    for (const response of answered) expect((await readAnswer(response)).receipt?.status).toBe("completed");
    for (const response of responses.filter((each) => each.status !== 200))
      expect(await problem(response)).toMatchObject({ code: "insufficient_credits", needed: 1 });
    const { balance } = await database.db
      .selectFrom("wallets")
      .select("balance")
      .where("id", "=", person.walletId)
      .executeTakeFirstOrThrow();
    expect(balance).toBe(0);
  });
});

test("another person's answer is not there", async () => {
  const owner = await createPerson(api, database.db);
  const stranger = await createPerson(api, database.db);
  const { generationId, conversationId } = await ask(api, owner);
  for (const [method, path] of [
    ["GET", `/api/generations/${generationId}`],
    ["GET", `/api/generations/${generationId}/events`],
    ["POST", `/api/generations/${generationId}/stop`],
    ["GET", `/api/conversations/${conversationId}`],
    ["DELETE", `/api/conversations/${conversationId}`],
  ] as const)
    expect(await problem(await call(api, stranger, method, path))).toMatchObject({ httpStatus: 404, code: "not_found" });
  expect(await problem(await send(api, stranger, { conversationId }))).toMatchObject({ httpStatus: 404 });
  expect(await problem(await call(api, owner, "GET", "/api/generations/1"))).toMatchObject({ httpStatus: 400 });
});

test("credits that are locked for want of a subscription are not named as available", async () => {
  const person = await createPerson(api, database.db, { credits: 1 });
  const now = new Date();
  const pack = { userId: person.userId, kind: "pack", credits: 2, expiresAt: addMonths(now, 12), key: `pack:${randomUUID()}` } as const;
  await inTransaction(database.db, (trx) => postGrant(trx, pack, now));
  const refused = await send(api, person, { model: "gpt-5", quotedCredits: 5 });
  expect([refused.status, await refused.json()]).toMatchObject([402, { code: "insufficient_credits", needed: 5, available: 1 }]);
});
