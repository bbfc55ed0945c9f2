/** A shared device: what one person asked for never reaches the next one. */
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { reload, useChat } from "#client/features/chat/chat-store.ts";
import { loadOlderConversations, refreshConversations, useConversations } from "#client/features/chat/conversations-store.ts";
import { useConversation } from "#client/features/support-widget/conversation-store.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { listKeptConversations, readKeptList } from "#client/offline/conversations.ts";
import { startForgetting } from "#client/offline/forget-person.ts";
import type { QueuedForm } from "#client/offline/form-queue.ts";
import { writeQueuedForm } from "#client/offline/form-queue.ts";
import type { FormOutcome } from "#client/offline/form-sender.ts";
import { onFormOutcome, startFormQueue } from "#client/offline/form-sender.ts";
import { forgetGivenPrompt, keepGivenPrompt, readGivenPrompt } from "#client/offline/given-prompt.ts";
import { readCachedCheck, writeCachedCheck } from "#client/offline/subscription-cache.ts";
import type { SubscriptionCheck } from "#contract/billing.ts";
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

describe("a prompt that waits for its sender", () => {
  const prompt = { text: "A letter to my lawyer", modelId: null };

  it("that a visitor brought belongs to whoever signs in with it, and to nobody after them", async () => {
    await keepGivenPrompt(null, prompt);
    expect(await readGivenPrompt("ada")).toEqual(prompt);
    expect(await readGivenPrompt(null)).toBeUndefined();
    expect(await readGivenPrompt("grace")).toBeUndefined();
    await forgetGivenPrompt("grace");
    expect(await readGivenPrompt("ada")).toEqual(prompt);
    await forgetGivenPrompt("ada");
    expect(await readGivenPrompt("ada")).toBeUndefined();
  });

  it("that somebody signed in brought is never another's", async () => {
    await keepGivenPrompt("ada", prompt);
    expect(await readGivenPrompt(null)).toBeUndefined();
    expect(await readGivenPrompt("grace")).toBeUndefined();
    expect(await readGivenPrompt("ada")).toEqual(prompt);
  });
});

describe("a form that waits for a connection", () => {
  const fields = { name: "Ada", email: "ada@example.com", category: "support", subject: "", message: "My invoice is wrong" };
  const waiting = (owner: string | null): QueuedForm => {
    const due = { queuedAtMs: 0, attempts: 0, dueAtMs: 0, refusal: null };
    return { id: "f1", form: "contact", owner, fields, website: "", language: "en", ...due };
  };

  it.each([
    ["ada", "ada", "Bearer token"],
    ["grace", "ada", null],
    ["grace", null, null],
  ] as const)("goes out where %s is signed in and %s wrote it under the authority %s", async (signedIn, owner, expected) => {
    vi.stubGlobal("navigator", { onLine: true });
    const authority: (string | null)[] = [];
    server.use(
      http.post(`${origin}/api/contact`, ({ request }) => {
        authority.push(request.headers.get("authorization"));
        return HttpResponse.json({ id: "m1" }, { status: 202 });
      }),
    );
    signIn(signedIn);
    await writeQueuedForm(waiting(owner));
    const told: FormOutcome[] = [];
    const unlisten = onFormOutcome((outcome) => told.push(outcome));
    const stop = startFormQueue();
    await expect.poll(() => told).toEqual([{ id: "f1", form: "contact", owner, outcome: "sent" }]);
    stop();
    unlisten();
    expect(authority).toEqual([expected]);
  });
});

describe("the subscription kept for reading without a connection", () => {
  const check = {
    subscribed: true,
    subscription_tier: "basic",
    plan_name: "Basic Plan",
    credits: 12,
    subscription_end: null,
  } as SubscriptionCheck;

  it("is gone at a start that finds its person signed out, or another one in", async () => {
    for (const next of [null, "grace"] as const) {
      await writeCachedCheck("ada", { check, checkedAtMs: 1 });
      signIn(next);
      const stop = startForgetting();
      await expect.poll(() => readCachedCheck("ada")).toBeUndefined();
      stop();
    }
  });

  it("stays where its person is", async () => {
    await writeCachedCheck("ada", { check, checkedAtMs: 1 });
    await writeCachedCheck("grace", { check, checkedAtMs: 1 });
    const stop = startForgetting();
    await expect.poll(() => readCachedCheck("grace")).toBeUndefined();
    expect(await readCachedCheck("ada")).toEqual({ check, checkedAtMs: 1 });
    stop();
  });
});
