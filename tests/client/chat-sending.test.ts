/** What the chat sends and what it does not (specification §5). */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askAgain } from "#client/features/chat/ask-again.ts";
import { reload, sendPrompt, threadOf, useChat } from "#client/features/chat/chat-store.ts";
import { newThreadKey } from "#client/features/chat/thread.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { textOf } from "#domain/messages.ts";
import { completedReceipt, origin, stubPage } from "./page-stubs.ts";

const user = { id: "0198c0de-0000-7000-8000-000000000001", email: "ada@example.com", user_metadata: { avatar_url: null } };
const server = setupServer();
let asked: unknown[] = [];

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
  sessionStore.setState({ status: "signed_in", user });
  asked = [];
});
afterEach(() => {
  // Signing out also ends the streams.
  sessionStore.setState({ status: "signed_out", user: null });
  server.resetHandlers();
});
afterAll(() => server.close());

function send(threadKey: string, prompt: string, idempotencyKey: string): Promise<boolean> {
  return sendPrompt({ threadKey, modelId: "gpt-5-mini", prompt, quotedCredits: 1, idempotencyKey, onStarted: () => undefined });
}

describe("a prompt (specification §5)", () => {
  it("is not sent while an answer in its conversation is pending, but can be sent in another conversation", async () => {
    server.use(
      http.post(`${origin}/api/generations`, async ({ request }) => {
        asked.push(((await request.json()) as { prompt: string }).prompt);
        return new Promise<never>(() => undefined);
      }),
    );
    const pending = send(newThreadKey, "First", "key-1");
    await expect.poll(() => asked.length).toBe(1);
    expect(await send(newThreadKey, "Too soon", "key-2")).toBe(false);
    expect(threadOf(newThreadKey).messages.map(textOf)).toEqual(["First"]);
    const elsewhere = send("0198c0de-0000-7000-8000-000000000002", "Elsewhere", "key-3");
    await expect.poll(() => asked.length).toBe(2);
    expect(asked).toEqual(["First", "Elsewhere"]);
    sessionStore.setState({ status: "signed_out", user: null });
    expect(await Promise.all([pending, elsewhere])).toEqual([false, false]);
    expect(useChat.getState().threads).toEqual({});
  });

  it("that is refused leaves the conversation unchanged and shows the reason", async () => {
    server.use(
      http.post(`${origin}/api/generations`, () =>
        HttpResponse.json({ code: "insufficient_credits", needed: 5, available: 3 }, { status: 402 }),
      ),
    );
    expect(await send(newThreadKey, "Too dear", "key-4")).toBe(false);
    expect(threadOf(newThreadKey)).toMatchObject({
      messages: [],
      live: null,
      refusal: { code: "insufficient_credits", needed: 5, available: 3 },
    });
    // The refusal's figure replaces the one beside the price.
    expect(useChat.getState().lastAvailable).toBe(3);
  });

  it("is sent as confirmed only if the person agreed to the price", async () => {
    server.use(
      http.post(`${origin}/api/generations`, async ({ request }) => {
        asked.push(((await request.json()) as { confirmed?: boolean }).confirmed);
        return HttpResponse.json({ code: "confirmation_required", quotedCredits: 5 }, { status: 409 });
      }),
    );
    expect(await send(newThreadKey, "Dear", "key-5")).toBe(false);
    expect(threadOf(newThreadKey).refusal).toMatchObject({ code: "confirmation_required", quotedCredits: 5 });
    const again = { modelId: "gpt-5", prompt: "Go on", place: { parentId: "a1" } };
    await askAgain(again, { threadKey: newThreadKey, quotedCredits: 5, confirmed: true, onStarted: () => undefined });
    expect(asked).toEqual([undefined, true]);
  });

  it("asked again below an answer keeps its key until it has arrived or been refused, and a refusal names that answer", async () => {
    const again = { modelId: "gpt-5-mini", prompt: "Go on", place: { parentId: "a1" } };
    const ask = () => askAgain(again, { threadKey: newThreadKey, quotedCredits: 1, onStarted: () => undefined });
    let answer = () => HttpResponse.json({ code: "internal_error" }, { status: 500 });
    server.use(
      http.post(`${origin}/api/generations`, ({ request }) => {
        asked.push(request.headers.get("idempotency-key"));
        return answer();
      }),
    );
    await ask();
    answer = () => HttpResponse.json({ code: "price_changed", quotedCredits: 2 }, { status: 409 });
    await ask();
    expect(threadOf(newThreadKey).refusal).toMatchObject({ code: "price_changed", quotedCredits: 2, again });
    await ask();
    expect(asked[1]).toBe(asked[0]);
    expect(asked[2]).not.toBe(asked[0]);
  });
});

it("a conversation that was read before an answer, and comes after it, does not take the answer away", async () => {
  const id = "0198c0de-0000-7000-8000-000000000003";
  const at = "2026-11-20T00:00:00.000Z";
  const read = {
    id,
    title: "Stones",
    pinned: false,
    createdAt: at,
    updatedAt: at,
    messages: [],
    headId: null,
    streamingGenerationId: null,
  };
  const [questionId, answerId, generationId] = ["q1", "a1", "0198c0de-0000-7000-8000-00000000000a"];
  const message = { parentId: null, timestamp: at, receipt: null };
  const messages = [
    { ...message, id: questionId, role: "user", parts: [{ kind: "text", text: "Which last?" }] },
    { ...message, id: answerId, role: "assistant", parentId: questionId, parts: [{ kind: "text", text: "Granite" }] },
  ];
  const early = Promise.withResolvers<void>();
  let reads = 0;
  const start = {
    generationId,
    turn: { conversationId: id, questionId, answerId },
    modelId: "gpt-5-mini",
    heldCredits: 1,
    trimmedMessages: 0,
  };
  const events = { start, delta: { text: "Granite" }, receipt: completedReceipt(generationId) };
  const frames = Object.entries(events).map(
    ([event, data], index) => `id: ${index + 1}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  server.use(
    http.get(`${origin}/api/conversations/:id`, async () => {
      reads += 1;
      if (reads > 1) return HttpResponse.json({ ...read, messages, headId: answerId });
      await early.promise;
      return HttpResponse.json(read);
    }),
    http.post(`${origin}/api/generations`, () => new HttpResponse(frames.join(""), { headers: { "content-type": "text/event-stream" } })),
  );
  const loading = reload(id);
  await expect.poll(() => reads).toBe(1);
  expect(await send(id, "Which last?", "key-7")).toBe(true);
  early.resolve();
  await loading;
  expect(threadOf(id).messages.map(textOf)).toEqual(["Which last?", "Granite"]);
});
