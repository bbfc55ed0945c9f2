/** The sandbox's models end by its clock, as those of the providers do: they leave the list, and nobody is answered by them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Provider } from "#domain/models.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { startModels } from "#tests/support/answers.ts";

let now = new Date("2026-11-23T09:00:00Z");
let models: RunningModels;
beforeAll(async () => {
  models = await startModels({ now: () => now });
});
afterAll(() => models.close());

type Listed = Record<string, unknown> & { id: string };
const headers = { authorization: "Bearer key", "x-api-key": "key" };
async function listOf(provider: Provider): Promise<Map<string, Listed>> {
  const response = await fetch(`${models.url}/providers/${provider}/v1/models`, { headers });
  return new Map(((await response.json()) as { data: Listed[] }).data.map((model) => [model.id, model]));
}
async function post(provider: Provider, path: string, body: object) {
  const response = await fetch(`${models.url}/providers/${provider}/v1/${path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
const messages = [{ role: "user", content: "Hello" }];
const question = { max_tokens: 50, messages, stream: true };

test("OpenAI's list says when a model ends, no other list does, and Anthropic's has the older models under their dates", async () => {
  const openai = await listOf("openai");
  expect(openai.get("gpt-5")).toMatchObject({ shutdown_date: "2026-12-11" });
  expect(openai.get("gpt-6-luna")).toMatchObject({ shutdown_date: null });
  // What had ended before is neither listed nor served.
  for (const id of ["dall-e-3", "gpt-image-1", "sora-2"]) expect(openai.has(id), id).toBe(false);
  expect((await post("openai", "images/generations", { model: "dall-e-3", prompt: "A fox" })).status).toBe(404);

  const anthropic = await listOf("anthropic");
  expect([...anthropic.keys()]).toEqual([
    ...["claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929"],
  ]);
  expect(anthropic.get("claude-sonnet-4-5-20250929")).not.toHaveProperty("shutdown_date");
  for (const model of ["claude-haiku-4-5", "claude-haiku-4-5-20251001"])
    expect((await post("anthropic", "messages", { model, ...question })).status, model).toBe(200);
});

describe("from its last day on a model is not listed, and whoever asks it gets the provider's error", () => {
  const sound = { input: "Hello", voice: "alloy" };
  test.each([
    ["anthropic", "messages", "claude-sonnet-4-5", "2026-11-30", question, 404, { error: { type: "not_found_error" } }],
    ["google", "chat/completions", "gemini-2.5-pro", "2026-12-01", { messages }, 404, [{ error: { code: 404, status: "NOT_FOUND" } }]],
    ["openai", "chat/completions", "gpt-5-mini", "2026-12-11", { messages }, 404, { error: { code: "model_not_found" } }],
    ["openai", "responses", "gpt-5", "2026-12-11", { input: messages, stream: true }, 404, { error: { code: "model_not_found" } }],
    ["openai", "audio/speech", "gpt-4o-mini-tts", "2027-01-06", sound, 404, { error: { code: "model_not_found" } }],
  ] as const)("%s, %s: %s", async (provider, path, model, until, body, status, error) => {
    now = new Date(Date.parse(until) - 1);
    expect((await post(provider, path, { model, ...body })).status).toBe(200);
    now = new Date(until);
    const refused = await post(provider, path, { model, ...body });
    expect(refused.status).toBe(status);
    expect(JSON.parse(refused.text)).toMatchObject(error);
    expect([...(await listOf(provider)).keys()].filter((id) => id.startsWith(model) && !id.includes("search"))).toEqual([]);
  });
});

test("Mistral, DeepSeek, Perplexity and xAI refuse a model that they do not serve in forms of their own", async () => {
  const refusals = [
    ["mistral", "chat/completions", { messages }, 400, { object: "error", type: "invalid_model", code: "1500" }],
    ["deepseek", "chat/completions", { messages }, 400, { error: { message: "Model Not Exist", code: "invalid_request_error" } }],
    ["perplexity", "responses", { input: messages }, 400, { error: { type: "invalid_model" } }],
    ["xai", "videos/generations", { prompt: "A fox" }, 404, { code: "Some requested entity was not found" }],
  ] as const;
  for (const [provider, path, body, status, error] of refusals) {
    const refused = await post(provider, path, { model: "no-such-model", ...body });
    expect([provider, refused.status]).toEqual([provider, status]);
    expect(JSON.parse(refused.text)).toMatchObject(error);
  }
});
