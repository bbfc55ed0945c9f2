import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation, ConversationSummary } from "#server/contract/generations.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, call, readAnswer, send, startAnswerWorld } from "#tests/support/answers.ts";
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

async function list(person: TestPerson, query = ""): Promise<{ conversations: ConversationSummary[]; nextCursor: string | null }> {
  return (await (await call(api, person, "GET", `/api/conversations${query}`)).json()) as {
    conversations: ConversationSummary[];
    nextCursor: string | null;
  };
}

async function read(person: TestPerson, id: string): Promise<Conversation> {
  return (await (await call(api, person, "GET", `/api/conversations/${id}`)).json()) as Conversation;
}

test("a conversation is titled by its first line, cut at 80 signs, and tells messages with receipts in order", async () => {
  const person = await createPerson(api, database.db);
  const first = await ask(api, person, { prompt: `${"😀".repeat(90)}\nsecond line` });
  const second = await ask(api, person, { prompt: "Go on", conversationId: first.conversationId });
  const conversation = await read(person, first.conversationId);
  expect(conversation.title).toBe("😀".repeat(80));
  expect(conversation.streamingGenerationId).toBeNull();
  expect(conversation.messages.map(({ role, content, receipt }) => [role, content, receipt])).toEqual([
    ["user", `${"😀".repeat(90)}\nsecond line`, null],
    ["assistant", first.text, first.receipt],
    ["user", "Go on", null],
    ["assistant", second.text, second.receipt],
  ]);
});

test("an answer that failed without a word leaves its receipt on the question", async () => {
  const person = await createPerson(api, database.db);
  models.faults.set({ model: "*", fault: "server_error", count: 1, afterTokens: 0, delayMs: 0 });
  const failed = await ask(api, person);
  const { messages } = await read(person, failed.conversationId);
  expect(messages.map(({ role, receipt }) => [role, receipt])).toEqual([["user", failed.receipt]]);
});

test("pages follow one another, latest first, without a gap or a double", async () => {
  const person = await createPerson(api, database.db, { plan: "enterprise" });
  const ids: string[] = [];
  for (let count = 0; count < 7; count += 1) ids.unshift((await ask(api, person, { prompt: `Question ${count}` })).conversationId);
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await list(person, `?limit=3${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.conversations.map((conversation) => conversation.id));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(ids);
  await ask(api, person, { conversationId: ids[6] ?? "" });
  expect((await list(person)).conversations[0]?.id).toBe(ids[6]);
  for (const bad of ["x", "MjAyNi0wMS0wMQ", "%00"])
    expect((await call(api, person, "GET", `/api/conversations?cursor=${bad}`)).status).toBe(400);
  expect((await call(api, person, "GET", "/api/conversations?limit=0")).status).toBe(400);
});

test("deleting stops the answer under way first; its receipt stays", async () => {
  models.pace.milliseconds = 20;
  const person = await createPerson(api, database.db);
  const begun = await readAnswer(await send(api, person), (seen) => seen.text !== "");
  expect((await read(person, begun.conversationId)).streamingGenerationId).toBe(begun.generationId);
  expect((await call(api, person, "DELETE", `/api/conversations/${begun.conversationId}`)).status).toBe(204);
  expect((await call(api, person, "GET", `/api/conversations/${begun.conversationId}`)).status).toBe(404);
  expect(await (await call(api, person, "GET", `/api/generations/${begun.generationId}`)).json()).toMatchObject({
    status: "stopped",
    chargedCredits: 1,
    conversationId: null,
  });
  expect((await list(person)).conversations).toEqual([]);
  models.pace.milliseconds = 0;
});
