import { randomUUID } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addMonths, hourMs } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { postGrant } from "#server/features/credits/service.ts";
import { callStart } from "#server/features/generations/starts.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, call, readAnswer, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { startOf } from "#tests/support/starts.ts";
import { payerIdOf } from "../support/payers.ts";

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
      "a prompt of 10,001 characters",
      { prompt: "𝕏".repeat(10_001) },
      400,
      { code: "validation_failed", error: "Prompt must be less than 10,000 characters" },
    ],
    [
      "a prompt of more tokens than the price covers",
      { model: "claude-haiku-4-5", prompt: "😀".repeat(4_000) },
      422,
      { code: "prompt_too_long" },
    ],
    [
      "one for a picture",
      { model: "gpt-image-2.6-flare", prompt: "😀".repeat(4_000), quotedCredits: 10 },
      422,
      { code: "prompt_too_long" },
    ],
    ["no model", { model: " " }, 400, { code: "validation_failed", fields: [{ field: "model", message: "Model must be selected" }] }],
    ["an unknown model", { model: "gpt-9" }, 400, { code: "unknown_model" }],
    [
      "a model that has ended, naming its successor and the price",
      { model: "mistral-large-latest", quotedCredits: 5 },
      422,
      { code: "model_retired", successor: "mistral-medium-3-5", quotedCredits: 5 },
    ],
    ["a model of another kind that has ended", { model: "sora-2", quotedCredits: 50 }, 422, { code: "model_retired", quotedCredits: 50 }],
    ["another price than the one shown", { quotedCredits: 2 }, 409, { code: "price_changed", quotedCredits: 1 }],
    ["a negative price", { quotedCredits: -1 }, 400, { code: "validation_failed" }],
    ["a fractional price", { quotedCredits: 0.5 }, 400, { code: "validation_failed" }],
    ["a price in words", { quotedCredits: "1" }, 400, { code: "validation_failed" }],
    ["a price above every limit", { quotedCredits: 2 ** 53 }, 400, { code: "validation_failed" }],
    ["an unknown field", { stray: true }, 400, { code: "validation_failed" }],
    ["text that can't be stored", { prompt: "a\u0000b" }, 400, { code: "validation_failed" }],
    ["a conversation id that is no UUID", { conversationId: "1" }, 400, { code: "validation_failed" }],
    ["an unknown conversation", { conversationId: "019a0000-0000-7000-8000-000000000000" }, 404, { code: "not_found" }],
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

  test("a call without signing in, and one by a person with neither subscription nor trial", async () => {
    expect((await fetch(`${api.url}/api/generations`, { method: "POST" })).status).toBe(401);
    const person = await createPerson(api, database.db, { credits: 0 });
    expect(await problem(await send(api, person))).toMatchObject({ httpStatus: 402, code: "subscription_required" });
    await expectNothingWritten(person);
  });

  test("a large model on a trial, whose credits are for small models", async () => {
    const person = await createPerson(api, database.db, { credits: 0, trialCredits: 50 });
    expect(await problem(await send(api, person, { model: "gpt-6.1-sol", quotedCredits: 5 }))).toMatchObject({
      code: "subscription_required",
    });
    await expectNothingWritten(person);
    expect((await ask(api, person)).receipt).toMatchObject({ chargedCredits: 1, availableAfter: 49 });
  });

  test("too few credits, naming the credits needed and available", async () => {
    const person = await createPerson(api, database.db, { credits: 3, plan: "starter" });
    expect(await problem(await send(api, person, { model: "gpt-6.1-sol", quotedCredits: 5 }))).toMatchObject({
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
    expect(await problem(await send(bare, person, { model: "mistral-medium-3-5", quotedCredits: 5 }))).toMatchObject({
      httpStatus: 503,
      code: "model_unavailable",
    });
    await bare.close();
  });
});

