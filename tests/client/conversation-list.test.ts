/** The list of conversations: deletions on other devices, and the place of unpinned conversations. */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  loadOlderConversations,
  refreshConversations,
  updateConversation,
  useConversations,
} from "#client/features/chat/conversations-store.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { keepConversation, readKeptConversation } from "#client/offline/conversations.ts";
import { readDraft, writeDrafts } from "#client/offline/drafts.ts";
import type { ConversationSummary } from "#contract/conversations.ts";
import { origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const idOf = (number: number) => `0198c0de-0000-7000-8000-${String(number).padStart(12, "0")}`;
const daysAgo = (days: number) => new Date(Date.UTC(2026, 1, 28) - days * 86_400_000).toISOString();

function conversation(number: number, pinned = false): ConversationSummary {
  return { id: idOf(number), title: `From ${number} days ago`, pinned, createdAt: daysAgo(number), updatedAt: daysAgo(number) };
}

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
  const user = { id: "ada", email: "ada@example.com", user_metadata: { avatar_url: null } };
  sessionStore.setState({ status: "signed_in", user });
});
afterEach(() => {
  sessionStore.setState({ status: "signed_out", user: null });
  server.resetHandlers();
});
afterAll(() => server.close());

describe("a conversation that was deleted elsewhere", () => {
  it("is removed from this device with its draft, whether it was opened here or not; other drafts stay", async () => {
    const draft = (text: string) => ({ text, modelId: null, unsettledKey: null });
    const [opened, never, alive] = [idOf(1), idOf(2), idOf(3)];
    const parts = [{ kind: "text" as const, text: "Secret" }];
    await keepConversation("ada", opened, [{ id: "m", parentId: null, role: "user", parts, timestamp: daysAgo(1), receipt: null }], null);
    await writeDrafts("ada", {
      ...{ [opened]: draft("a secret"), [never]: draft("another"), [alive]: draft("still wanted") },
      ...{ new: draft("a beginning"), aside: draft("put aside"), "no id": draft("nowhere") },
    });
    let asked: string[] = [];
    server.use(
      http.get(`${origin}/api/conversations`, () => HttpResponse.json({ conversations: [conversation(9)], nextCursor: "older" })),
      http.post(`${origin}/api/conversations/gone`, async ({ request }) => {
        asked = ((await request.json()) as { ids: string[] }).ids;
        return HttpResponse.json({ gone: asked.filter((id) => id !== alive) });
      }),
    );
    await refreshConversations();
    await expect.poll(() => readDraft("ada", never)).toBeUndefined();
    await expect.poll(() => readDraft("ada", opened)).toBeUndefined();
    expect(await readKeptConversation("ada", opened)).toBeUndefined();
    expect(asked.toSorted()).toEqual([opened, never, alive]);
    const kept = await Promise.all([alive, "new", "aside"].map((key) => readDraft("ada", key)));
    expect(kept.map((found) => found?.text)).toEqual(["still wanted", "a beginning", "put aside"]);
  });
});

describe("a conversation that is unpinned", () => {
  it("moves to its day, also among or beyond older conversations that are already loaded", async () => {
    const pages: Record<string, { conversations: ConversationSummary[]; nextCursor: string | null }> = {
      first: { conversations: [conversation(20, true), conversation(60, true), conversation(1), conversation(2)], nextCursor: "second" },
      second: { conversations: [conversation(10), conversation(30)], nextCursor: "third" },
      third: { conversations: [conversation(50), conversation(60), conversation(70)], nextCursor: null },
    };
    let first = pages.first;
    server.use(
      http.get(`${origin}/api/conversations`, ({ request }) => {
        const cursor = new URL(request.url).searchParams.get("cursor");
        return HttpResponse.json(cursor === null ? first : pages[cursor]);
      }),
      http.patch(`${origin}/api/conversations/:id`, ({ params }) => {
        const number = Number(String(params.id).slice(-12));
        return HttpResponse.json({ ...conversation(number), pinned: false });
      }),
      http.post(`${origin}/api/conversations/gone`, () => HttpResponse.json({ gone: [] })),
    );
    const order = () => useConversations.getState().conversations.map(({ id }) => Number(id.slice(-12)));
    await refreshConversations();
    await loadOlderConversations();
    expect(order()).toEqual([20, 60, 1, 2, 10, 30]);

    first = { conversations: [conversation(60, true), conversation(1), conversation(2)], nextCursor: "second" };
    await updateConversation(idOf(20), { pinned: false });
    expect(order()).toEqual([60, 1, 2, 10, 20, 30]);

    first = { conversations: [conversation(1), conversation(2)], nextCursor: "second" };
    await updateConversation(idOf(60), { pinned: false });
    await loadOlderConversations();
    expect(order()).toEqual([1, 2, 10, 20, 30, 50, 60, 70]);
  });
});
