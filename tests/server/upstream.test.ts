/** Deviations from the protocol that real providers send. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { askModel } from "#server/features/generations/upstream.ts";
import { createModelGateway } from "#server/providers/models.ts";
import { testEnvironment } from "#tests/support/deps.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** The answer that results from a provider sending these chunks. */
async function answerOf(...choices: object[]) {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    for (const choice of choices) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const model = findModel("gpt-5-mini");
  if (!model) throw new Error("there is no such model");
  const provider = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
  const gateway = createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, provider)));
  let text = "";
  const { failure, cutShort } = await askModel(gateway, {
    model,
    messages: [{ role: "user", content: "Hello" }],
    signal: new AbortController().signal,
    timings: { firstTokenMs: 5_000, idleMs: 5_000, totalMs: 5_000 },
    onText: (more) => {
      text += more;
    },
  });
  return { text, failure, cutShort };
}

it("an empty finish_reason means that the answer continues, as null does", async () => {
  const going = [
    { delta: { role: "assistant", content: "" }, finish_reason: "" },
    { delta: { content: "Half " }, finish_reason: "" },
    { delta: { content: "and half" }, finish_reason: null },
  ];
  expect(await answerOf(...going, { delta: {}, finish_reason: "stop" })).toEqual({
    text: "Half and half",
    failure: undefined,
    cutShort: false,
  });
  expect(await answerOf(...going, { delta: { content: "" }, finish_reason: "length" })).toMatchObject({
    failure: undefined,
    cutShort: true,
  });
  // An answer without any finish_reason is not complete.
  expect(await answerOf(...going, { delta: {}, finish_reason: "" })).toMatchObject({ text: "Half and half", failure: "provider_error" });
});
