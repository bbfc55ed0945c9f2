/**
 * A server of the providers' protocols that others wrote and check against the providers themselves (aimock). It serves our models
 * by configuration alone: an address and a key.
 */
import type { FixtureOpts, FixtureResponse } from "@copilotkit/aimock";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelsAt } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import type { ModelGateway } from "#server/providers/models/gateway.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { dialects } from "#tests/support/dialects.ts";
import { answerOf } from "#tests/support/one-answer.ts";

const words = "A tessera is a small tile of stone or glass, and many of them make a mosaic.";
const server = new LLMock({ port: 0, chunkSize: 7 });
let gateway: ModelGateway;

beforeAll(async () => {
  await server.start();
  const variables = Object.fromEntries(
    ["OPENAI", "ANTHROPIC", "MISTRAL", "DEEPSEEK", "XAI", "GOOGLE"].flatMap((provider) => [
      [`${provider}_API_KEY`, "key"],
      [`${provider}_BASE_URL`, `${server.url}/v1`],
    ]),
  );
  gateway = createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, variables)));
});
afterAll(() => server.stop());

const usage = { prompt_tokens: 7, completion_tokens: 20, input_tokens: 7, output_tokens: 20 };
const text = modelsAt(new Date("2026-11-23")).filter(({ category }) => category === "text");

function answering(response: FixtureResponse, options: FixtureOpts = {}): void {
  server.clearFixtures().onMessage("tessera", response, options);
}

test.each(text)("$name answers in pieces by $protocol, with the tokens it took", async (model) => {
  answering({ content: words, usage });
  // Mistral counts them unasked and refuses the option that asks for it; this server counts only if it is asked.
  const isCounted = model.provider !== "mistral";
  expect(await answerOf(gateway, model)).toMatchObject({
    text: words,
    failure: undefined,
    cutShort: false,
    concluded: true,
    promptTokens: isCounted ? 7 : null,
    completionTokens: isCounted ? 20 : null,
  });
});

describe.each(dialects.map(({ protocol }) => text.find((model) => model.protocol === protocol) ?? expect.fail(protocol)))(
  "an answer by $protocol",
  (model) => {
    test("is told from what the model thought before it", async () => {
      answering({ content: words, reasoning: "Somebody asks about mosaics.", usage });
      expect(await answerOf(gateway, model)).toMatchObject({ text: words, failure: undefined });
    });

    test("that reached its limit is cut short", async () => {
      answering({ content: words, finishReason: "length", usage });
      expect(await answerOf(gateway, model)).toMatchObject({ text: words, failure: undefined, cutShort: true });
    });

    test("that breaks off has failed, and keeps its text", async () => {
      answering({ content: words, usage }, { truncateAfterChunks: 6 });
      const { text: said, failure } = await answerOf(gateway, model);
      expect(failure).toBe("provider_error");
      expect(words.startsWith(said)).toBe(true);
    });

    test("is refused with the provider's reason", async () => {
      answering({ error: { message: "Too many requests", type: "rate_limit_error" }, status: 429 });
      expect(await answerOf(gateway, model)).toMatchObject({ text: "", failure: "provider_rate_limited" });
      answering({ error: { message: "Wrong key", type: "authentication_error" }, status: 401 });
      expect(await answerOf(gateway, model)).toMatchObject({ text: "", failure: "provider_error" });
    });
  },
);

test("the searches of an answer by Responses are counted", async () => {
  const model = text.find(({ protocol }) => protocol === "openai-responses") ?? expect.fail("no model");
  answering({ content: words, webSearches: ["what is a tessera", "mosaics"], usage });
  expect(await answerOf(gateway, model)).toMatchObject({ text: words, searches: 2 });
});
