/** Branches of a conversation: an edited question, an answer asked again, the branch that is shown, and what goes to the model. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "#contract/conversations.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { startTogether } from "#server/features/generations/service.ts";
import { callStart } from "#server/features/generations/starts.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, askAndHold, call, resume, send, startAnswerWorld, storedText } from "#tests/support/answers.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import { startOf } from "#tests/support/starts.ts";

let world: AnswerWorld;
let api: AnswerWorld["api"];
let database: AnswerWorld["database"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ api, database } = world);
  world.models.pace.milliseconds = 0;
});
afterAll(() => world.close());

async function read(person: TestPerson, id: string): Promise<Conversation> {
  return (await (await call(api, person, "GET", `/api/conversations/${id}`)).json()) as Conversation;
}

function show(person: TestPerson, id: string, headId: string): Promise<Response> {
  return fetch(`${api.url}/api/conversations/${id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${person.token}`, "content-type": "application/json" },
    body: JSON.stringify({ headId }),
  });
}

async function walletOf(person: TestPerson) {
  return database.db.selectFrom("wallets").select(["held", "balance"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

/** What the model was asked last, as role and text. */
function askedLast(): [string, string][] {
  return world.models.lastMessages().map(({ role, content }) => [role, content]);
}

async function expectBranches(): Promise<void> {
  const person = await createPerson(api, database.db);
  const first = await ask(api, person, { prompt: "One" });
  const { conversationId } = first;
  const second = await ask(api, person, { prompt: "Two", conversationId });
  const edited = await ask(api, person, { prompt: "Two, but shorter", conversationId, parentId: first.answerId });
  expect(askedLast()).toEqual([
    ["user", "One"],
    ["assistant", first.text],
    ["user", "Two, but shorter"],
  ]);
  const after = await ask(api, person, { prompt: "Three", conversationId });
  expect(askedLast().map(([, text]) => text)).toEqual(["One", first.text, "Two, but shorter", edited.text, "Three"]);
  const { messages, headId } = await read(person, conversationId);
  expect(headId).toBe(after.answerId);
  expect(messages.map(({ id, parentId }) => [id, parentId])).toEqual([
    [first.questionId, null],
    [first.answerId, first.questionId],
    [second.questionId, first.answerId],
    [second.answerId, second.questionId],
    [edited.questionId, first.answerId],
    [edited.answerId, edited.questionId],
    [after.questionId, edited.answerId],
    [after.answerId, after.questionId],
  ]);
  expect((await show(person, conversationId, second.answerId)).status).toBe(200);
  expect((await read(person, conversationId)).headId).toBe(second.answerId);
  await ask(api, person, { prompt: "On the first branch", conversationId });
  expect(askedLast().map(([, text]) => text)).toEqual(["One", first.text, "Two", second.text, "On the first branch"]);
}

test("an edited question stands beside the first one; only its own branch goes to the model, and nothing is lost", expectBranches);

test("the first question can be edited: what follows goes to the model without what stood there before", async () => {
  const person = await createPerson(api, database.db);
  const { conversationId } = await ask(api, person, { prompt: "One" });
  const edited = await ask(api, person, { prompt: "Another one", conversationId, parentId: null });
  expect(edited.conversationId).toBe(conversationId);
  expect(askedLast()).toEqual([["user", "Another one"]]);
});

test("a question asked again, of the same or another model, has a second answer, each charged its price", async () => {
  const person = await createPerson(api, database.db, { plan: "starter", credits: 20 });
  const first = await ask(api, person, { prompt: "One" });
  const { conversationId, questionId } = first;
  const again = await ask(api, person, { prompt: undefined, conversationId, questionId, model: "gpt-6.1-sol", quotedCredits: 5 });
  expect(askedLast()).toEqual([["user", "One"]]);
  expect(again).toMatchObject({ questionId, receipt: { modelId: "gpt-6.1-sol", chargedCredits: 5, availableAfter: 14 } });
  const { messages, headId } = await read(person, conversationId);
  expect(messages.map(({ id, parentId }) => [id, parentId])).toEqual([
    [questionId, null],
    [first.answerId, questionId],
    [again.answerId, questionId],
  ]);
  expect(headId).toBe(again.answerId);
  expect((await call(api, person, "DELETE", `/api/conversations/${conversationId}`)).status).toBe(204);
  expect([await storedText(database.db, first.generationId), await storedText(database.db, again.generationId)]).toEqual([
    undefined,
    undefined,
  ]);
});

test("a failed answer does not go to the model, and its question can be asked again", async () => {
  const person = await createPerson(api, database.db);
  world.models.faults.set({ model: "*", fault: "server_error", count: 2, afterTokens: 0, delayMs: 0 });
  const failed = await ask(api, person, { prompt: "One" });
  expect(failed.receipt?.status).toBe("failed");
  const { conversationId, questionId } = failed;
  expect((await ask(api, person, { prompt: undefined, conversationId, questionId })).receipt?.status).toBe("completed");
});

