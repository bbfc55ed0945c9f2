/** A shared device: what one person asked for never reaches the next one. */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { reload, useChat } from "#client/features/chat/chat-store.ts";
import { loadOlderConversations, refreshConversations, useConversations } from "#client/features/chat/conversations-store.ts";
import { useConversation } from "#client/features/support-widget/conversation-store.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { listKeptConversations, readKeptList } from "#client/offline/conversations.ts";
import { origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const id = "0198c0de-0000-7000-8000-00000000000a";
const summary = { id, title: "Ada's secret", updatedAt: "2026-02-01T10:00:00.000Z", createdAt: "2026-02-01T10:00:00.000Z" };
const message = { id: "m1", role: "user", content: "Ada's secret", timestamp: summary.updatedAt, receipt: null };

function signIn(name: "ada" | "grace" | null): void {
  const user = name && { id: name, email: `${name}@example.com`, user_metadata: { avatar_url: null } };
  sessionStore.setState({ status: user ? "signed_in" : "signed_out", user });
}

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
  signIn("ada");
});
afterEach(() => {
  signIn(null);
  server.resetHandlers();
});
afterAll(() => server.close());

/** Answers `path` only once Grace has taken Ada's place. */
function answerTooLate(path: string, body: object): void {
  server.use(
    http.get(origin + path, () => {
      signIn(null);
      signIn("grace");
      return HttpResponse.json(body);
    }),
  );
}

describe("what arrives after its person has left", () => {
  it("is not in the next one's list of conversations, nor kept for them", async () => {
    answerTooLate("/api/conversations", { conversations: [summary], nextCursor: null });
    await refreshConversations();
    expect(useConversations.getState().conversations).toEqual([]);
    await expect.poll(() => readKeptList("grace")).toEqual([]);
  });

  it("is not added to the next one's list of conversations", async () => {
    useConversations.setState({ status: "ready", conversations: [], nextCursor: "older" });
    answerTooLate("/api/conversations", { conversations: [summary], nextCursor: null });
    await loadOlderConversations();
    expect(useConversations.getState().conversations).toEqual([]);
  });

  it("is no thread of the next one's, nor kept for them", async () => {
    answerTooLate(`/api/conversations/${id}`, { ...summary, messages: [message], streamingGenerationId: null });
    await reload(id);
    expect(useChat.getState().threads).toEqual({});
    expect(await listKeptConversations("grace")).toEqual([]);
  });
});

describe("what was asked of the support widget", () => {
  it("is gone when its person signs out, and stays when a visitor signs in", async () => {
    const turn = { id: 1, from: "visitor", text: "My invoice?" } as const;
    useConversation.setState({ turns: [turn] });
    signIn(null);
    expect(useConversation.getState().turns).toEqual([]);
    useConversation.setState({ turns: [turn] });
    signIn("grace");
    expect(useConversation.getState().turns).toEqual([turn]);
  });
});
