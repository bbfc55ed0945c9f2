/** On a shared device the data of one person never reaches the next one. */
import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { reload, useChat } from "#client/features/chat/chat-store.ts";
import { loadOlderConversations, refreshConversations, useConversations } from "#client/features/chat/conversations-store.ts";
import { useConversation } from "#client/features/support-widget/conversation-store.ts";
import { provideBearers } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { readKeptList } from "#client/offline/conversations.ts";
import { writeDraft } from "#client/offline/drafts.ts";
import { startForgetting } from "#client/offline/forget-person.ts";
import { readFormDraft, writeFormDraft } from "#client/offline/form-drafts.ts";
import type { QueuedForm } from "#client/offline/form-queue.ts";
import { listQueuedForms, writeQueuedForm } from "#client/offline/form-queue.ts";
import type { FormOutcome } from "#client/offline/form-sender.ts";
import { onFormOutcome, startFormQueue } from "#client/offline/form-sender.ts";
import { forgetGivenPrompt, keepGivenPrompt, readGivenPrompt } from "#client/offline/given-prompt.ts";
import { keepLastModel, readLastModel } from "#client/offline/last-model.ts";
import { keepReferences } from "#client/offline/references.ts";
import { listStoredKeys } from "#client/offline/store.ts";
import { readCachedCheck, writeCachedCheck } from "#client/offline/subscription-cache.ts";
import { keepWaitingFile, listWaitingFiles } from "#client/offline/waiting-files.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { waitingFileMs } from "#domain/periods.ts";
import { origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const id = "0198c0de-0000-7000-8000-00000000000a";
const summary = { id, title: "Ada's secret", updatedAt: "2026-02-01T10:00:00.000Z", createdAt: "2026-02-01T10:00:00.000Z" };
const message = {
  ...{ id: "m1", parentId: null, role: "user", timestamp: summary.updatedAt, receipt: null },
  parts: [{ kind: "text", text: "Ada's secret" }],
};

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

/** Answers `path` only after Grace has signed in in Ada's place. */
function answerTooLate(path: string, body: object): void {
  server.use(
    http.get(origin + path, () => {
      signIn(null);
      signIn("grace");
      return HttpResponse.json(body);
    }),
  );
}

describe("a response that arrives after its person has signed out", () => {
  it("is neither shown in the next person's list of conversations nor stored for them", async () => {
    answerTooLate("/api/conversations", { conversations: [summary], nextCursor: null });
    await refreshConversations();
    expect(useConversations.getState().conversations).toEqual([]);
    await expect.poll(() => readKeptList("grace")).toEqual([]);
  });

  it("is not added to the next person's list of conversations", async () => {
    useConversations.setState({ status: "ready", conversations: [], nextCursor: "older" });
    answerTooLate("/api/conversations", { conversations: [summary], nextCursor: null });
    await loadOlderConversations();
    expect(useConversations.getState().conversations).toEqual([]);
  });

  it("is neither opened as the next person's conversation nor stored for them", async () => {
    answerTooLate(`/api/conversations/${id}`, { ...summary, messages: [message], headId: null, streamingGenerationId: null });
    await reload(id);
    expect(useChat.getState().threads).toEqual({});
    expect(await readKeptList("grace")).toEqual([]);
  });
});

describe("a list stored on this device", () => {
  it("does not hide the server's further pages, even if a stored conversation is older than the first page", async () => {
    const kept = { ...summary, pinned: false, updatedAt: "2026-01-01T10:00:00.000Z" };
    useConversations.setState({ status: "ready", conversations: [kept], nextCursor: null, listed: false });
    const first = { ...summary, id: "0198c0de-0000-7000-8000-00000000000b", pinned: false };
    server.use(
      http.get(`${origin}/api/conversations`, () => HttpResponse.json({ conversations: [first], nextCursor: "older" })),
      http.post(`${origin}/api/conversations/gone`, () => HttpResponse.json({ gone: [] })),
    );
    await refreshConversations();
    expect(useConversations.getState()).toMatchObject({ conversations: [first], nextCursor: "older" });
  });
});

describe("the conversation with the support widget", () => {
  it("is removed when the person signs out, and stays when a visitor signs in", async () => {
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

  it("from a visitor belongs to the person who signs in next, and to nobody after them", async () => {
    await keepGivenPrompt(null, prompt);
    expect(await readGivenPrompt("ada")).toEqual(prompt);
    expect(await readGivenPrompt(null)).toBeUndefined();
    expect(await readGivenPrompt("grace")).toBeUndefined();
    await forgetGivenPrompt("grace");
    expect(await readGivenPrompt("ada")).toEqual(prompt);
    await forgetGivenPrompt("ada");
    expect(await readGivenPrompt("ada")).toBeUndefined();
  });

  it("from a signed-in person is never given to another", async () => {
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
  ] as const)("is sent, when %s is signed in and %s wrote it, with the authorization %s", async (signedIn, owner, expected) => {
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

const waitingFile = (owner: string) => ({
  ...{ id: `photo of ${owner}`, owner, purpose: "question" as const, threadKey: "new", name: "photo.jpg" },
  ...{ file: new Blob(["bytes"]), chosenAtMs: Date.now(), refusal: null },
});

describe("a file that waits for a connection", () => {
  it("is its own person's, goes when they sign out or another person signs in, and a week later", async () => {
    for (const next of [null, "grace"] as const) {
      signIn("ada");
      await keepWaitingFile(waitingFile("ada"));
      await keepWaitingFile({ ...waitingFile("grace"), chosenAtMs: Date.now() - waitingFileMs - 1 });
      expect(await listWaitingFiles("grace")).toEqual([]);
      const stop = startForgetting();
      expect(await listWaitingFiles("ada")).toHaveLength(1);
      signIn(next);
      await expect.poll(() => listStoredKeys("file:")).toEqual([]);
      stop();
    }
  });
});

describe("the subscription stored for offline reading", () => {
  const check = {
    subscribed: true,
    subscription_tier: "basic",
    plan_name: "Basic Plan",
    credits: 12,
    subscription_end: null,
  } as SubscriptionCheck;

  it("is removed at a start where its person is signed out or another person is signed in", async () => {
    for (const next of [null, "grace"] as const) {
      await writeCachedCheck("ada", { check, checkedAtMs: 1 });
      await keepLastModel("ada", "gpt-5-mini");
      signIn(next);
      const stop = startForgetting();
      await expect.poll(() => readCachedCheck("ada")).toBeUndefined();
      await expect.poll(() => readLastModel("ada")).toBeNull();
      stop();
    }
  });

  it("stays while its person is signed in", async () => {
    await writeCachedCheck("ada", { check, checkedAtMs: 1 });
    await writeCachedCheck("grace", { check, checkedAtMs: 1 });
    const stop = startForgetting();
    await expect.poll(() => readCachedCheck("grace")).toBeUndefined();
    expect(await readCachedCheck("ada")).toEqual({ check, checkedAtMs: 1 });
    stop();
  });
});

describe("what the device keeps of somebody whose account is deleted", () => {
  const fields = { name: "", email: "", category: "support", subject: "", message: "not sent yet" };
  const keepAll = async (owner: string) => {
    await writeCachedCheck(owner, {
      check: { subscribed: true, subscription_tier: "basic", credits: 1, subscription_end: null } as never,
      checkedAtMs: 1,
    });
    await keepLastModel(owner, "gpt-5-mini");
    await writeDraft(owner, "new", { text: "half a thought", modelId: null, unsettledKey: null });
    await writeFormDraft(owner, "contact", { fields, unsettledKey: null });
    await keepGivenPrompt(owner, { text: "from a guide", modelId: null });
    await keepReferences(owner, { references: [], mask: null, first: { fileId: "f", alternative: "a tile", width: 1, height: 1 } });
    await writeQueuedForm({
      ...{ id: `form of ${owner}`, form: "contact", owner, fields, website: "", language: "en" },
      ...{ queuedAtMs: 1, attempts: 0, dueAtMs: Number.MAX_SAFE_INTEGER, refusal: null },
    });
  };
  const entriesOf = async (owner: string) => {
    const keys = (await listStoredKeys("")).filter((key) => key.includes(owner) && !key.startsWith("form:"));
    return keys.length + (await listQueuedForms()).filter((form) => form.owner === owner).length;
  };

  it("goes, drafts and waiting messages included, and nothing of other people", async () => {
    const [ada, grace] = [randomUUID(), randomUUID()];
    for (const owner of [ada, grace]) await keepAll(owner);
    await writeFormDraft(null, "contact", { fields, unsettledKey: null });
    expect(await entriesOf(ada)).toBe(7);
    sessionStore.setState({ status: "signed_in", user: { id: grace, email: "g@example.com", user_metadata: { avatar_url: null } } });
    const stop = startForgetting();
    sessionStore.setState({ deletedId: ada });
    await expect.poll(() => entriesOf(ada)).toBe(0);
    stop();
    expect(await entriesOf(grace)).toBe(7);
    expect(await readFormDraft(null, "contact")).toBeDefined();
  });
});
