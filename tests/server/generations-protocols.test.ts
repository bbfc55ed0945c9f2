/** The fairness rule, whichever protocol an answer comes by: what its provider does wrong costs nothing, and what it does right once. */
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Answer, SourcesEvent } from "#contract/generations/generations.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Model } from "#domain/models.ts";
import { modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import type { ModelFaultKind } from "#sandbox/models/faults.ts";
import { modelFaultKinds } from "#sandbox/models/faults.ts";
import { answersTable } from "#server/features/admin/person-tables.ts";
import { readTable } from "#server/features/admin/tables.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { sections } from "#server/features/own-data/sections.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, askAndHold, call, readAnswer, send, startAnswerProcess, startAnswerWorld, storedText } from "#tests/support/answers.ts";
import { dialects } from "#tests/support/dialects.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

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

const credits = 100;
const subscriber = () => createPerson(api, database.db, { credits, plan: "enterprise" });

/** Today. */
const offered = modelsAt(new Date());

function spoken(protocol: Model["protocol"]): Model {
  const model = offered.find((each) => each.protocol === protocol && each.category === "text");
  return model ?? expect.fail(`no text model is asked by ${protocol}`);
}

const failures: [ModelFaultKind, number, string][] = [
  ["die_mid_stream", 0, "provider_error"],
  ["die_mid_stream", 5, "provider_error"],
  ["rate_limited", 0, "provider_rate_limited"],
  ["server_error", 0, "provider_error"],
  ["hang", 0, "provider_timeout"],
  ["hang", 5, "provider_timeout"],
  ["garbage", 0, "provider_garbage"],
  ["garbage", 5, "provider_garbage"],
  ["empty", 0, "provider_empty"],
  ["content_filter", 0, "content_filtered"],
  ["content_filter", 5, "content_filtered"],
  ["length", 0, "provider_empty"],
  ["tool_calls", 0, "provider_error"],
  ["tool_calls", 5, "provider_error"],
];

/** The reason that the sandbox plays for each provider, which sends it in its own words. */
const filterReason = { openai: "violence", google: "copyright", anthropic: "cyber" } as const;
const saysWhy = (provider: Model["provider"]): FilterReason =>
  Object.hasOwn(filterReason, provider) ? filterReason[provider as "openai"] : "unspecified";

describe.each(dialects.map(({ protocol }) => spoken(protocol)))("by $protocol, asking $name", (model) => {
  const price = quoteCredits(model);
  const request = { model: model.id, quotedCredits: price };

  test.each(failures)("%s after %i tokens costs nothing, keeps the text, and a retry is charged once", async (fault, afterTokens, code) => {
    const person = await subscriber();
    models.pace.milliseconds = 1;
    // What a provider turns away with a 5xx is sent once more.
    const reason = saysWhy(model.provider);
    models.faults.set({ model: model.id, fault, count: fault === "server_error" ? 2 : 1, afterTokens, delayMs: 0, reason });
    const failed = await ask(fault === "hang" ? impatient : api, person, request);
    expect(failed.receipt).toMatchObject({ status: "failed", failureCode: code, chargedCredits: 0, availableAfter: credits });
    // Anthropic and Google say nothing about what they refuse at the door.
    const said = afterTokens === 0 && model.provider !== "openai" ? "unspecified" : reason;
    expect(failed.receipt?.filterReason).toBe(code === "content_filtered" ? said : undefined);
    expect(failed.text === "").toBe(afterTokens === 0);
    expect((await storedText(database.db, failed.generationId)) ?? "").toBe(failed.text);
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
    const retried = await ask(api, person, request);
    expect(retried.receipt).toMatchObject({ status: "completed", chargedCredits: price, availableAfter: credits - price });
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });

  test("an answer that reaches its maximum length is charged, and its receipt says that it was cut short", async () => {
    const person = await subscriber();
    models.faults.set({ model: "*", fault: "length", count: 1, afterTokens: 5, delayMs: 0 });
    const cut = await ask(api, person, request);
    expect(cut.receipt).toMatchObject({ status: "completed", failureCode: null, cutShort: true, chargedCredits: price });
    expect(await storedText(database.db, cut.generationId)).toBe(cut.text);
    expect(await (await call(api, person, "GET", `/api/conversations/${cut.conversationId}`)).json()).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", receipt: { cutShort: true } }],
    });
    const whole = await ask(api, person, { ...request, conversationId: cut.conversationId });
    expect(whole.receipt).toMatchObject({ status: "completed", cutShort: false, chargedCredits: price });
  });

  test.each(["no_usage", "zero_usage"] as const)(
    "an answer whose provider reports %s is complete, and costs its price once",
    async (fault) => {
      const person = await subscriber();
      models.faults.set({ model: "*", fault, count: 1, afterTokens: 0, delayMs: 0 });
      expect((await ask(api, person, request)).receipt).toMatchObject({ status: "completed", chargedCredits: price });
      expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
    },
  );

  test("a stop before any output is free, and after it costs the full price and ends the provider's request", async () => {
    const person = await subscriber();
    models.faults.set({ model: "*", fault: "slow_first_token", count: 1, afterTokens: 0, delayMs: 20_000 });
    const reading = readAnswer(await send(api, person, request));
    const { id } = await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).executeTakeFirstOrThrow();
    const before = await (await call(api, person, "POST", `/api/generations/${id}/stop`)).json();
    expect(before).toMatchObject({ status: "stopped", chargedCredits: 0 });
    expect((await reading).receipt).toEqual(before);
    const seen = await askAndHold(models, api, person, request);
    const after = await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
    expect(after).toMatchObject({ status: "stopped", chargedCredits: price });
    expect(await storedText(database.db, seen.generationId)).toContain(seen.text);
    await expect.poll(() => models.calls.list()[0]?.outcome).toBe("aborted");
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });
});

