/** What real providers send, deviations from the protocol included, and what becomes of it. */
import type { RequestListener, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Model, ModelProtocol, Provider } from "#domain/models.ts";
import { findModel } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import type { Attachment } from "#server/db/types-answers.ts";
import { failureKind } from "#server/failures.ts";
import { patienceWith } from "#server/features/generations/ask-for.ts";
import type { Question, UpstreamTimings } from "#server/features/generations/upstream.ts";
import { askModel } from "#server/features/generations/upstream.ts";
import type { ModelGateway } from "#server/providers/models/gateway.ts";
import { createModelGateway } from "#server/providers/models/gateway.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { dialects, frameOf } from "#tests/support/dialects.ts";
import { answerOf } from "#tests/support/one-answer.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const [chat] = dialects;
const { model } = chat ?? expect.fail("there is no dialect");

function gatewayAt(port: number): ModelGateway {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const provider = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: baseUrl, ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: baseUrl };
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
    for (const event of events) response.write(frameOf(event));
    response.end("data: [DONE]\n\n");
  });
}

const chunkOf = (choice: object) => ({ choices: [{ index: 0, ...choice }] });

describe("an answer of chat completions", () => {
  it("continues after an empty finish_reason, as after null", async () => {
    const going = [
      { delta: { role: "assistant", content: "" }, finish_reason: "" },
      { delta: { content: "Half " }, finish_reason: "" },
      { delta: { content: "and half" }, finish_reason: null },
    ].map(chunkOf);
    const ended = (choice: object) => providerOf(...going, chunkOf(choice)).then((gateway) => answerOf(gateway, model));
    const complete = { text: "Half and half", failure: undefined, cutShort: false };
    expect(await ended({ delta: {}, finish_reason: "stop" })).toMatchObject(complete);
    expect(await ended({ delta: { content: "" }, finish_reason: "length" })).toMatchObject({ ...complete, cutShort: true });
    // An answer without any finish_reason is not complete.
    expect(await ended({ delta: {}, finish_reason: "" })).toMatchObject({ text: "Half and half", failure: "provider_error" });
  });

  it("that was filtered is recognised in Google's spelling too", async () => {
    for (const reason of ["content_filter", "SAFETY", "PROHIBITED_CONTENT"]) {
      const gateway = await providerOf(chunkOf({ delta: { content: "Half" }, finish_reason: reason }));
      expect(await answerOf(gateway, model), reason).toMatchObject({ failure: "content_filtered", concluded: true });
    }
  });

  it("has the tokens and the cost that its provider reports", async () => {
    const said = chunkOf({ delta: { content: "Yes" }, finish_reason: "stop" });
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const cost = { input_tokens_cost: 0.000007, output_tokens_cost: 0.000003, request_cost: 0.012, total_cost: 0.01201 };
    expect(await answerOf(await providerOf(said, { choices: [], usage: { ...usage, cost } }), model)).toMatchObject({
      promptTokens: 7,
      completionTokens: 3,
      costMicroDollars: 12_010,
    });
    expect(await answerOf(await providerOf(said, { choices: [], usage }), model)).toMatchObject({
      promptTokens: 7,
      costMicroDollars: null,
    });
    expect(await answerOf(await providerOf(said), model)).toMatchObject({
      promptTokens: null,
      completionTokens: null,
      costMicroDollars: null,
    });
  });
});

