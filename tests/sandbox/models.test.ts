import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";
import { until } from "#tests/support/until.ts";

let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ SANDBOX_STRIPE: "off" });
});

afterAll(async () => {
  await sandbox.close();
});

afterEach(() => {
  sandbox.models.faults.clear("*");
});

function client(provider = "openai", paceMs = 0): OpenAI {
  return new OpenAI({
    apiKey: "sandbox",
    baseURL: `${sandbox.url}/providers/${provider}/v1`,
    maxRetries: 0,
    defaultHeaders: { "x-sandbox-pace-ms": String(paceMs) },
  });
}

/** Told to think as little as it can, the model's output is its text. */
const little = { model: "gpt-6-luna", reasoning_effort: "minimal" as const };
const ask = (content: string) => ({ ...little, messages: [{ role: "user" as const, content }] });

async function readStream(content: string, options: { paceMs?: number; max?: number } = {}) {
  const stream = await client("openai", options.paceMs).chat.completions.create({
    ...ask(content),
    stream: true,
    stream_options: { include_usage: true },
    ...(options.max === undefined ? {} : { max_completion_tokens: options.max }),
  });
  const result = { text: "", chunks: 0, finishReason: "", usage: undefined as OpenAI.CompletionUsage | undefined };
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    if (choice?.delta.content) {
      result.text += choice.delta.content;
      result.chunks += 1;
    }
    if (choice?.finish_reason) result.finishReason = choice.finish_reason;
    if (chunk.usage) result.usage = chunk.usage;
  }
  return result;
}

function setFault(fault: object): Promise<Response> {
  return fetch(`${sandbox.url}/models/fault`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-6-luna", ...fault }),
  });
}

describe("answers through the openai package", () => {
  test("a stream and a plain call give the same text, marked as the sandbox's, and the same usage", async () => {
    const streamed = await readStream("How do I keep a sourdough starter alive?");
    const plain = await client().chat.completions.create(ask("How do I keep a sourdough starter alive?"));
    expect(plain.choices[0]?.message.content).toBe(streamed.text);
    expect(streamed.text).toMatch(/^\*Sandbox answer/);
    expect(streamed.usage).toEqual(plain.usage);
    expect(streamed.usage?.completion_tokens).toBe(streamed.chunks);
    expect(streamed.usage?.total_tokens).toBe(streamed.chunks + (streamed.usage?.prompt_tokens ?? 0));
    expect(streamed.finishReason).toBe("stop");
  });

  test("without include_usage no chunk carries usage", async () => {
    for await (const chunk of await client().chat.completions.create({ ...ask("short"), stream: true }))
      expect(chunk).not.toHaveProperty("usage");
  });

  test("an answer depends on prompt and history, has 40 to 400 tokens, and mentions the earlier question", async () => {
    const prompts = [
      "Bread?",
      "日本語で説明して",
      "A detailed essay on rivers",
      "List ideas for a garden",
      "Compare trains and planes in a table",
      "in brief: why?",
      "x",
    ];
    const answers = new Set<string>();
    for (const prompt of prompts) {
      const answer = await readStream(prompt);
      answers.add(answer.text);
      expect(answer.text).toMatch(/^\*Sandbox answer/);
      expect(answer.chunks).toBeGreaterThanOrEqual(40);
      expect(answer.chunks).toBeLessThanOrEqual(400);
    }
    expect(answers.size).toBe(prompts.length);
    const followUp = await client().chat.completions.create({
      model: "gpt-6-luna",
      messages: [
        { role: "user", content: "Tell me about harbours" },
        { role: "assistant", content: "…" },
        { role: "user", content: "And lighthouses?" },
      ],
    });
    expect(followUp.choices[0]?.message.content).toContain("3 messages");
    expect(followUp.choices[0]?.message.content).toContain("harbours");
  });

  test("an answer contains code, a table or a list if the prompt asks for it", async () => {
    expect((await readStream("Write a Python function for me")).text).toContain("```python\n");
    expect((await readStream("A table of fruit please")).text).toContain("| :--- |");
    expect((await readStream("Give me a checklist for moving")).text).toMatch(/^1\. /m);
  });

  test("a long answer cut at 200 tokens ends with length after exactly 200 chunks", async () => {
    const answer = await readStream("a long answer about the sea", { max: 200 });
    expect(answer).toMatchObject({ chunks: 200, finishReason: "length" });
    expect(answer.usage?.completion_tokens).toBe(200);
    const plain = await client().chat.completions.create({ ...ask("a long answer about the sea"), max_completion_tokens: 5 });
    expect(plain.choices[0]?.finish_reason).toBe("length");
    expect(plain.usage?.completion_tokens).toBe(5);
  });

  test("tokens arrive at the requested pace", async () => {
    const startedAt = performance.now();
    await readStream("pace", { paceMs: 10, max: 30 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(290);
  });

  test("a new pace applies to answers under way", async () => {
    sandbox.models.pace.milliseconds = slowestPaceMs;
    const own = new OpenAI({ apiKey: "sandbox", baseURL: `${sandbox.url}/providers/openai/v1`, maxRetries: 0 });
    const stream = await own.chat.completions.create({ ...ask("pace"), stream: true, max_completion_tokens: 30 });
    sandbox.models.pace.milliseconds = 0;
    const startedAt = performance.now();
    let tokens = 0;
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) tokens += 1;
    expect(tokens).toBe(30);
    expect(performance.now() - startedAt).toBeLessThan(slowestPaceMs);
  });

  test("aborting a call stops its tokens", async () => {
    const stream = await client("openai", 20).chat.completions.create({ ...ask("a long answer"), stream: true });
    let seen = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content && ++seen === 5) break;
    }
    await until(() => sandbox.models.calls.list()[0]?.outcome === "aborted", "the call to be given up");
    expect(sandbox.models.calls.list()[0]?.completionTokens).toBeLessThan(20);
  });

  test("each provider serves only its own text models", async () => {
    await expect(client("xai").chat.completions.create(ask("hi"))).rejects.toMatchObject({ status: 404 });
  });
});