test("an answer with a search has its sources as a part after its text: in the stream, when it is read again, and once its events are gone", async () => {
  const searching = offered.filter(({ category, protocol }) => category === "search" && protocol !== undefined);
  expect(searching.length).toBeGreaterThan(0);
  for (const model of searching) {
    const person = await subscriber();
    const answer = await ask(api, person, { model: model.id, quotedCredits: quoteCredits(model) });
    const sources = answer.events.flatMap(({ event, data }) => (event === "sources" ? (data as SourcesEvent).sources : []));
    expect(sources, model.name).toHaveLength(2);
    expect(sources[0]).toMatchObject({ url: "https://news.example/sandbox", title: expect.stringContaining("Sandbox source") });
    const parts = [
      { kind: "text", text: answer.text },
      { kind: "sources", sources },
    ];
    expect(await (await call(api, person, "GET", `/api/generations/${answer.generationId}`)).json()).toMatchObject({ parts });
    expect(await (await call(api, person, "GET", `/api/conversations/${answer.conversationId}`)).json()).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", parts }],
    });
    await database.db
      .updateTable("generations")
      .set({ ended_at: new Date("2020-01-01") })
      .where("id", "=", answer.generationId)
      .execute();
    const retold = await readAnswer(await call(api, person, "GET", `/api/generations/${answer.generationId}/events`));
    expect(retold.events.map(({ event }) => event)).toEqual(["start", "delta", "sources", "receipt"]);
    expect(retold.events[2]?.data).toEqual({ sources });
    // How often it searched is on its receipt. A model that always searches does not say it.
    const searches = model.protocol === "openai-chat" ? undefined : 1;
    expect([answer.receipt?.searches, retold.receipt?.searches]).toEqual([searches, searches]);
  }
});

const perplexity = offered.find(({ provider, protocol }) => provider === "perplexity" && protocol !== undefined);

test("what a filter stopped goes with the conversation, and the figures stay with the receipt", async () => {
  const person = await subscriber();
  const model = offered.find(({ protocol, category }) => protocol === "openai-responses" && category === "text") ?? expect.fail("no model");
  models.faults.set({ model: model.id, fault: "content_filter", count: 1, afterTokens: 3, delayMs: 0, reason: "self_harm" });
  const { receipt, conversationId, generationId } = await ask(api, person, { model: model.id, quotedCredits: quoteCredits(model) });
  expect(receipt).toMatchObject({ chargedCredits: 0, filterReason: "self_harm", searches: 0, thinkingTokens: expect.any(Number) });
  const kept = () =>
    database.db
      .selectFrom("generations")
      .select(["failure_code", "filter_reason", "searches", "thinking_tokens"])
      .where("id", "=", generationId)
      .executeTakeFirstOrThrow();
  const figures = { failure_code: "content_filtered", searches: 0, thinking_tokens: receipt?.thinkingTokens };
  expect(await kept()).toEqual({ ...figures, filter_reason: "self_harm" });
  const listed = await readTable(database.db, answersTable, {}, { userId: person.userId, filterReason: "self_harm" });
  expect(listed.rows).toMatchObject([{ id: generationId, failure: "content_filtered", filterReason: "self_harm", searches: 0 }]);
  expect((await readTable(database.db, answersTable, {}, { userId: person.userId, filterReason: "hate" })).rows).toEqual([]);
  const receipts = sections.find(({ name }) => name === "receipts") ?? expect.fail("no receipts");
  const exported = await receipts.rows(person.userId).execute(database.db);
  expect(exported.rows.map(({ item }) => item)).toMatchObject([{ failure: "content_filtered", filterReason: "self_harm", searches: 0 }]);
  await call(api, person, "DELETE", `/api/conversations/${conversationId}`);
  expect(await kept()).toEqual({ ...figures, filter_reason: null });
  // The columns accept only short words like ours, and figures within bounds.
  for (const [column, value] of [
    ["filter_reason", "Violence!"],
    ["filter_reason", "x".repeat(31)],
    ["searches", 10_001],
    ["thinking_tokens", -1],
  ] as const)
    await expect(sql`update generations set ${sql.ref(column)} = ${value} where id = ${generationId}`.execute(database.db)).rejects.toThrow(
      /check/,
    );
});