describe.each(dialects)("an answer by $protocol", (dialect) => {
  const { begin, text, end, closing, path } = dialect;
  const ask = (gateway: ModelGateway, timings?: UpstreamTimings) => answerOf(gateway, dialect.model, timings);
  const sending = (...events: object[]) =>
    startProvider((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.end([...begin, ...events].map(frameOf).join("") + closing);
    });
  const call = (signal = new AbortController().signal) => ({
    model: dialect.model,
    personId: "one",
    messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "Hello" }] }],
    signal,
  });

  it("is complete with its text and its usage, and says when it was cut short", async () => {
    const usage = { promptTokens: 7, completionTokens: 3 };
    const whole = await sending(text("Half "), text("and half"), ...end("complete", usage));
    expect(await ask(whole)).toMatchObject({ text: "Half and half", failure: undefined, cutShort: false, concluded: true, ...usage });
    const cut = await sending(text("Half"), ...end("cut_short", usage));
    expect(await ask(cut)).toMatchObject({ text: "Half", failure: undefined, cutShort: true, concluded: true, ...usage });
  });

  it("is complete without any usage too", async () => {
    const unknown = { promptTokens: null, completionTokens: null, thinkingTokens: null, costMicroDollars: null };
    expect(await ask(await sending(text("Yes"), ...end("complete")))).toMatchObject({ text: "Yes", failure: undefined, ...unknown });
  });

  it("is a failure if it is filtered, wants a tool, has no text, or ends without a reason", async () => {
    const failures = [
      [[text("Half"), ...end("filtered")], "content_filtered"],
      [[text("Half"), ...end("other")], "provider_error"],
      // What the model thought took all the room.
      [end("cut_short"), "provider_empty"],
      [end("complete"), "provider_empty"],
      [[text("Half")], "provider_error"],
    ] as const;
    for (const [events, failure] of failures) expect(await ask(await sending(...events))).toMatchObject({ failure, cutShort: false });
  });

  it("keeps its text and is complete if the provider breaks off after it said why it ended", async () => {
    const gateway = await startProvider((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      response.write(`${[...begin, text("Whole"), ...end("complete")].map(frameOf).join("")}data: {"choi\n\n`);
      setTimeout(() => response.destroy(), 20);
    });
    expect(await ask(gateway)).toMatchObject({ text: "Whole", failure: undefined, concluded: true });
  });

  it("that ends with an error in its stream keeps its text", async () => {
    const broken = await ask(await sending(text("Half"), dialect.error("server_error", "It broke")));
    expect(broken).toMatchObject({ text: "Half", failure: "provider_error", concluded: false });
    expect(failureKind(broken.error)).toBe("outage");
    const limit = dialect.protocol === "anthropic-messages" ? "rate_limit_error" : "rate_limit_exceeded";
    expect(await ask(await sending(text("Half"), dialect.error(limit, "Too many")))).toMatchObject({ failure: "provider_rate_limited" });
    const blocked = "Output blocked by content filtering policy";
    expect(await ask(await sending(text("Half"), dialect.error("any", blocked)))).toMatchObject({ failure: "content_filtered" });
  });

  it("is an outage if nothing can be reached, if the connection breaks, and if what comes is no stream of events, or nonsense", async () => {
    const stream = (then: (response: ServerResponse) => void) =>
      startProvider((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write([...begin, text("Half")].map(frameOf).join(""), () => then(response));
      });
    for (const [gateway, failure] of [
      [await closedProvider(), "provider_error"],
      [await stream((response) => response.destroy()), "provider_error"],
      [
        await startProvider((_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello")),
        "provider_garbage",
      ],
      [await stream((response) => response.end("data: [1, 2]\n\n")), "provider_garbage"],
      [await stream((response) => response.end(`data: ${"x".repeat(1_100_000)}`)), "provider_garbage"],
    ] as const) {
      const ended = await ask(gateway);
      expect({ failure: ended.failure, kind: failureKind(ended.error) }).toEqual({ failure, kind: "outage" });
    }
  });

  it("that never begins, or falls silent in its middle, is a time-out and closes its connection", async () => {
    for (const said of ["", frameOf(text("Half"))]) {
      const closed = Promise.withResolvers<void>();
      const gateway = await startProvider((_request, response) => {
        response.once("close", () => closed.resolve());
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.flushHeaders();
        response.write(begin.map(frameOf).join("") + said);
      });
      const short = { firstTokenMs: 200, idleMs: 200, totalMs: 5_000 };
      expect(await ask(gateway, short)).toMatchObject({ failure: "provider_timeout", text: said === "" ? "" : "Half" });
      await closed.promise;
    }
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
    await expect(inTransaction(database.db, () => ask(gateway))).rejects.toThrow("within a transaction");
  });

  it("comes from no other address: a redirect is not followed", async () => {
    const visited: (string | undefined)[] = [];
    const gateway = await startProvider((request, response) => {
      visited.push(request.url);
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await ask(gateway)).toMatchObject({ text: "", failure: "provider_error" });
    expect(visited).toEqual([path]);
  });

  it("leaves its connection to a later one, also if the response ends some time after its last event", async () => {
    const sockets = new Set<object>();
    const gateway = await startProvider((request, response) => {
      sockets.add(request.socket);
      response.setHeader("content-type", "text/event-stream");
      response.write([...begin, text("Whole"), ...end("complete")].map(frameOf).join("") + closing);
      setTimeout(() => response.end(), 20);
    });
    const calls = 20;
    for (let count = 0; count < calls; count += 1) {
      expect(await ask(gateway)).toMatchObject({ text: "Whole", failure: undefined });
      await delay(25);
    }
    expect(sockets.size).toBeLessThan(calls);
  });

  it("that is broken off closes its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const gateway = await startProvider((_request, response) => {
      response.once("close", () => closed.resolve());
      response.setHeader("content-type", "text/event-stream");
      response.write(frameOf(text("Half")));
    });
    for await (const event of gateway.ask(call())) {
      expect(event).toEqual({ type: "text", text: "Half" });
      break;
    }
    await closed.promise;
  });
});

