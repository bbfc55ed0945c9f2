/** The protocols beside chat completions, through the packages of those who made them. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "#domain/models.ts";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";

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

const unpaced = { "x-sandbox-pace-ms": "0" };
const openai = (provider = "openai") =>
  new OpenAI({ apiKey: "sandbox", baseURL: `${sandbox.url}/providers/${provider}/v1`, maxRetries: 0, defaultHeaders: unpaced });
const anthropic = () =>
  new Anthropic({ apiKey: "sandbox", baseURL: `${sandbox.url}/providers/anthropic`, maxRetries: 0, defaultHeaders: unpaced });

const thinker = "gpt-6.1-sol";
const claude =
  catalogue.find(({ provider, protocol }) => provider === "anthropic" && protocol === "anthropic-messages")?.upstreamModel ??
  expect.fail("no model of Anthropic's");
const request = { model: thinker, input: "What is a tessera?", stream: true as const };
const question = {
  model: claude,
  max_tokens: 2_000,
  messages: [{ role: "user" as const, content: "What is a tessera?" }],
  stream: true as const,
};

async function readResponse(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) {
  let text = "";
  const numbers: number[] = [];
  const types = new Set<string>();
  let end: OpenAI.Responses.Response | undefined;
  for await (const event of stream) {
    numbers.push((event as { sequence_number: number }).sequence_number);
    types.add(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.completed" || event.type === "response.incomplete") end = event.response;
  }
  return { text, numbers, types, end };
}

describe("Responses", () => {
  test("stream a text in numbered events, and the whole at the end, with what was thought in the usage", async () => {
    const { text, numbers, end } = await readResponse(await openai().responses.create({ ...request, reasoning: { effort: "low" } }));
    expect(text).toMatch(/^\*Sandbox answer/);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(end).toMatchObject({ status: "completed", output: [{ content: [{ text }] }] });
    expect(end?.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });

  test("think so much, if nobody says otherwise, that a small limit leaves no room for the answer", async () => {
    const untold = await readResponse(await openai().responses.create({ ...request, max_output_tokens: 200 }));
    expect(untold).toMatchObject({ text: "", end: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } } });
    expect(untold.end?.usage?.output_tokens_details.reasoning_tokens).toBe(200);
    const told = await readResponse(await openai().responses.create({ ...request, max_output_tokens: 60, reasoning: { effort: "low" } }));
    expect(told.text).not.toBe("");
    expect(told.end?.usage?.output_tokens).toBe(60);
  });

  test("of a search have OpenAI's calls and citations", async () => {
    const stream = await openai().responses.create({ ...request, reasoning: { effort: "low" }, tools: [{ type: "web_search" }] });
    const { text, types } = await readResponse(stream);
    expect(types).toContain("response.web_search_call.completed");
    expect(types).toContain("response.output_text.annotation.added");
    expect(text).toContain("https://news.example/");
  });

  test("of a search have Perplexity's results, by the numbers in the text", async () => {
    const body = { ...request, model: "perplexity/sonar", tools: [{ type: "web_search" as const }], max_steps: 4 };
    const { text, types, end } = await readResponse(await openai("perplexity").responses.create(body));
    expect([...types]).toContain("response.reasoning.search_results");
    expect(text).toMatch(/\[1\]\[2\]$/);
    expect(end?.usage).toMatchObject({ tool_calls_details: { web_search: { invocation: 1 } } });
  });

  test.each([
    ["a plain response", { stream: false }, "stream"],
    ["sampling of a model that thinks", { temperature: 0.2 }, "temperature"],
    ["a tool that is not played", { tools: [{ type: "code_interpreter" }] }, "tools[0].type"],
    ["an unknown parameter", { conversation: "conv_1" }, "conversation"],
    ["an effort that nobody knows", { reasoning: { effort: "some" } }, "reasoning.effort"],
    ["a picture", { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }, "input[0].content[0]"],
  ])("refuse by name %s", async (_name, fields, param) => {
    const body = { ...request, ...fields } as OpenAI.Responses.ResponseCreateParamsStreaming;
    await expect(openai().responses.create(body)).rejects.toMatchObject({ status: 400, param });
  });
});

describe("Messages", () => {
  test("stream a text, and why it ended with the usage", async () => {
    const message = await anthropic().messages.stream(question).finalMessage();
    expect(message.stop_reason).toBe("end_turn");
    expect(message.content.find(({ type }) => type === "text")).toMatchObject({ text: expect.stringMatching(/^\*Sandbox answer/) });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    const cut = await anthropic()
      .messages.stream({ ...question, max_tokens: 40 })
      .finalMessage();
    expect(cut).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 40 } });
  });

  test("refuse in their own shape", async () => {
    const ask = (fields: object) => anthropic().messages.create({ ...question, ...fields } as typeof question);
    const refused = { status: 400, type: "invalid_request_error" };
    await expect(ask({ max_tokens: undefined })).rejects.toMatchObject(refused);
    await expect(ask({ stream: false })).rejects.toMatchObject(refused);
    await expect(ask({ tools: [] })).rejects.toMatchObject(refused);
    await expect(ask({ model: "claude-0" })).rejects.toMatchObject({ status: 404, type: "not_found_error" });
    sandbox.models.faults.set({ model: "*", fault: "rate_limited", count: 1, afterTokens: 0, delayMs: 0 });
    await expect(ask({})).rejects.toMatchObject({ status: 429, type: "rate_limit_error" });
    sandbox.models.faults.set({ model: "*", fault: "content_filter", count: 1, afterTokens: 3, delayMs: 0 });
    expect(await anthropic().messages.stream(question).finalMessage()).toMatchObject({ stop_reason: "refusal" });
  });
});

describe("pictures", () => {
  const painter = catalogue.find(({ protocol, until }) => protocol === "openai-images" && until === undefined) ?? expect.fail("no model");
  const wish = { model: painter.upstreamModel, prompt: "A boat on the sea", size: "1024x1024" as const };
  const bytesOf = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64");

  test("are as many real PNG files of the size asked for, and no two are alike", async () => {
    const { data = [], usage } = await openai().images.generate({ ...wish, n: 2, quality: "low", size: "1536x1024" });
    const files = data.map(({ b64_json: base64 }) => bytesOf(base64 ?? undefined));
    for (const file of files) expect(await sharp(file).metadata()).toMatchObject({ format: "png", width: 1536, height: 1024 });
    expect(files).toHaveLength(2);
    expect(files[0]?.equals(files[1] ?? Buffer.alloc(0))).toBe(false);
    expect(usage).toMatchObject({ input_tokens_details: { image_tokens: 0 }, output_tokens: 600 });
  });

  test("of one that begins from others have their tokens, and the mask has to fit", async () => {
    const blank = (width: number) => sharp({ create: { width, height: 512, channels: 4, background: "white" } }).png();
    const fileOf = async (width: number) => new File([new Uint8Array(await blank(width).toBuffer())], "a.png", { type: "image/png" });
    const image = [await fileOf(512), await fileOf(512)];
    const { usage } = await openai().images.edit({ ...wish, image, mask: await fileOf(512), quality: "low" });
    expect(usage?.input_tokens_details.image_tokens).toBe(2 * 1_024);
    const edit = { ...wish, image };
    await expect(openai().images.edit({ ...edit, mask: await fileOf(256) })).rejects.toMatchObject({ code: "invalid_mask_size" });
    const many = Array.from({ length: 17 }, () => image[0] as File);
    await expect(openai().images.edit({ ...wish, image: many })).rejects.toMatchObject({ code: "array_above_max_length" });
  });

  test("are refused with parameters and sizes that the provider does not know, and by its filter with its own type", async () => {
    const refused = (more: object) => openai().images.generate({ ...wish, ...more });
    await expect(refused({ colour: "red" })).rejects.toMatchObject({ status: 400, code: "unknown_parameter" });
    for (const size of ["1000x1000", "3840x512", "64x64"]) await expect(refused({ size })).rejects.toMatchObject({ param: "size" });
    await expect(refused({ n: 11 })).rejects.toMatchObject({ param: "n" });
    await expect(refused({ partial_images: 2 })).rejects.toMatchObject({ param: "partial_images" });
    sandbox.models.faults.set({ model: painter.id, fault: "content_filter", count: 1, afterTokens: 0, delayMs: 0 });
    await expect(refused({})).rejects.toMatchObject({ status: 400, type: "image_generation_user_error", code: "moderation_blocked" });
  });
});