test.each([...dialects.map(({ protocol }) => spoken(protocol)), perplexity ?? expect.fail("no model of Perplexity's")])(
  "an answer of $name whose process dies is ended by another one, free of charge, with what it said",
  async (model) => {
    models.pace.milliseconds = 15;
    const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
    const person = await subscriber();
    const response = await send(dying, person, { model: model.id, quotedCredits: quoteCredits(model) });
    const seen = await readAnswer(response, ({ events }) => events.length >= 10);
    const logged = database.db.selectFrom("generation_events").select("last_event").where("generation_id", "=", seen.generationId);
    // Its sources and some of its words.
    await expect.poll(async () => Math.max(0, ...(await logged.execute()).map((row) => row.last_event))).toBeGreaterThan(4);
    // Closes the process's connections to PostgreSQL, as kill -9 does.
    await dying.deps.pool.end();
    await expect.poll(() => endOrphanedAnswers(api.deps)).toBe(1);
    const { parts, ...receipt } = (await (await call(api, person, "GET", `/api/generations/${seen.generationId}`)).json()) as Answer;
    expect(receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0, availableAfter: credits });
    expect(parts.map(({ kind }) => kind)).toEqual(model.category === "search" ? ["text", "sources"] : ["text"]);
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
    await dying.app.close();
    await dying.deps.clock.close();
    await dying.deps.live.close();
  },
);

test("a model that fails five times in a row is refused as temporarily unavailable, with the next try, and other models are not", async () => {
  const down = await startAnswerProcess(database.applicationUrl, models.url);
  const [model, other] = [spoken("openai-chat"), spoken("anthropic-messages")];
  const person = await subscriber();
  const request = { model: model.id, quotedCredits: quoteCredits(model) };
  models.faults.set({ model: model.id, fault: "garbage", count: null, afterTokens: 0, delayMs: 0 });
  for (let count = 0; count < 5; count += 1) expect((await ask(down, person, request)).receipt).toMatchObject({ status: "failed" });
  const [latest] = models.calls.list();
  const refused = await send(down, person, request);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ code: "model_unavailable", retryAfterSeconds: expect.any(Number) });
  expect(models.calls.list()[0]).toBe(latest);
  expect((await ask(down, person, { model: other.id, quotedCredits: quoteCredits(other) })).receipt).toMatchObject({ status: "completed" });
  expect(await wallet(person)).toEqual({ balance: credits - quoteCredits(other), held: 0 });
  await down.close();
});

test("over a run with a fault in every tenth answer, each person pays for the answers that are complete", async () => {
  const spokenModels = dialects.map(({ protocol }) => spoken(protocol));
  const kinds = modelFaultKinds.filter((kind) => kind !== "hang" && kind !== "slow_first_token");
  const people = await Promise.all([1, 2, 3, 4].map(() => createPerson(api, database.db, { credits: 200, plan: "enterprise" })));
  for (let round = 0; round < 30; round += 1) {
    const model = spokenModels[round % spokenModels.length] ?? expect.fail("no model");
    const fault = kinds[round % kinds.length] ?? expect.fail("no fault");
    // Four answers a round, and two faults in five rounds: one in ten.
    if (round % 5 < 2) models.faults.set({ model: model.id, fault, count: 1, afterTokens: round % 7, delayMs: 0 });
    await Promise.all(people.map((person) => ask(api, person, { model: model.id, quotedCredits: quoteCredits(model) })));
    models.faults.clear("*");
  }
  for (const person of people) {
    const rows = await database.db
      .selectFrom("generations")
      .select(["status", "quoted_credits", "charged_credits"])
      .where("user_id", "=", person.userId)
      .execute();
    expect(rows).toHaveLength(30);
    for (const row of rows) expect(row.charged_credits).toBe(row.status === "completed" ? row.quoted_credits : 0);
    const paid = rows.reduce((sum, row) => sum + (row.charged_credits ?? 0), 0);
    expect(await wallet(person)).toEqual({ balance: 200 - paid, held: 0 });
  }
  const failed = await database.db
    .selectFrom("generations")
    .select("id")
    .where("status", "=", "failed")
    .where(
      "user_id",
      "in",
      people.map(({ userId }) => userId),
    )
    .execute();
  expect(failed.length).toBeGreaterThan(5);
});