describe("a provider's error", () => {
  const quoting = "“Hello” is what the person wrote";
  const cases = [
    [429, "rate_limit_exceeded", quoting, "provider_rate_limited", "outage"],
    [500, "server_error", quoting, "provider_error", "outage"],
    [529, "overloaded_error", quoting, "provider_error", "outage"],
    [401, "invalid_api_key", quoting, "provider_error", "outage"],
    [402, "invalid_request_error", "Insufficient Balance", "provider_error", "outage"],
    [400, "invalid_request_error", "Content Exists Risk", "content_filtered", "refusal"],
    [400, "invalid_request_error", "Output blocked by content filtering policy", "content_filtered", "refusal"],
    // Errors that the person can do something about, and that we have to look at.
    [400, "unsupported_parameter", quoting, "request_refused", "bug"],
    [400, "invalid_request_error", "Could not process image", "request_refused", "bug"],
    [413, "request_too_large", quoting, "request_refused", "bug"],
    [422, "invalid_request_error", quoting, "request_refused", "bug"],
    // The model has ended, or we have no access to it.
    [404, "model_not_found", quoting, "model_gone", "outage"],
    [404, "not_found_error", "model: claude-sonnet-4-5", "model_gone", "outage"],
    [400, "model_not_found", quoting, "model_gone", "outage"],
    [403, "model_not_found", quoting, "model_gone", "outage"],
  ] as const;

  describe.each(dialects)("by $protocol", (dialect) => {
    it.each(cases)(
      "with status %i, code %s and the message %s is the failure %s, of the kind %s",
      async (status, code, message, failure, kind) => {
        const gateway = await startProvider((_request, response) => {
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(dialect.errorBody(code, message)));
        });
        const end = await answerOf(gateway, dialect.model);
        expect({ failure: end.failure, kind: failureKind(end.error) }).toEqual({ failure, kind });
        // Errors are logged, and a provider may quote the person.
        expect(String(end.error)).toContain(`${status}`);
        expect(String(end.error)).not.toContain(message);
      },
    );
  });

  it("that a model has ended is known as other providers of chat completions say it", async () => {
    for (const [status, body] of [
      // Mistral, DeepSeek, Google and xAI.
      [400, { object: "error", message: "Invalid model: mistral-large-latest", type: "invalid_model", param: null, code: "1500" }],
      [400, { error: { message: "Model Not Exist", type: "invalid_request_error", param: null, code: "invalid_request_error" } }],
      [404, [{ error: { code: 404, message: "models/gemini-2.5-pro is not found for API version v1main.", status: "NOT_FOUND" } }]],
      [404, { code: "Some requested entity was not found", error: "The model grok-4.6 does not exist" }],
    ] as const) {
      const gateway = await startProvider((_request, response) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
      const { failure, error } = await answerOf(gateway, model);
      expect([body, failure, failureKind(error)]).toEqual([body, "model_gone", "outage"]);
    }
  });

  it("that a model has ended stops its questions for a while, as an outage of it does, and those to another model go on", async () => {
    const gateway = await startProvider(async (request, response) => {
      const { model: asked } = JSON.parse(await readText(request)) as { model: string };
      const refused = asked === model.upstreamModel;
      if (refused) return void response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"code":"model_not_found"}}');
      response.setHeader("content-type", "text/event-stream");
      response.end(`${frameOf(chunkOf({ delta: { content: "Whole" }, finish_reason: "stop" }))}data: [DONE]\n\n`);
    });
    for (let asked = 0; asked < 5; asked += 1) await answerOf(gateway, model);
    expect(gateway.waitMs(model, "one")).toBeGreaterThan(0);
    const other = { ...model, upstreamModel: "another-model" };
    expect(await answerOf(gateway, other)).toMatchObject({ text: "Whole" });
    expect(gateway.waitMs(other, "one")).toBe(0);
  });

  it("of OpenAI's filter is known by its code", async () => {
    for (const code of ["content_filter", "content_policy_violation"]) {
      const gateway = await startProvider((_request, response) => {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { code, message: quoting } }));
      });
      expect(await answerOf(gateway, model)).toMatchObject({ failure: "content_filtered" });
    }
  });

  it("of DeepSeek's overload breaks the answer off", async () => {
    const overloaded = chunkOf({ delta: { content: "Half" }, finish_reason: "insufficient_system_resource" });
    expect(await answerOf(await providerOf(overloaded), model)).toMatchObject({
      text: "Half",
      failure: "provider_error",
      concluded: false,
    });
  });
});