test("another person's messages, those of another conversation and those of the wrong kind are not found, and nothing is held", async () => {
  const [person, stranger] = [await createPerson(api, database.db), await createPerson(api, database.db)];
  const [own, other, foreign] = [await ask(api, person), await ask(api, person), await ask(api, stranger)];
  const { conversationId } = own;
  const requests = [
    { conversationId, parentId: foreign.answerId },
    { conversationId, parentId: other.answerId },
    { conversationId, parentId: own.questionId },
    { conversationId, parentId: randomUUID() },
    { conversationId: foreign.conversationId, parentId: foreign.answerId },
    { prompt: undefined, conversationId, questionId: foreign.questionId },
    { prompt: undefined, conversationId, questionId: own.answerId },
    { parentId: own.answerId },
  ];
  for (const request of requests) expect((await send(api, person, request)).status, JSON.stringify(request)).toBe(404);
  expect((await send(api, person, { conversationId, questionId: own.questionId })).status).toBe(400);
  expect((await send(api, person, { prompt: undefined })).status).toBe(400);
  for (const headId of [foreign.answerId, other.answerId, own.questionId, randomUUID()])
    expect((await show(person, conversationId, headId)).status).toBe(404);
  expect((await read(person, conversationId)).messages).toHaveLength(2);
  const { held } = await database.db.selectFrom("wallets").select("held").where("id", "=", person.walletId).executeTakeFirstOrThrow();
  expect(held).toBe(0);
});

const lone = (model = "gpt-6-luna", quotedCredits = 1) => ({
  idempotencyKey: randomUUID(),
  request: { model, prompt: "What is a tessera?", quotedCredits },
});

async function holdOf(generationId: string) {
  return database.db
    .selectFrom("holds")
    .innerJoin("generations", "generations.hold_id", "holds.id")
    .select(["holds.state", "holds.amount", "holds.settled", "holds.captured"])
    .where("generations.id", "=", generationId)
    .executeTakeFirstOrThrow();
}

test("an answer needs no conversation: it is held, streamed, charged and read by itself, and deleted with the account", async () => {
  const person = await createPerson(api, database.db, { credits: 5 });
  const asked = lone();
  const [start] = await startTogether(api.deps, api.answers, person.userId, [asked]);
  if (!start) expect.fail("nothing was started");
  const told = await resume(api, person, start.id, 0);
  expect(told.events[0]?.data.turn).toBeNull();
  expect(told.receipt).toMatchObject({ status: "completed", chargedCredits: 1, availableAfter: 4 });
  expect(await (await call(api, person, "GET", `/api/generations/${start.id}`)).json()).toMatchObject({
    chargedCredits: 1,
    parts: [{ kind: "text", text: told.text }],
  });
  const row = await database.db.selectFrom("generations").selectAll().where("id", "=", start.id).executeTakeFirstOrThrow();
  expect(row.cost_micro_dollars).toBe(Math.ceil((row.prompt_tokens ?? 0) * 0.1 + (row.completion_tokens ?? 0) * 0.5));
  await database.asOwner(`delete from users where id = '${person.userId}'`);
  expect(await storedText(database.db, start.id)).toBeUndefined();
  const { erased_at: erasedAt } = await database.db
    .selectFrom("generations")
    .select("erased_at")
    .where("id", "=", start.id)
    .executeTakeFirstOrThrow();
  expect(erasedAt).toBeInstanceOf(Date);
});

async function expectSharesSettledOnce(): Promise<void> {
  const person = await createPerson(api, database.db, { credits: 20 });
  const holdId = randomUUID();
  const now = new Date();
  const deadline = new Date(now.getTime() + 60_000);
  await holdCredits(database.db, { holdId, walletId: person.walletId, credits: 8, kinds: ["adjustment"], now, deadline, wallNow: now });
  const start = (credits: number) => ({ ...startOf(person.userId, null), holdId, credits, concurrentAnswers: 10 });
  const [dear, cheap, tooMuch] = [start(5), start(1), start(3)];
  expect((await callStart(database.db, dear)).outcome).toBe("created");
  expect((await callStart(database.db, cheap)).outcome).toBe("created");
  expect(await callStart(database.db, tooMuch)).toMatchObject({ outcome: "insufficient_credits", available: 2 });
  const { end } = createAnswerBatches(database.db);
  const told = { failureCode: null, cutShort: false, parts: [], promptTokens: 1, completionTokens: 1, costMicroDollars: null } as const;
  const ended = { ...told, lastFrames: undefined, kinds: ["adjustment"], now } as const;
  const hold = () =>
    database.db.selectFrom("holds").select(["state", "settled", "captured"]).where("id", "=", holdId).executeTakeFirstOrThrow();
  const settle = ({ id, owner }: typeof dear, chargedCredits: number) =>
    end({ ...ended, id, owner, status: chargedCredits > 0 ? "completed" : "failed", chargedCredits });
  // A share that is settled twice changes nothing the second time.
  for (const _ of [1, 2]) {
    expect(await settle(dear, 0)).toMatchObject({ charged_credits: 0, available_after: 17 });
    expect(await hold()).toEqual({ state: "open", settled: 5, captured: 0 });
  }
  expect(await settle(cheap, 1)).toMatchObject({ charged_credits: 1, available_after: 19 });
  expect(await hold()).toEqual({ state: "captured", settled: 8, captured: 1 });
  expect(await settle(cheap, 1)).toMatchObject({ charged_credits: 1 });
}

