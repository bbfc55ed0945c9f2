/** The examples in the providers' documentation, as files, and what becomes of them. */
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterEach, expect, it } from "vitest";
import type { ModelProtocol, Provider } from "#domain/models.ts";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import type { ModelEvent } from "#server/providers/models/protocol.ts";
import { isFileAddress } from "#server/providers/models/xai-videos.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { answerOf } from "#tests/support/one-answer.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** With which the providers were asked. */
const asked: IncomingHttpHeaders[] = [];
const bodies: string[] = [];

const types: Record<string, string> = { sse: "text/event-stream", json: "application/json", mp3: "audio/mpeg" };

/** A gateway whose provider answers every call with the recording. */
async function gatewayOf(name: string, provider: Provider, status = 200) {
  const file = name.includes(".") ? name : `${name}.sse`;
  const recording = await readFile(new URL(`recordings/${file}`, import.meta.url));
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => bodies.push(body));
    asked.push(request.headers);
    response.writeHead(status, { "content-type": types[file.split(".").at(-1) ?? ""] }).end(recording);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const environment = {
    [`${provider.toUpperCase()}_API_KEY`]: "key",
    [`${provider.toUpperCase()}_BASE_URL`]: `http://127.0.0.1:${port}/v1`,
  };
  return createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, environment)));
}

const modelOf = (id: string) => findModel(id) ?? expect.fail("there is no such model");

async function replayOf(name: string, provider: Provider, protocol: ModelProtocol, status = 200) {
  return answerOf(await gatewayOf(name, provider, status), { ...modelOf("gpt-5-mini"), provider, protocol });
}

const complete = { failure: undefined, cutShort: false, concluded: true, sources: [] };
const otters = { url: "https://www.news.example/otters", title: "Otters return to the river" };

it.each([
  ["openai-chat", "openai", "openai-chat", { ...complete, text: "Hello!", promptTokens: 19, completionTokens: 10, thinkingTokens: 8 }],
  [
    "deepseek-chat",
    "deepseek",
    "openai-chat",
    { ...complete, cutShort: true, text: "Hello!", promptTokens: 17, completionTokens: 9, thinkingTokens: 6 },
  ],
  // What was thought is paid for as what was written.
  ["xai-chat", "xai", "openai-chat", { ...complete, text: "Hello!", promptTokens: 32, completionTokens: 103, thinkingTokens: 94 }],
  ["mistral-chat", "mistral", "openai-chat", { ...complete, text: "Hello!", promptTokens: 16, completionTokens: 34, thinkingTokens: null }],
  [
    "openai-chat-search",
    "openai",
    "openai-chat",
    {
      ...complete,
      text: "Otters are back. ([news.example](https://www.news.example/otters))",
      sources: [{ mark: null, date: null, ...otters }],
      ...{ promptTokens: 12, completionTokens: 31, thinkingTokens: 0 },
    },
  ],
  [
    "openai-responses",
    "openai",
    "openai-responses",
    { ...complete, text: "Hi there!", promptTokens: 37, completionTokens: 75, thinkingTokens: 64, searches: 0, costMicroDollars: null },
  ],
  [
    "openai-responses-search",
    "openai",
    "openai-responses",
    {
      ...complete,
      text: "Otters are back. ([news.example](https://www.news.example/otters))",
      sources: [{ mark: null, date: null, ...otters }],
      searches: 1,
    },
  ],
  [
    "perplexity-search",
    "perplexity",
    "openai-responses",
    {
      ...complete,
      text: "Otters are back[1].",
      sources: [
        { mark: 1, date: "2026-11-02", ...otters },
        { mark: 3, url: "https://river.example/report", title: null, date: null },
      ],
      searches: 1,
      costMicroDollars: 7_870,
    },
  ],
  [
    "anthropic-messages",
    "anthropic",
    "anthropic-messages",
    { ...complete, text: "Hello!", promptTokens: 25, completionTokens: 115, thinkingTokens: 98 },
  ],
  [
    "anthropic-refusal",
    "anthropic",
    "anthropic-messages",
    { text: "Hello..", failure: "content_filtered", filterReason: "cyber", concluded: true, promptTokens: 42, completionTokens: 22 },
  ],
  [
    "anthropic-overloaded",
    "anthropic",
    "anthropic-messages",
    { text: "Half", failure: "provider_error", concluded: false, promptTokens: 11 },
  ],
] as const)("the recording %s of %s is understood", async (name, provider, protocol, expected) => {
  expect(await replayOf(name, provider, protocol)).toMatchObject(expected);
});