describe("the files of a question", () => {
  const picture = { fileId: "one", name: "fox.png" } as unknown as Attachment;
  const messages = [{ role: "user" as const, content: "What is this?", attachments: [picture] }];
  const asking = (gateway: ModelGateway, rest: Partial<Question>) =>
    askModel(gateway, {
      ...{ model, personId: "one", messages, signal: new AbortController().signal },
      timings: { firstTokenMs: 300, idleMs: 300, totalMs: 5_000 },
      onText: () => {},
      onSources: () => {},
      ...rest,
    });
  const failing = (code: string) => Object.assign(new Error("the storage is away"), { code });

  it("that our storage does not give are our fault: the model is not asked, blamed or paused", async () => {
    let requests = 0;
    const gateway = await startProvider((_request, response) => {
      requests += 1;
      response.end();
    });
    for (let asked = 0; asked < 5; asked += 1) {
      const end = await asking(gateway, { load: () => Promise.reject(failing("ECONNREFUSED")) });
      expect([end.failure, failureKind(end.error)]).toEqual(["files_unreadable", "outage"]);
    }
    const broken = await asking(gateway, { load: () => Promise.reject(failing("EACCES")) });
    expect([broken.failure, failureKind(broken.error)]).toEqual(["files_unreadable", "bug"]);
    const never = await asking(gateway, { load: () => new Promise(() => {}) });
    expect([never.failure, failureKind(never.error)]).toEqual(["files_unreadable", "outage"]);
    expect([requests, gateway.waitMs(model, "one")]).toEqual([0, 0]);
  });

  it("are not waited for once the answer is stopped, and whoever reads them is told", async () => {
    const stopped = new AbortController();
    const told = Promise.withResolvers<void>();
    const load: Question["load"] = (_messages, signal) => {
      signal.addEventListener("abort", () => told.resolve());
      setTimeout(() => stopped.abort(), 20);
      return new Promise(() => {});
    };
    const gateway = await closedProvider();
    const timings = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
    expect(await asking(gateway, { load, timings, signal: stopped.signal })).toMatchObject({ concluded: false });
    await told.promise;
  });

  it("take nothing of the time that the model has for its first text", async () => {
    const gateway = await startProvider(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      await delay(200);
      response.end(`${frameOf(chunkOf({ delta: { content: "A fox" }, finish_reason: "stop" }))}data: [DONE]\n\n`);
    });
    const load = () =>
      delay(
        200,
        messages.map(({ role }) => ({ role, parts: [{ type: "text" as const, text: "What is this?" }] })),
      );
    expect((await asking(gateway, { load })).failure).toBeUndefined();
  });
});

describe("the wait for the first text", () => {
  const timings = { firstTokenMs: 30_000, idleMs: 20_000, totalMs: 480_000 };
  const waitFor = (id: string) => patienceWith(findModel(id) ?? expect.fail(`there is no ${id}`), timings);

  it.each(["gemini-3.8-flash", "gemini-3.5-flash-lite", "gpt-5-mini", "gpt-5-search-api", "sonar", "gpt-6.1-terra-search", "gpt-6.1-sol"])(
    "is two minutes of %s, which thinks or searches, and may do so without a word",
    (id) => expect(waitFor(id)).toEqual({ ...timings, firstTokenMs: 120_000 }),
  );

  it.each(["gpt-6-luna", "claude-haiku-5-5", "mistral-small-2603", "deepseek-flash"])("is half a minute of %s, which does neither", (id) =>
    expect(waitFor(id)).toEqual(timings),
  );

  it("is never longer than an answer may take", () => {
    const thinker = findModel("gpt-6.1-sol") ?? expect.fail("there is no such model");
    expect(patienceWith(thinker, { ...timings, totalMs: 60_000 }).firstTokenMs).toBe(60_000);
  });

  it.each(["thinking", "redacted_thinking"])(
    "is extended by the beginning of a block of %s, of which Anthropic sends nothing more",
    async (type) => {
      const claude = dialects.find(({ protocol }) => protocol === "anthropic-messages") ?? expect.fail("there is no dialect");
      const gateway = await startProvider(async (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(claude.begin.slice(0, 1).map(frameOf).join(""));
        for (const index of [0, 1, 2]) {
          await delay(250);
          response.write(frameOf({ type: "content_block_start", index, content_block: { type, thinking: "" } }));
        }
        await delay(250);
        response.end([claude.text("At last"), ...claude.end("complete")].map(frameOf).join(""));
      });
      const short = { firstTokenMs: 500, idleMs: 500, totalMs: 5_000 };
      expect(await answerOf(gateway, claude.model, short)).toMatchObject({ text: "At last", failure: undefined });
    },
  );
});

