/** What real providers send, deviations from the protocol included, and what becomes of it. */
import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { failureKind } from "#server/failures.ts";
import { askModel } from "#server/features/generations/upstream.ts";
import type { ModelGateway } from "#server/providers/models/gateway.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const model = findModel("gpt-5-mini") ?? expect.fail("there is no such model");

function gatewayAt(port: number): ModelGateway {
  const provider = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  return createModelGateway(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, provider)));
}

async function startProvider(answer: RequestListener): Promise<ModelGateway> {
  const server = createServer(answer);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return gatewayAt((server.address() as AddressInfo).port);
}

/** An address at which nobody listens any more. */
async function closedProvider(): Promise<ModelGateway> {
  const gateway = await startProvider(() => {});
  const [server] = open.splice(-1);
  await new Promise((resolve) => (server as Server).close(resolve));
  return gateway;
}

/** A provider that sends these events. */
function providerOf(...events: object[]): Promise<ModelGateway> {
  return startProvider((_request, response) => {
    response.setHeader("content-type", "text/event-stream");
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
}

const chunkOf = (choice: object) => ({ choices: [{ index: 0, ...choice }] });

async function answerOf(gateway: ModelGateway) {
  let text = "";
  const end = await askModel(gateway, {
    model,
    messages: [{ role: "user", content: "Hello" }],
    signal: new AbortController().signal,
    timings: { firstTokenMs: 5_000, idleMs: 5_000, totalMs: 5_000 },
    onText: (more) => {
      text += more;
    },
  });
  return { text, ...end };
}

describe("an answer", () => {
  it("continues after an empty finish_reason, as after null", async () => {
    const going = [
      { delta: { role: "assistant", content: "" }, finish_reason: "" },
      { delta: { content: "Half " }, finish_reason: "" },
      { delta: { content: "and half" }, finish_reason: null },
    ].map(chunkOf);
    const ended = (choice: object) => providerOf(...going, chunkOf(choice)).then(answerOf);
    const complete = { text: "Half and half", failure: undefined, cutShort: false };
    expect(await ended({ delta: {}, finish_reason: "stop" })).toMatchObject(complete);
    expect(await ended({ delta: { content: "" }, finish_reason: "length" })).toMatchObject({ ...complete, cutShort: true });
    // An answer without any finish_reason is not complete.
    expect(await ended({ delta: {}, finish_reason: "" })).toMatchObject({ text: "Half and half", failure: "provider_error" });
  });

  it("that was filtered is recognised in Google's spelling too", async () => {
    for (const reason of ["content_filter", "SAFETY", "PROHIBITED_CONTENT"]) {
      const gateway = await providerOf(chunkOf({ delta: { content: "Half" }, finish_reason: reason }));
      expect(await answerOf(gateway), reason).toMatchObject({ failure: "content_filtered", concluded: true });
    }
  });

  it("has the tokens and the cost that its provider reports", async () => {
    const said = chunkOf({ delta: { content: "Yes" }, finish_reason: "stop" });
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const cost = { input_tokens_cost: 0.000007, output_tokens_cost: 0.000003, request_cost: 0.012, total_cost: 0.01201 };
    expect(await answerOf(await providerOf(said, { choices: [], usage: { ...usage, cost } }))).toMatchObject({
      promptTokens: 7,
      completionTokens: 3,
      costMicroDollars: 12_010,
    });
    expect(await answerOf(await providerOf(said, { choices: [], usage }))).toMatchObject({ promptTokens: 7, costMicroDollars: null });
    expect(await answerOf(await providerOf(said))).toMatchObject({ promptTokens: null, completionTokens: null, costMicroDollars: null });
  });

  it("keeps its text and is complete if the provider breaks off after it said why it ended", async () => {
    const gateway = await startProvider((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.write(`data: ${JSON.stringify(chunkOf({ delta: { content: "Whole" }, finish_reason: "stop" }))}\n\ndata: {"choi\n\n`);
    });
    expect(await answerOf(gateway)).toMatchObject({ text: "Whole", failure: undefined, concluded: true });
  });
});

describe("a provider's error", () => {
  const quoting = "“Hello” is what the person wrote";
  const error = (code: string, message = quoting) => ({ type: "some_error", code, message });
  const cases = [
    [429, "rate_limit_exceeded", quoting, "provider_rate_limited", "outage"],
    [500, "server_error", quoting, "provider_error", "outage"],
    [401, "invalid_api_key", quoting, "provider_error", "outage"],
    [402, "invalid_request_error", "Insufficient Balance", "provider_error", "outage"],
    [400, "content_policy_violation", quoting, "content_filtered", "refusal"],
    [400, "invalid_request_error", "Content Exists Risk", "content_filtered", "refusal"],
    [400, "unsupported_parameter", quoting, "provider_error", "bug"],
    [404, "model_not_found", quoting, "provider_error", "bug"],
  ] as const;

  it.each(cases)(
    "with status %i, code %s and the message %s is the failure %s, of the kind %s",
    async (status, code, message, failure, kind) => {
      const gateway = await startProvider((_request, response) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: error(code, message) }));
      });
      const end = await answerOf(gateway);
      expect({ failure: end.failure, kind: failureKind(end.error) }).toEqual({ failure, kind });
      // Errors are logged, and a provider may quote the person.
      expect(String(end.error)).toContain(`${status}`);
      expect(String(end.error)).not.toContain(message);
    },
  );

  it("in the middle of its stream ends the answer and keeps the text", async () => {
    const half = chunkOf({ delta: { content: "Half" } });
    const end = await answerOf(await providerOf(half, { error: error("server_error") }));
    expect(end).toMatchObject({ text: "Half", failure: "provider_error", concluded: false });
    expect(failureKind(end.error)).toBe("outage");
    expect(await answerOf(await providerOf(half, { error: error("content_filter") }))).toMatchObject({ failure: "content_filtered" });
  });

  it("is an outage if nothing can be reached, if the connection breaks, and if what comes is no stream of events", async () => {
    const broken = await startProvider((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(chunkOf({ delta: { content: "Half" } }))}\n\n`, () => response.destroy());
    });
    const page = await startProvider((_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello"));
    for (const [gateway, failure] of [
      [await closedProvider(), "provider_error"],
      [broken, "provider_error"],
      [page, "provider_garbage"],
    ] as const) {
      const end = await answerOf(gateway);
      expect({ failure: end.failure, kind: failureKind(end.error) }).toEqual({ failure, kind: "outage" });
    }
  });
});

describe("a call", () => {
  const call = (signal = new AbortController().signal) => ({
    model,
    messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "Hello" }] }],
    signal,
  });

  it("within a transaction is refused before anything is sent, and the transaction fails", async () => {
    const database = await createTestDatabase();
    open.push({ close: () => database.drop() });
    let requests = 0;
    const gateway = await startProvider((_request, response) => {
      requests += 1;
      response.end();
    });
    const work = inTransaction(database.db, async () => {
      for await (const _ of gateway.ask(call())) expect.fail("something was answered");
    });
    await expect(work).rejects.toThrow("A model provider was called within a transaction");
    expect(requests).toBe(0);
    // The feature that asks catches every error; the transaction fails all the same.
    await expect(inTransaction(database.db, () => answerOf(gateway))).rejects.toThrow("within a transaction");
  });

  it("follows no redirect: what was written goes to no other address", async () => {
    const visited: (string | undefined)[] = [];
    const gateway = await startProvider((request, response) => {
      visited.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await answerOf(gateway)).toMatchObject({ text: "", failure: "provider_error" });
    expect(visited).toEqual(["/v1/chat/completions"]);
  });

  it("leaves its connection to a later one, also if the response ends some time after its last event", async () => {
    const sockets = new Set<object>();
    const gateway = await startProvider((request, response) => {
      sockets.add(request.socket);
      response.setHeader("content-type", "text/event-stream");
      response.write(`data: ${JSON.stringify(chunkOf({ delta: { content: "Whole" }, finish_reason: "stop" }))}\n\n`);
      response.write("data: [DONE]\n\n");
      setTimeout(() => response.end(), 20);
    });
    const calls = 20;
    for (let call = 0; call < calls; call += 1) {
      expect(await answerOf(gateway)).toMatchObject({ text: "Whole", failure: undefined });
      await delay(25);
    }
    expect(sockets.size).toBeLessThan(calls);
  });

  it("that is broken off closes its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const gateway = await startProvider((_request, response) => {
      response.once("close", () => closed.resolve());
      response.setHeader("content-type", "text/event-stream");
      response.write(`data: ${JSON.stringify(chunkOf({ delta: { content: "Half" } }))}\n\n`);
    });
    for await (const event of gateway.ask(call())) {
      expect(event).toEqual({ type: "text", text: "Half" });
      break;
    }
    await closed.promise;
  });
});
