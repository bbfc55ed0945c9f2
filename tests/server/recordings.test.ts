/** The examples in the providers' documentation, as files, and what becomes of them. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterEach, expect, it } from "vitest";
import type { ModelProtocol, Provider } from "#domain/models.ts";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { answerOf } from "#tests/support/one-answer.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function replayOf(name: string, provider: Provider, protocol: ModelProtocol) {
  const recording = await readFile(new URL(`recordings/${name}.sse`, import.meta.url));
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(recording);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const environment = {
    [`${provider.toUpperCase()}_API_KEY`]: "key",
    [`${provider.toUpperCase()}_BASE_URL`]: `http://127.0.0.1:${port}/v1`,
  };
  const gateway = createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, environment)));
  const model = { ...(findModel("gpt-5-mini") ?? expect.fail("there is no such model")), provider, protocol };
  return answerOf(gateway, model);
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
    { text: "Hello..", failure: "content_filtered", concluded: true, promptTokens: 42, completionTokens: 22 },
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
