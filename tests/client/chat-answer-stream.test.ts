import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { AnswerListener, AnswerSource } from "#client/features/chat/answer-stream.ts";
import { followAnswer } from "#client/features/chat/answer-stream.ts";
import { provideBearers } from "#client/lib/api.ts";
import { completedReceipt, origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const generationId = "0198c0de-0000-7000-8000-00000000000a";
const conversationId = "0198c0de-0000-7000-8000-00000000000b";
const turn = { conversationId, questionId: "0198c0de-0000-7000-8000-00000000000c", answerId: "0198c0de-0000-7000-8000-00000000000d" };
const start = { generationId, turn, modelId: "gpt-5-mini", heldCredits: 1, trimmedMessages: 0 };
const receipt = completedReceipt(generationId);
const words = ["Small ", "stones ", "make ", "one ", "picture — ", "東京."];
const frames = [
  `id: 1\nevent: start\ndata: ${JSON.stringify(start)}\n\n`,
  ...words.map((text, index) => `id: ${index + 2}\nevent: delta\ndata: ${JSON.stringify({ text })}\n\n`),
  `id: ${words.length + 2}\nevent: receipt\ndata: ${JSON.stringify(receipt)}\n\n`,
];
const whole = new TextEncoder().encode(frames.join(""));
const source: AnswerSource = { request: { model: "gpt-5-mini", prompt: "Hi", quotedCredits: 1 }, idempotencyKey: "key-00000001" };

/** A stream that sends the bytes and then ends, or breaks. */
function streamOf(bytes: Uint8Array, breaks: boolean): HttpResponse<ReadableStream> {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      if (!breaks) controller.close();
      // An error discards bytes that were not read yet, so wait until they are.
      else setTimeout(() => controller.error(new Error("connection reset")), 5);
    },
  });
  return new HttpResponse(body, { headers: { "content-type": "text/event-stream" } });
}

/** The events that the server sends after `lastEventId`. */
function restOf(lastEventId: string | null): Uint8Array {
  return new TextEncoder().encode(frames.slice(Number(lastEventId ?? 0)).join(""));
}

function record(): { listener: AnswerListener; text: () => string; starts: () => number; losses: boolean[] } {
  let text = "";
  let starts = 0;
  const losses: boolean[] = [];
  const listener: AnswerListener = {
    started: () => {
      starts += 1;
    },
    arrived: (more) => {
      text += more;
    },
    named: () => {},
    previewed: () => {},
    pictured: () => {},
    progressed: () => {},
    filmed: () => {},
    timed: () => {},
    sounded: () => {},
    interrupted: (lost) => losses.push(lost),
  };
  return { listener, text: () => text, starts: () => starts, losses };
}

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  stubPage();
  provideBearers({ current: async () => "token", replace: async () => null });
});
afterEach(() => {
  server.resetHandlers();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

describe("an answer", () => {
  it("whose connection is cut at any byte continues without losing or repeating text", async () => {
    for (let cut = 0; cut < whole.length; cut += 7) {
      const keys: (string | null)[] = [];
      const resumed: (string | null)[] = [];
      server.resetHandlers(
        http.post(`${origin}/api/generations`, ({ request }) => {
          keys.push(request.headers.get("idempotency-key"));
          return streamOf(keys.length === 1 ? whole.slice(0, cut) : whole, cut % 2 === 0 && keys.length === 1);
        }),
        http.get(`${origin}/api/generations/:id/events`, ({ request }) => {
          resumed.push(request.headers.get("last-event-id"));
          return streamOf(restOf(request.headers.get("last-event-id")), false);
        }),
      );
      const seen = record();
      const following = followAnswer(source, seen.listener, AbortSignal.timeout(5_000));
      // An "online" event ends the pause before the next attempt.
      const timer = setInterval(() => dispatchOnline(), 5);
      const result = await following.finally(() => clearInterval(timer));
      expect(result).toEqual(receipt);
      expect(seen.text()).toBe(words.join(""));
      expect(seen.starts()).toBe(1);
      expect(new Set(keys)).toEqual(new Set(["key-00000001"]));
      // Before `start` has arrived the client sends the prompt again; after it, it only resumes the stream.
      const heard = cut >= (frames[0] ?? "").length;
      expect([keys.length, resumed.length]).toEqual(heard ? [1, 1] : [2, 0]);
      expect(seen.losses).toEqual([true, false]);
    }
  });

  it("is read from its first word if nothing of it is known, as after a reload", async () => {
    const asked: (string | null)[] = [];
    server.use(
      http.get(`${origin}/api/generations/:id/events`, ({ request }) => {
        asked.push(request.headers.get("last-event-id"));
        return streamOf(whole, false);
      }),
    );
    const seen = record();
    await followAnswer({ generationId }, seen.listener, AbortSignal.timeout(5_000));
    expect(asked).toEqual([null]);
    expect(seen.text()).toBe(words.join(""));
  });

  it("that the server sends again from its first word is not added twice", async () => {
    server.use(
      http.post(`${origin}/api/generations`, () => streamOf(whole.slice(0, 400), false)),
      http.get(`${origin}/api/generations/:id/events`, () => streamOf(whole, false)),
    );
    const seen = record();
    const timer = setInterval(() => dispatchOnline(), 5);
    await followAnswer(source, seen.listener, AbortSignal.timeout(5_000)).finally(() => clearInterval(timer));
    expect(seen.text()).toBe(words.join(""));
    expect(seen.starts()).toBe(1);
  });

  it("that is refused is not requested again", async () => {
    let asked = 0;
    server.use(
      http.post(`${origin}/api/generations`, () => {
        asked += 1;
        return HttpResponse.json({ code: "price_changed", quotedCredits: 5 }, { status: 409 });
      }),
    );
    const following = followAnswer(source, record().listener, AbortSignal.timeout(5_000));
    await expect(following).rejects.toMatchObject({ code: "price_changed", quotedCredits: 5 });
    expect(asked).toBe(1);
  });

  it("continues after a server error if it had started", async () => {
    let attempts = 0;
    server.use(
      http.post(`${origin}/api/generations`, () => streamOf(new TextEncoder().encode(frames.slice(0, 3).join("")), false)),
      http.get(`${origin}/api/generations/:id/events`, ({ request }) => {
        attempts += 1;
        if (attempts === 1) return HttpResponse.json({ code: "service_unavailable" }, { status: 503 });
        return streamOf(restOf(request.headers.get("last-event-id")), false);
      }),
    );
    const seen = record();
    const timer = setInterval(() => dispatchOnline(), 5);
    await followAnswer(source, seen.listener, AbortSignal.timeout(5_000)).finally(() => clearInterval(timer));
    expect(seen.text()).toBe(words.join(""));
  });

  it("whose prompt can't be sent fails after four tries", async () => {
    let asked = 0;
    server.use(
      http.post(`${origin}/api/generations`, () => {
        asked += 1;
        return HttpResponse.error();
      }),
    );
    const timer = setInterval(() => dispatchOnline(), 5);
    const following = followAnswer(source, record().listener, AbortSignal.timeout(5_000)).finally(() => clearInterval(timer));
    await expect(following).rejects.toMatchObject({ name: "NetworkProblem" });
    expect(asked).toBe(4);
  });
});

function dispatchOnline(): void {
  document.dispatchEvent(new Event("online"));
}
