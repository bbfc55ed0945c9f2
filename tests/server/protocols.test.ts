/** Every model offered for conversation is asked in the protocol that the catalogue names, with parameters that its provider accepts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parametersOf } from "#domain/model-parameters.ts";
import { catalogue } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { startModels } from "#tests/support/answers.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { answerOf } from "#tests/support/one-answer.ts";

let sandbox: RunningModels;

beforeAll(async () => {
  sandbox = await startModels();
});

afterAll(async () => {
  await sandbox.close();
});

/** Other tests ask for sounds and clips: sounds.test.ts, clips.test.ts. */
const asked = catalogue.filter(({ protocol, unit }) => protocol !== undefined && (unit === "answer" || unit === "image"));

test.each(asked)("$name answers by $protocol", async (model) => {
  const variables = { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: "token-of-the-tests" };
  const gateway = createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, variables)));
  const { text, sources, ...end } = await answerOf(gateway, model);
  expect(end).toMatchObject({ failure: undefined, cutShort: false, concluded: true });
  expect(end.promptTokens).toBeGreaterThan(0);
  if (model.category === "image") {
    expect(Buffer.from(end.picture ?? []).toString("latin1", 1, 4)).toBe("PNG");
    return;
  }
  expect(text).toMatch(/^\*Sandbox answer/);
  // Thinking used only a small part of the output limit.
  expect(end.thinkingTokens ?? 0).toBeLessThan(model.outputTokenLimit / 4);
  expect(sources.length > 0).toBe(model.category === "search");
  // Chat completions don't say how often the model searched.
  if (parametersOf(model).searches !== undefined) expect(end.searches).toBe(model.protocol === "openai-responses" ? 1 : null);
});
