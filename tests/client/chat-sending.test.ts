/** What the chat sends, and what it holds back (spec §5). */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sendPrompt, threadOf, useChat } from "#client/features/chat/chat-store.ts";
import { newThreadKey } from "#client/features/chat/thread.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { origin, stubPage } from "./page-stubs.ts";

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
  // Ends what is being followed, too.
  sessionStore.setState({ status: "signed_out", user: null });
  server.resetHandlers();
});
afterAll(() => server.close());

function send(threadKey: string, prompt: string, idempotencyKey: string): Promise<boolean> {
  return sendPrompt({ threadKey, modelId: "gpt-5-mini", prompt, quotedCredits: 1, idempotencyKey, onStarted: () => undefined });
}

describe("a prompt (spec §5)", () => {
  it("is not sent while a reply in its conversation is pending; another conversation's is", async () => {
    server.use(
      http.post(`${origin}/api/generations`, async ({ request }) => {
        asked.push(((await request.json()) as { prompt: string }).prompt);
        return new Promise<never>(() => undefined);
      }),
    );
    const pending = send(newThreadKey, "First", "key-1");
    await expect.poll(() => asked.length).toBe(1);
    expect(await send(newThreadKey, "Too soon", "key-2")).toBe(false);
    expect(threadOf(newThreadKey).messages.map(({ content }) => content)).toEqual(["First"]);
    const elsewhere = send("0198c0de-0000-7000-8000-000000000002", "Elsewhere", "key-3");
    await expect.poll(() => asked.length).toBe(2);
    expect(asked).toEqual(["First", "Elsewhere"]);
    sessionStore.setState({ status: "signed_out", user: null });
    expect(await Promise.all([pending, elsewhere])).toEqual([false, false]);
    expect(useChat.getState().threads).toEqual({});
  });

  it("that is refused leaves the conversation as it was, with the reason", async () => {
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
  });
});