it.each([
  ["azure-chat-filtered", "openai", "openai-chat", 200, "Half", "violence"],
  ["azure-refused.json", "openai", "openai-chat", 400, "", "instructions"],
  ["google-recitation", "google", "openai-chat", 200, "Half", "copyright"],
  ["openai-chat-refusal", "openai", "openai-chat", 200, "", "unspecified"],
  ["xai-chat-refused.json", "xai", "openai-chat", 403, "", "bio"],
  ["openai-responses-filtered", "openai", "openai-responses", 200, "Half", "harassment"],
  ["openai-responses-refusal", "openai", "openai-responses", 200, "", "unspecified"],
  ["openai-responses-bio", "openai", "openai-responses", 200, "", "bio"],
  ["openai-image-blocked.json", "openai", "openai-images", 400, "", "sexual"],
] as const)(
  "the recording %s of %s is stopped by a filter, for a reason of ours",
  async (name, provider, protocol, status, text, filterReason) => {
    expect(await replayOf(name, provider, protocol, status)).toMatchObject({
      text,
      failure: "content_filtered",
      filterReason,
      cutShort: false,
    });
  },
);

it.each(["openai-image-generation", "openai-image-edit"])(
  "the recording %s is a picture with its previews and its tokens",
  async (name) => {
    const { previews, picture, ...end } = await replayOf(name, "openai", "openai-images");
    expect(end).toMatchObject({ ...complete, text: "", promptTokens: 50, pictureTokens: 40, completionTokens: 50 });
    // What arrives together is shown once.
    expect(previews.length).toBeLessThanOrEqual(2);
    expect(await sharp(picture).stats()).toMatchObject({ channels: [{ mean: 200 }, { mean: 90 }, { mean: 60 }] });
  },
);

/** What a model that hears or speaks says of the recording of its provider. */
async function soundOf(name: string, id: string): Promise<ModelEvent[]> {
  const model = modelOf(id);
  const gateway = await gatewayOf(name, model.provider as Provider);
  const recording = { bytes: new Uint8Array(4), name: "boats.wav", mediaType: "audio/wav", durationMs: 4_000 };
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "The boats are in." }] }];
  const call = { model, personId: "one", messages, signal: new AbortController().signal, recording, speech: { voice: "voice_478" } };
  const events: ModelEvent[] = [];
  for await (const event of gateway.ask(call)) events.push(event);
  return events;
}

const textOf = (events: readonly ModelEvent[]) => events.map((event) => (event.type === "text" ? event.text : "")).join("");
const piecesOf = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === "segments" ? event.segments : []));

it.each([
  ["openai-transcription", "gpt-transcribe", "The boats are in.", []],
  [
    "openai-transcription-verbose.json",
    "whisper-1",
    "The boats are in. Nobody came to meet them.",
    [
      { from: 0, speaker: null, text: "The boats are in." },
      { to: 4.400000095367432, speaker: null, text: "Nobody came to meet them." },
    ],
  ],
  [
    "mistral-transcription.json",
    "voxtral-small-transcribe-3-0",
    "The boats are in. Did anybody meet them?",
    [
      { from: 0.2, to: 1.4, speaker: "speaker_1", text: "The boats are in." },
      { from: 1.9, to: 3.1, speaker: "speaker_2", text: "Did anybody meet them?" },
    ],
  ],
] as const)("the recording %s is a transcript of %s", async (name, id, words, pieces) => {
  const events = await soundOf(name, id);
  expect(textOf(events)).toBe(words);
  expect(piecesOf(events)).toMatchObject([...pieces]);
  expect(events).toContainEqual({ type: "finish", reason: "complete" });
});

