/** What each protocol makes of a provider's refusals: the model has ended, or the request is not taken. tests/server/upstream.test.ts has those of words. */

import type { FastifyInstance } from "fastify";
import Fastify from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { failureKind } from "#server/failures.ts";
import { failureOf } from "#server/features/generations/upstream.ts";
import type { ModelGateway } from "#server/providers/models/gateway.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import { testEnvironment } from "#tests/support/deps.ts";

let provider: FastifyInstance;
let gateway: ModelGateway;
let refusal: { status: number; body: unknown };
beforeAll(async () => {
  provider = Fastify({ forceCloseConnections: true });
  provider.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, async () => undefined);
  provider.all("/v1/*", (_request, reply) => reply.code(refusal.status).send(refusal.body));
  const address = await provider.listen({ host: "127.0.0.1", port: 0 });
  const variables = ["OPENAI", "MISTRAL", "XAI"].flatMap((name) => [
    [`${name}_API_KEY`, "key"],
    [`${name}_BASE_URL`, `${address}/v1`],
  ]);
  gateway = createModelGateway(
    readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, Object.fromEntries(variables))),
  );
});
afterAll(() => provider.close());

const { signal } = new AbortController();
const recording = { bytes: new Uint8Array(9), name: "note.mp3", mediaType: "audio/mpeg", durationMs: 1_000 };
const picture = { size: "1024x1024", quality: "low", background: "auto", references: [] } as const;
const clip = { prompt: "A fox", seconds: 4, shape: "16:9" } as const;

/** The error with which a question to the model ends. */
async function errorOf(id: string): Promise<unknown> {
  const model = findModel(id) ?? expect.fail(`there is no ${id}`);
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "Hello" }] }];
  const wish = {
    image: { picture },
    video: {},
    text: {},
    search: {},
    audio: model.unit === "minute" ? { recording } : { speech: { voice: "alloy" } },
  };
  try {
    if (model.category === "video") await gateway.startClip(model, "one", clip, signal);
    else
      for await (const _ of gateway.ask({ model, personId: "one", messages, signal, ...wish[model.category] }))
        expect.fail("an answer came");
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was refused");
}

const quoting = "what the person wrote";
const missing = { error: { message: quoting, type: "invalid_request_error", code: "model_not_found" } };
const invalid = { object: "error", message: `Invalid model: ${quoting}`, type: "invalid_model", param: null, code: "1500" };
const unknownToXai = { code: "Some requested entity was not found", error: quoting };
const wrong = { error: { message: quoting, type: "invalid_request_error", code: "invalid_value" } };
const wrongMistral = { object: "error", message: { detail: [{ input: quoting }] }, type: "invalid_request_error", code: null };

test.each([
  ["gpt-image-2.6-flare", missing, wrong, "request_refused", "bug"],
  ["gpt-4o-mini-tts", missing, wrong, "request_refused", "bug"],
  ["voxtral-mini-tts-3-0", invalid, wrongMistral, "request_refused", "bug"],
  ["grok-imagine-video-1.5", unknownToXai, { error: quoting, code: "Client specified an invalid argument" }, "request_refused", "bug"],
  // They differ only in the recording.
  ["gpt-transcribe", missing, wrong, "recording_unreadable", "refusal"],
  ["whisper-1", missing, wrong, "recording_unreadable", "refusal"],
  ["voxtral-small-transcribe-3-0", invalid, wrongMistral, "recording_unreadable", "refusal"],
] as const)("%s: a model that is gone is its outage, and a request that is refused is not", async (id, gone, refused, failure, kind) => {
  const isMistral = gone === invalid;
  refusal = { status: isMistral ? 400 : 404, body: gone };
  const ended = await errorOf(id);
  expect([failureOf(ended), failureKind(ended)]).toEqual(["model_gone", "outage"]);
  for (const status of [400, 413, 422]) {
    refusal = { status, body: refused };
    const error = await errorOf(id);
    expect([status, failureOf(error), failureKind(error)]).toEqual([status, failure, kind]);
    // Errors are logged, and a provider may quote the person.
    expect(String(error)).not.toContain(quoting);
  }
});