describe("a call that is turned away", () => {
  /** Turns the first calls away with this status, and then answers. */
  async function turningAway(times: number, status: number, headers: Record<string, string> = {}, half = false) {
    const asked = { times: 0 };
    const gateway = await startProvider((_request, response) => {
      asked.times += 1;
      if (asked.times > times) {
        response.setHeader("content-type", "text/event-stream");
        response.end(`${frameOf(chunkOf({ delta: { content: "Whole" }, finish_reason: "stop" }))}data: [DONE]\n\n`);
      } else if (half) {
        response.setHeader("content-type", "text/event-stream");
        response.end([chunkOf({ delta: { content: "Half" } }), { error: { code: "server_error" } }].map(frameOf).join(""));
      } else response.writeHead(status, { "content-type": "application/json", ...headers }).end("{}");
    });
    return { gateway, asked };
  }

  it.each([
    [503, {}],
    [529, {}],
    [429, { "retry-after": "0" }],
  ])("with %i and the headers %o is sent once more", async (status, headers) => {
    const { gateway, asked } = await turningAway(1, status, headers);
    expect(await answerOf(gateway, model)).toMatchObject({ text: "Whole", failure: undefined });
    expect(asked.times).toBe(2);
  });

  it("is sent once more only", async () => {
    const { gateway, asked } = await turningAway(3, 500);
    expect(await answerOf(gateway, model)).toMatchObject({ text: "", failure: "provider_error" });
    expect(asked.times).toBe(2);
  });

  it.each([
    [429, {}],
    [429, { "retry-after": "30" }],
    [503, { "retry-after": "30" }],
    [400, {}],
    [401, {}],
  ])("with %i and the headers %o is not sent again", async (status, headers) => {
    const { gateway, asked } = await turningAway(1, status, headers);
    expect((await answerOf(gateway, model)).failure).toBeDefined();
    expect(asked.times).toBe(1);
  });

  it("is not sent again once something was said", async () => {
    const { gateway, asked } = await turningAway(1, 200, {}, true);
    expect(await answerOf(gateway, model)).toMatchObject({ text: "Half", failure: "provider_error" });
    expect(asked.times).toBe(1);
  });
});

describe("what is sent", () => {
  async function bodyFor(model: Model): Promise<Record<string, unknown>> {
    let body: Record<string, unknown> = {};
    const gateway = await startProvider(async (request, response) => {
      body = JSON.parse(await readText(request)) as Record<string, unknown>;
      response.writeHead(500).end();
    });
    await answerOf(gateway, model);
    return body;
  }
  const sent = (id: string, protocol: ModelProtocol, provider: Provider = "openai") => bodyFor({ ...model, id, protocol, provider });

  it("tells a model that thinks to think little, so that its answer has room within the limit", async () => {
    expect(await sent("gpt-5-mini", "openai-chat")).toMatchObject({
      max_completion_tokens: model.outputTokenLimit,
      reasoning_effort: "minimal",
    });
    expect(await sent("gpt-6.1-sol", "openai-responses")).toMatchObject({
      max_output_tokens: model.outputTokenLimit,
      reasoning: { effort: "low" },
      store: false,
    });
    const anthropic = { max_tokens: model.outputTokenLimit };
    expect(await sent("claude-sonnet-5-5", "anthropic-messages", "anthropic")).toMatchObject({
      ...anthropic,
      output_config: { effort: "low" },
    });
    expect(await sent("claude-haiku-5-5", "anthropic-messages", "anthropic")).toMatchObject({
      ...anthropic,
      thinking: { type: "disabled" },
    });
  });

  it("has no parameter that models refuse: none of sampling, and none of thinking where there is none", async () => {
    for (const [id, protocol, provider] of [
      ["claude-haiku-4-5", "anthropic-messages", "anthropic"],
      ["unknown", "openai-chat", "openai"],
      ["unknown", "openai-responses", "openai"],
    ] as const) {
      const body = await sent(id, protocol, provider);
      for (const name of ["temperature", "top_p", "top_k", "thinking", "reasoning_effort", "reasoning", "output_config", "tools"])
        expect(body).not.toHaveProperty(name);
    }
  });

  it("limits the searches of a model that searches, and what it reads of what they find", async () => {
    const body = await sent("gpt-6.1-terra-search", "openai-responses");
    expect(body).toMatchObject({ tools: [{ type: "web_search", search_context_size: "low" }], max_tool_calls: 2 });
  });
});