test("answers asked together have one hold, settle one by one as they end, and what failed is free", async () => {
  const person = await createPerson(api, database.db, { credits: 20, plan: "enterprise" });
  world.models.faults.set({ model: "gpt-6.1-sol", fault: "server_error", count: 2, afterTokens: 0, delayMs: 0 });
  world.models.faults.set({ model: "claude-haiku-4-5", fault: "slow_first_token", count: 1, afterTokens: 0, delayMs: 400 });
  const asks = [lone("gpt-6.1-sol", 5), lone("gpt-6-luna"), lone("claude-haiku-4-5")];
  const started = await startTogether(api.deps, api.answers, person.userId, asks);
  const [failed, quick, slow] = started.map(({ id }) => id);
  const receiptOf = async (id = "") => (await resume(api, person, id, 0)).receipt;
  expect(await receiptOf(failed)).toMatchObject({ status: "failed", heldCredits: 5, chargedCredits: 0 });
  expect(await receiptOf(quick)).toMatchObject({ status: "completed", chargedCredits: 1 });
  expect(await receiptOf(slow)).toMatchObject({ status: "completed", chargedCredits: 1, availableAfter: 18 });
  expect(await holdOf(slow ?? "")).toEqual({ state: "captured", amount: 7, settled: 7, captured: 2 });
  expect(await holdOf(failed ?? "")).toEqual(await holdOf(slow ?? ""));
  // The same keys again are the same answers, and nothing more is held.
  const again = await startTogether(api.deps, api.answers, person.userId, asks);
  expect(again.map(({ id }) => id)).toEqual(started.map(({ id }) => id));
  const { held, balance } = await walletOf(person);
  expect({ held, balance }).toEqual({ held: 0, balance: 18 });
});

test("of questions asked together all are started or none, and a refusal counts towards the rate", async () => {
  const person = await createPerson(api, database.db, { credits: 6, plan: "starter" });
  const together = (...asks: ReturnType<typeof lone>[]) => startTogether(api.deps, api.answers, person.userId, asks);
  const refusals: [ReturnType<typeof lone>[], string][] = [
    [[lone(), lone("gpt-6.1-sol", 4)], "price_changed"],
    [[lone("gpt-6.1-sol", 5), lone("gpt-6.1-sol", 5)], "insufficient_credits"],
    // Starter has one answer at a time.
    [[lone(), lone()], "too_many_answers"],
  ];
  for (const [asks, code] of refusals) await expect(together(...asks), code).rejects.toMatchObject({ code });
  expect(await walletOf(person)).toMatchObject({ held: 0, balance: 6 });
  expect(await database.db.selectFrom("generations").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
  // Starter's rate is ten a minute: for one more there is room, and for two there is none.
  for (let count = refusals.length; count < 9; count += 1)
    await expect(together(lone(), lone())).rejects.toMatchObject({ code: "too_many_answers" });
  await expect(together(lone(), lone())).rejects.toMatchObject({ code: "rate_limited" });
  await expect(together(lone())).rejects.toMatchObject({ code: "rate_limited" });
});

test("several answers share a hold, settle one by one and give back what is left with the last", expectSharesSettledOnce);

test("an answer whose conversation has many branches resumes in the one that is shown", async () => {
  const person = await createPerson(api, database.db);
  const first = await ask(api, person, { prompt: "One" });
  const { conversationId, questionId } = first;
  const begun = await askAndHold(world.models, api, person, { prompt: undefined, conversationId, questionId });
  const conversation = await read(person, conversationId);
  expect(conversation).toMatchObject({ streamingGenerationId: begun.generationId, headId: begun.answerId });
  expect(conversation.messages.at(-1)).toMatchObject({ id: begun.answerId, parts: [], receipt: { status: "streaming" } });
  world.models.pace.milliseconds = 0;
  expect((await resume(api, person, begun.generationId, 0)).receipt?.status).toBe("completed");
});

const plantedBugs: [name: string, inFunction: string, from: string, to: string, noticed: () => Promise<void>][] = [
  [
    "a question put after its conversation's end",
    "answers_start",
    `d."conversationId", d."parentId", 'user'`,
    `d."conversationId", (select c.head_id from conversations c where c.id = d."conversationId"), 'user'`,
    expectBranches,
  ],
  [
    "an answer put beside its question",
    "answers_start",
    `d."conversationId", d."questionId", 'assistant'`,
    `d."conversationId", d."parentId", 'assistant'`,
    expectBranches,
  ],
  ["an answer settled twice", "answers_end", "g.status = 'streaming' and case", "case", expectSharesSettledOnce],
];

test.each(plantedBugs)("a planted bug is noticed: %s", async (_name, inFunction, from, to, noticed) => {
  const repair = await plantBug(database, inFunction, (source) => source.replaceAll(from, to));
  await expect(noticed()).rejects.toThrow();
  await repair();
  await noticed();
});