it.each([
  ["openai-transcription", "gpt-transcribe"],
  ["mistral-transcription.json", "voxtral-small-transcribe-3-0"],
] as const)("the form for %s is sent as bytes, so that nothing of it is made after the call is given up", async (name, id) => {
  await soundOf(name, id);
  expect(asked.at(-1)).toMatchObject({
    "content-length": expect.stringMatching(/^[1-9]\d+$/),
    "content-type": expect.stringMatching(/^multipart\/form-data; boundary=/),
  });
});

it.each([
  ["openai-speech.mp3", "gpt-4o-mini-tts"],
  ["mistral-speech.json", "voxtral-mini-tts-3-0"],
])("the recording %s is a sound of %s", async (name, id) => {
  const [sound, finish] = await soundOf(name, id);
  expect(sound?.type === "sound" && Buffer.from(sound.bytes).subarray(0, 3).toString()).toBe("ID3");
  expect(finish).toEqual({ type: "finish", reason: "complete" });
});

it("the recordings of a clip are its beginning, how far it is, its address and cost, and why there is none", async () => {
  const model = modelOf("grok-imagine-video-1.5");
  const { signal } = new AbortController();
  const requestId = await (await gatewayOf("xai-video-start.json", "xai")).startClip(
    model,
    "one",
    { prompt: "Boats", seconds: 8, shape: "16:9" },
    signal,
  );
  expect(requestId).toBe("aa87081b-1a29-d8a6-e5bf-5807e3a7a561");
  const stateOf = async (name: string) => (await gatewayOf(`xai-video-${name}.json`, "xai")).checkClip(model, requestId, signal);
  expect(await stateOf("pending")).toEqual({ state: "working", percent: 42 });
  const url = "https://vidgen.x.ai/xai-vidgen-bucket/xai-video-aa87081b.mp4";
  expect(await stateOf("done")).toEqual({ state: "done", url, costMicroDollars: 1_120_000 });
  expect(isFileAddress(url, "https://api.x.ai/v1")).toBe(true);
  expect(await stateOf("filtered")).toMatchObject({ state: "failed", error: { code: "content_filtered", filterReason: "unspecified" } });
  expect(await stateOf("refused")).toMatchObject({ state: "failed", error: { code: "content_filtered", filterReason: "sexual" } });
  expect(await stateOf("failed")).toMatchObject({ state: "failed", error: { code: "provider_error" } });
});

it("each provider is asked by the names that it knows, and no model thinks more than its limit leaves room for", async () => {
  const bodyOf = async (id: string) => {
    const model = modelOf(id);
    const recording = model.protocol === "openai-responses" ? "openai-responses" : "openai-chat";
    await answerOf(await gatewayOf(recording, model.provider as Provider), model);
    return JSON.parse(bodies.at(-1) ?? "{}") as Record<string, unknown>;
  };
  const usage = { stream_options: { include_usage: true } };
  expect(await bodyOf("gpt-5-mini")).toMatchObject({ ...usage, max_completion_tokens: 2_000, reasoning_effort: "minimal" });
  expect(await bodyOf("grok-4.6")).toMatchObject({ ...usage, max_completion_tokens: 10_000, reasoning_effort: "low" });
  expect(await bodyOf("gemini-3.8-flash")).toMatchObject({ ...usage, max_tokens: 10_000, reasoning_effort: "low" });
  expect(await bodyOf("deepseek-flash")).toMatchObject({ ...usage, max_tokens: 10_000, thinking: { type: "disabled" } });
  const mistral = await bodyOf("mistral-small-2603");
  expect(mistral).toMatchObject({ max_tokens: 16_000 });
  expect(Object.keys(mistral).sort()).toEqual(["max_tokens", "messages", "model", "stream"]);
  // What it finds is input that we pay for.
  expect(await bodyOf("sonar")).toMatchObject({
    tools: [{ type: "web_search", max_tokens: 2_000, max_tokens_per_page: 2_000 }],
    max_steps: 4,
  });
  expect(await bodyOf("gpt-6.1-terra-search")).toMatchObject({ tools: [{ search_context_size: "low" }], max_tool_calls: 2 });
});
