/** The branch of a conversation that is on the screen, and what a send says about where it belongs. */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { branchTo, endAfter, versionsOf } from "#client/features/chat/branches.ts";
import { reload, sendPrompt, showVersion, threadOf } from "#client/features/chat/chat-store.ts";
import type { Place } from "#client/features/chat/thread.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { Conversation, Message } from "#contract/conversations.ts";
import { textOf } from "#domain/messages.ts";
import { origin, stubPage } from "./page-stubs.ts";

const user = { id: "0198c0de-0000-7000-8000-000000000001", email: "ada@example.com", user_metadata: { avatar_url: null } };
const conversationId = "0198c0de-0000-7000-8000-000000000002";
const server = setupServer();
let asked: Record<string, unknown>[] = [];
let shown: unknown[] = [];

const message = (id: string, parentId: string | null): Message => ({
  ...{ id, parentId, role: id.startsWith("q") ? "user" : "assistant", timestamp: "2026-11-20T00:00:00.000Z", receipt: null },
  parts: [{ kind: "text", text: `Text of ${id}` }],
});
/** q1 has two answers; after the second one q2 was edited to q3. */
const all = [
  message("q1", null),
  message("a1", "q1"),
  message("a2", "q1"),
  message("q2", "a2"),
  message("a3", "q2"),
  message("q3", "a2"),
  message("a4", "q3"),
];
const conversation: Conversation = {
  ...{ id: conversationId, title: "Stones", pinned: false, createdAt: "2026-11-20T00:00:00.000Z", updatedAt: "2026-11-20T00:00:00.000Z" },
  ...{ messages: all, earlierThan: null, headId: "a3", streamingGenerationId: null },
};
const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);
const onScreen = () => ids(threadOf(conversationId).messages);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(async () => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
  sessionStore.setState({ status: "signed_in", user });
  [asked, shown] = [[], []];
  server.use(
    http.get(`${origin}/api/conversations/:id`, () => HttpResponse.json(conversation)),
    http.patch(`${origin}/api/conversations/:id`, async ({ request }) => {
      shown.push(await request.json());
      return HttpResponse.json(conversation);
    }),
    http.post(`${origin}/api/generations`, async ({ request }) => {
      asked.push((await request.json()) as Record<string, unknown>);
      return HttpResponse.json({ code: "insufficient_credits", needed: 5, available: 3 }, { status: 402 });
    }),
  );
  await reload(conversationId);
});
afterEach(() => {
  sessionStore.setState({ status: "signed_out", user: null });
  server.resetHandlers();
});
afterAll(() => server.close());

describe("a branch", () => {
  it("goes from the first message to its end, and to the newest message where no end is known", () => {
    expect(ids(branchTo(all, "a3"))).toEqual(["q1", "a2", "q2", "a3"]);
    expect(ids(branchTo(all, "a1"))).toEqual(["q1", "a1"]);
    for (const head of [null, "gone"]) expect(ids(branchTo(all, head))).toEqual(["q1", "a2", "q3", "a4"]);
    expect(branchTo([], null)).toEqual([]);
  });

  it("ends for messages that lead to each other in a circle", () => {
    expect(ids(branchTo([message("q1", "a1"), message("a1", "q1")], "a1"))).toEqual(["q1", "a1"]);
  });

  it("knows the versions of each message, and goes on from one with the newest that follows", () => {
    expect(ids(versionsOf(all, message("a1", "q1")))).toEqual(["a1", "a2"]);
    expect(ids(versionsOf(all, message("q2", "a2")))).toEqual(["q2", "q3"]);
    expect(endAfter(all, message("a2", "q1")).id).toBe("a4");
  });
});

describe("a long conversation", () => {
  it("is read page by page, and shown once it is whole", async () => {
    const read: (string | null)[] = [];
    server.use(
      http.get(`${origin}/api/conversations/:id`, ({ request }) => {
        const before = new URL(request.url).searchParams.get("before");
        read.push(before);
        const end = before === null ? all.length : all.findIndex(({ id }) => id === before);
        const messages = all.slice(Math.max(0, end - 3), end);
        return HttpResponse.json({ ...conversation, messages, earlierThan: end > 3 ? messages[0]?.id : null });
      }),
    );
    await reload(conversationId);
    expect(read).toEqual([null, "a3", "a1"]);
    expect(ids(threadOf(conversationId).all)).toEqual(ids(all));
    expect(onScreen()).toEqual(["q1", "a2", "q2", "a3"]);
  });
});

describe("a walk between versions", () => {
  it("shows the branch that is chosen at once, and the server remembers it", async () => {
    expect(onScreen()).toEqual(["q1", "a2", "q2", "a3"]);
    showVersion(conversationId, message("a1", "q1"));
    expect(onScreen()).toEqual(["q1", "a1"]);
    showVersion(conversationId, message("q3", "a2"));
    expect(onScreen()).toEqual(["q1", "a2", "q3", "a4"]);
    await expect.poll(() => shown).toEqual([{ headId: "a1" }, { headId: "a4" }]);
  });

  it("works without a connection", async () => {
    server.use(http.patch(`${origin}/api/conversations/:id`, () => HttpResponse.error()));
    showVersion(conversationId, message("a1", "q1"));
    expect(onScreen()).toEqual(["q1", "a1"]);
  });
});

describe("a send", () => {
  const send = (place?: Place) =>
    sendPrompt({
      ...{ threadKey: conversationId, modelId: "gpt-5", prompt: "Edited", quotedCredits: 5, idempotencyKey: crypto.randomUUID() },
      ...(place && { again: { modelId: "gpt-5", prompt: "Edited", place } }),
      onStarted: () => undefined,
    });

  it("follows the answer on the screen; edited it takes the place of its question, asked again it names the question", async () => {
    await send();
    await send({ parentId: "a2" });
    await send({ parentId: null });
    await send({ questionId: "q1" });
    const common = { model: "gpt-5", quotedCredits: 5, conversationId };
    expect(asked).toEqual([
      { ...common, prompt: "Edited", parentId: "a3" },
      { ...common, prompt: "Edited", parentId: "a2" },
      { ...common, prompt: "Edited", parentId: null },
      { ...common, questionId: "q1" },
    ]);
  });

  it("shows the edited question while it is asked, and what was there before when it is refused", async () => {
    const sending = send({ parentId: "a2" });
    expect(threadOf(conversationId).messages.map(textOf)).toEqual(["Text of q1", "Text of a2", "Edited"]);
    expect(await sending).toBe(false);
    expect(onScreen()).toEqual(["q1", "a2", "q2", "a3"]);
    expect(threadOf(conversationId).all).toEqual(all);
  });
});