describe("the plan's limits", () => {
  test("of twenty requests at once on Starter one is answered and the others are refused", async () => {
    models.pace.milliseconds = 200;
    const person = await createPerson(api, database.db, { plan: "starter" });
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(api, person)));
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    const refused = await Promise.all(responses.filter((response) => response.status !== 200).map(problem));
    expect(refused.every(({ httpStatus }) => httpStatus === 429)).toBe(true);
    // Starter's rate is ten a minute, and the refused ones count.
    expect(refused.filter(({ code }) => code === "too_many_answers")).toHaveLength(9);
    expect(refused.filter(({ code }) => code === "rate_limited")).toHaveLength(10);
    models.pace.milliseconds = 0;
    const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
    expect((await call(api, person, "POST", `/api/generations/${id}/stop`)).status).toBe(200);
  });

  test("the eleventh request within a minute on Starter is refused and told how long to wait", async () => {
    const person = await createPerson(api, database.db, { plan: "starter" });
    for (let count = 0; count < 10; count += 1) expect((await ask(api, person)).receipt?.status).toBe("completed");
    const refused = await problem(await send(api, person));
    expect(refused).toMatchObject({ httpStatus: 429, code: "rate_limited" });
    expect(Number(refused.retryAfter)).toBe(refused.retryAfterSeconds);
    expect(refused.retryAfterSeconds).toBeGreaterThan(45);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  test.each([
    ["for another price", { credits: 100, plan: "starter" }, { quotedCredits: 2 }, "price_changed"],
    ["for want of credits", { credits: 1, plan: "starter" }, { model: "gpt-6.1-sol", quotedCredits: 5 }, "insufficient_credits"],
    ["for want of a subscription", { credits: 0 }, {}, "subscription_required"],
    ["to an unknown conversation", { plan: "starter" }, { conversationId: randomUUID() }, "not_found"],
    ["without a recording", { plan: "starter" }, { model: "gpt-transcribe", quotedCredits: 2 }, "recording_missing"],
    [
      "to read an unknown answer",
      { plan: "starter" },
      { model: "voxtral-mini-tts-3-0", prompt: undefined, reads: randomUUID() },
      "not_found",
    ],
  ] as const)("refused sends %s count: a flood of them meets the limit", async (_name, means, request, code) => {
    const person = await createPerson(api, database.db, means);
    const codes = [];
    for (let count = 0; count < 14; count += 1) codes.push((await problem(await send(api, person, request))).code);
    expect(codes).toEqual(Array.from({ length: 14 }, (_, index) => (index < 10 ? code : "rate_limited")));
    expect((await problem(await send(api, person))).code).toBe("rate_limited");
    await database.asOwner(`update refused_sends set refused_at = array(select at - interval '1 minute' from unnest(refused_at) at)
      where user_id = '${person.userId}'`);
    expect((await problem(await send(api, person, request))).code).toBe(code);
    const { refused_at: kept } = await database.db
      .selectFrom("refused_sends")
      .select("refused_at")
      .where("user_id", "=", person.userId)
      .executeTakeFirstOrThrow();
    expect(kept).toHaveLength(1);
  });

  test("a key that is known finds its answer, whatever a new send would be refused for, and counts for nothing", async () => {
    const person = await createPerson(api, database.db, { credits: 1, plan: "starter" });
    const key = randomUUID();
    const first = await ask(api, person, {}, { key });
    for (let count = 0; count < 12; count += 1) expect((await ask(api, person, {}, { key })).generationId).toBe(first.generationId);
    expect(await problem(await send(api, person))).toMatchObject({ code: "insufficient_credits", needed: 1, available: 0 });
  });

  test("the rate limit uses PostgreSQL's clock, so that a process whose clock is an hour off applies it correctly", async () => {
    for (const offMs of [-hourMs, hourMs]) {
      const person = await createPerson(api, database.db, { plan: "starter" });
      const askAt = (at: number) =>
        callStart(database.db, {
          ...startOf(person.userId),
          id: uuidv7({ msecs: at }),
          kinds: ["adjustment", "plan"],
          requestsPerMinute: 3,
          concurrentAnswers: 100,
          now: new Date(at),
        });
      const outcomes = async (times: number[]) => {
        const results = [];
        for (const at of times) results.push(await askAt(at));
        return results;
      };
      const off = Date.now() + offMs;
      const first = await outcomes([off, off + 1, Date.now(), off + 2, Date.now()]);
      expect(first.map(({ outcome }) => outcome)).toEqual(["created", "created", "created", "rate_limited", "rate_limited"]);
      expect(first[3]?.retry_after_ms).toBeGreaterThan(45_000);
      expect(first[3]?.retry_after_ms).toBeLessThanOrEqual(60_000);
      // Pretend that a minute has passed.
      await database.asOwner(`update generations set asked_at = asked_at - interval '1 minute' where user_id = '${person.userId}'`);
      expect((await outcomes([off + 3]))[0]?.outcome).toBe("created");
    }
  });

  test("one person can have fifty open streams, however they were requested; a further request is refused before credits are held", async () => {
    models.pace.milliseconds = 500;
    const person = await createPerson(api, database.db, { plan: "starter" });
    const key = randomUUID();
    const first = await send(api, person, {}, { key });
    const rest = await Promise.all(Array.from({ length: 60 }, () => send(api, person, {}, { key })));
    expect(first.status).toBe(200);
    expect(rest.filter(({ status }) => status === 200)).toHaveLength(49);
    const refused = rest.filter(({ status }) => status !== 200);
    for (const response of refused) expect(await problem(response)).toMatchObject({ httpStatus: 429, code: "rate_limited" });
    const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
    expect((await call(api, person, "GET", `/api/generations/${id}/events`)).status).toBe(429);
    expect((await send(api, person)).status).toBe(429);
    expect(await database.db.selectFrom("holds").select("id").where("wallet_id", "=", person.walletId).execute()).toHaveLength(1);
    // Places are free again when the streams end; a request for an unknown answer takes none.
    expect((await call(api, person, "POST", `/api/generations/${id}/stop`)).status).toBe(200);
    await Promise.all([first, ...rest].map((response) => (response.bodyUsed ? undefined : response.text())));
    for (let round = 0; round < 60; round += 1)
      expect((await call(api, person, "GET", `/api/generations/${randomUUID()}/events`)).status).toBe(404);
    models.pace.milliseconds = 0;
    expect((await ask(api, person)).receipt?.status).toBe("completed");
  });

  test("of ten requests at once on Enterprise with five credits five are answered, and the balance is 0", async () => {
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

test("another person's answer is not found", async () => {
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

test("credits locked without a subscription are not counted as available", async () => {
  const person = await createPerson(api, database.db, { credits: 1 });
  const now = new Date();
  const payerId = await payerIdOf(database.db, person.userId);
  const pack = { payerId, kind: "pack", credits: 2, expiresAt: addMonths(now, 12), key: `pack:${randomUUID()}` } as const;
  await inTransaction(database.db, (trx) => postGrant(trx, pack, now));
  const refused = await send(api, person, { model: "gpt-6.1-sol", quotedCredits: 5 });
  expect([refused.status, await refused.json()]).toMatchObject([402, { code: "insufficient_credits", needed: 5, available: 1 }]);
});