describe("refusals have OpenAI's error body", () => {
  const cases: readonly [string, unknown, string | null][] = [
    ["no model", { messages: [{ role: "user", content: "a" }] }, "model"],
    ["no messages", { model: "gpt-6-luna" }, "messages"],
    ["empty messages", { model: "gpt-6-luna", messages: [] }, "messages"],
    ["unknown role", { model: "gpt-6-luna", messages: [{ role: "king", content: "a" }] }, "messages[0].role"],
    ["an image part", { model: "gpt-6-luna", messages: [{ role: "user", content: [{ type: "image_url" }] }] }, "messages[0].content[0]"],
    ["text as limit", { ...ask("a"), max_completion_tokens: "5" }, "max_completion_tokens"],
    ["the limit by its old name", { ...ask("a"), max_tokens: 5 }, "max_tokens"],
    ["sampling of a model that thinks", { ...ask("a"), temperature: 0.5 }, "temperature"],
    ["zero as limit", { ...ask("a"), max_completion_tokens: 0 }, "max_completion_tokens"],
    ["stream_options without stream", { ...ask("a"), stream_options: { include_usage: true } }, "stream_options"],
    ["a stream that is no boolean", { ...ask("a"), stream: "yes" }, "stream"],
    ["too long a conversation", { ...ask("a ".repeat(260_000)) }, "messages"],
    ["a list", [], null],
  ];
  test.each(cases)("%s: 400", async (_name, body, param) => {
    const response = await fetch(`${sandbox.url}/providers/openai/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer x" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String), type: "invalid_request_error", param } });
  });

  test("but Mistral's, which knows no stream_options, and tells the usage with the end of an answer all the same", async () => {
    const stream = { model: "mistral-small-2603", messages: ask("hi").messages, stream: true as const };
    const options = { stream_options: { include_usage: true } };
    await expect(client("mistral").chat.completions.create({ ...stream, ...options })).rejects.toMatchObject({ status: 422 });
    const usages: unknown[] = [];
    for await (const { choices, usage } of await client("mistral").chat.completions.create(stream))
      if (usage) usages.push([choices[0]?.finish_reason, usage.completion_tokens > 0]);
    expect(usages).toEqual([["stop", true]]);
  });

  test("broken JSON 400, no key 401, unknown address 404, too large 413", async () => {
    const address = `${sandbox.url}/providers/openai/v1/chat/completions`;
    const headers = { "content-type": "application/json", authorization: "Bearer x" };
    expect((await fetch(address, { method: "POST", headers, body: "{" })).status).toBe(400);
    expect((await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).status).toBe(401);
    expect((await fetch(address, { method: "POST", headers, body: `"${"x".repeat(34_000_000)}"` })).status).toBe(413);
    const unknown = await fetch(`${sandbox.url}/providers/openai/v1/embeddings`, { method: "POST", headers, body: "{}" });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: "unknown_url", type: "invalid_request_error" } });
  });
});

describe("each kind of provider failure", () => {
  test("die_mid_stream sends some text and then breaks the connection", async () => {
    await setFault({ fault: "die_mid_stream", afterTokens: 4, count: 1 });
    const pieces: string[] = [];
    const run = async () => {
      for await (const chunk of await client().chat.completions.create({ ...ask("hello"), stream: true }))
        pieces.push(chunk.choices[0]?.delta.content ?? "");
    };
    await expect(run()).rejects.toThrow();
    expect(pieces.filter((piece) => piece !== "")).toHaveLength(4);
    expect((await readStream("hello")).finishReason).toBe("stop");
  });

  test("rate_limited answers 429 with Retry-After, and server_error 500, each as often as set", async () => {
    await setFault({ fault: "rate_limited", count: 2 });
    for (const _ of [1, 2]) {
      const refused = await client()
        .chat.completions.create(ask("hello"))
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
      if (refused instanceof OpenAI.APIError) expect(refused.headers?.get("retry-after")).toBe("2");
    }
    await client().chat.completions.create(ask("hello"));
    await setFault({ fault: "server_error" });
    await expect(client().chat.completions.create(ask("hello"))).rejects.toMatchObject({ status: 500 });
  });

  test.each([true, false])("hang sends nothing until the caller disconnects (stream: %s)", async (stream) => {
    await setFault({ fault: "hang", count: 1 });
    await expect(client().chat.completions.create({ ...ask("hello"), stream }, { timeout: 150 })).rejects.toThrow(
      OpenAI.APIConnectionTimeoutError,
    );
    await until(() => sandbox.models.calls.list()[0]?.outcome === "failed", "the call to fail");
  });

  test("garbage sends some text and then invalid JSON or an invalid stream", async () => {
    await setFault({ fault: "garbage", afterTokens: 3, count: 2 });
    const response = await client()
      .chat.completions.create({ ...ask("hello"), stream: true })
      .asResponse();
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.includes(0xff)).toBe(true);
    expect(bytes.toString()).not.toContain("[DONE]");
    await expect(readStream("hello")).rejects.toThrow();
  });

  test("no_usage sends the whole text and then ends without usage or [DONE]", async () => {
    await setFault({ fault: "no_usage" });
    const answer = await readStream("hello");
    expect(answer.text.length).toBeGreaterThan(100);
    expect(answer.usage).toBeUndefined();
    expect((await client().chat.completions.create(ask("hello"))).usage).toBeUndefined();
  });

  test("content_filter says why in the provider's words, and refuses a reason that is none", async () => {
    await setFault({ fault: "content_filter", afterTokens: 0, reason: "violence", count: 1 });
    await expect(readStream("hello")).rejects.toMatchObject({
      code: "content_filter",
      error: { innererror: { content_filter_result: { hate: { filtered: false }, violence: { filtered: true } } } },
    });
    expect((await setFault({ fault: "content_filter", reason: "boredom" })).status).toBe(400);
  });

  test("empty ends properly without any text", async () => {
    await setFault({ fault: "empty" });
    expect(await readStream("hello")).toMatchObject({ text: "", finishReason: "stop", usage: { completion_tokens: 0 } });
  });

  test("slow_first_token delays the first token and then completes", async () => {
    await setFault({ fault: "slow_first_token", delayMs: 300 });
    const startedAt = performance.now();
    expect((await readStream("hello")).finishReason).toBe("stop");
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295);
  });

  test("null clears a model's fault, a model's own fault overrides that for all, and unknown models and faults are refused", async () => {
    await setFault({ model: "*", fault: "server_error" });
    await setFault({ fault: "empty" });
    expect((await readStream("hello")).text).toBe("");
    await setFault({ fault: null });
    await expect(readStream("hello")).rejects.toMatchObject({ status: 500 });
    await setFault({ model: "*", fault: null });
    expect((await readStream("hello")).finishReason).toBe("stop");
    expect((await setFault({ model: "gpt-0", fault: "hang" })).status).toBe(400);
    expect((await setFault({ fault: "explode" })).status).toBe(400);
    expect((await setFault({})).status).toBe(400);
    expect((await setFault({ fault: "hang", cuont: 1 })).status).toBe(400);
  });
});
