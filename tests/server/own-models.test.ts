/**
 * Models that the operator adds by a file. A server that others wrote and that speaks OpenAI's protocol (aimock) serves them by configuration
 * alone.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { dayMs } from "#domain/clock.ts";
import type { Model } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { ConfigError } from "#server/environment.ts";
import { listModels, modelName } from "#server/features/catalogue/service.ts";
import { tellOfEndings } from "#server/features/catalogue/tell-endings.ts";
import { ledgerCsv } from "#server/features/credits/history-csv.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { addRecording } from "#server/features/files/recordings.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { AnswerProcess } from "#tests/support/answers.ts";
import { ask, send, startAnswerProcess } from "#tests/support/answers.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import { createPerson } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-own-models-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const llama = {
  ...{ name: "Llama 3.3 70B", server: "shelf", model: "llama3.3:70b", kind: "text", priceClass: "large" },
  ...{ inputTokens: 24_000, outputTokens: 4_000, pictures: true, dollarsPerMillionInput: 1, dollarsPerMillionOutput: 2 },
};
const whisper = { name: "Our Whisper", server: "shelf", model: "whisper-large-v3", kind: "transcript", priceClass: "minute" };
const shelf = { name: "Our shelf", baseUrl: "http://127.0.0.1:9/v1", keyVariable: "SHELF_API_KEY" };
const whole = { servers: { shelf }, models: { llama, whisper } };

async function variablesOf(content: unknown): Promise<NodeJS.ProcessEnv> {
  const file = path.join(folder, "own.json");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return { OWN_MODELS_FILE: file, SHELF_API_KEY: "key-of-the-shelf" };
}

describe("a server that others wrote", () => {
  const words = "A tessera is a small tile of stone or glass.";
  const server = new LLMock({ port: 0, chunkSize: 7 });
  let database: TestDatabase;
  let api: AnswerProcess;

  beforeAll(async () => {
    await server.start();
    const variables = await variablesOf({ ...whole, servers: { shelf: { ...shelf, baseUrl: `${server.url}/v1` } } });
    database = await createTestDatabase();
    api = await startAnswerProcess(database.applicationUrl, "http://127.0.0.1:9", {}, variables);
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
    await server.stop();
  });

  it("serves a text by configuration alone: listed, at the price of its class, with a receipt, a line in the history and its cost", async () => {
    expect(listModels(api.deps).models.slice(-2)).toMatchObject([
      { id: "own-llama", name: "Llama 3.3 70B", provider: "Our shelf", credits: 5, unit: "answer", available: true, sandbox: false },
      { id: "own-whisper", category: "audio", credits: 2, unit: "minute", available: true },
    ]);
    const person = await createPerson(api, database.db, { credits: 20, plan: "starter" });
    server.onMessage("tessera", { content: words, usage: { prompt_tokens: 1_000, completion_tokens: 2_000 } });
    const refused = (await (await send(api, person, { model: "own-llama", quotedCredits: 1 })).json()) as object;
    expect(refused).toMatchObject({ code: "price_changed", quotedCredits: 5 });
    const { text, receipt, conversationId } = await ask(api, person, { model: "own-llama", quotedCredits: 5 });
    expect(text).toBe(words);
    expect(receipt).toMatchObject({ modelId: "own-llama", status: "completed", heldCredits: 5, chargedCredits: 5, availableAfter: 15 });
    await ask(api, person, { model: "own-llama", quotedCredits: 5, conversationId, prompt: "More of the tessera" });
    const [asked] = server.getRequests().slice(-1);
    const three = [expect.anything(), expect.anything(), expect.anything()];
    expect(asked?.body).toMatchObject({ model: "llama3.3:70b", max_tokens: 4_000, stream: true, messages: three });
    const [first] = await database.db.selectFrom("generations").select("cost_micro_dollars").orderBy("id").execute();
    expect(first?.cost_micro_dollars).toBe(1_000 + 4_000);
    const lines: string[] = [];
    for await (const line of ledgerCsv(database.db, person.userId, {}, (id) => modelName(api.deps, id))) lines.push(line);
    expect(lines.join("")).toContain('"Llama 3.3 70B"');
    expect(await findDisagreements(database.db)).toEqual([]);
  });

  it("writes down a recording", async () => {
    const person = await createPerson(api, database.db, { credits: 20, plan: "starter" });
    server.onTranscription({
      transcription: { text: "All that glitters", segments: [{ id: 0, start: 0, end: 2, text: "All that glitters" }] },
    });
    const { id } = await addRecording(api.deps, person.userId, "note", makeWav(2));
    const { text, receipt } = await ask(api, person, { model: "own-whisper", prompt: "note.wav", attachments: [id], quotedCredits: 2 });
    expect(text).toBe("All that glitters");
    expect(receipt).toMatchObject({ status: "completed", chargedCredits: 2 });
  });

  it("that is away costs nothing", async () => {
    const person = await createPerson(api, database.db, { credits: 20, plan: "starter" });
    server.clearFixtures().onMessage("tessera", { error: { message: "Overloaded", type: "server_error" }, status: 503 });
    const { receipt } = await ask(api, person, { model: "own-llama", quotedCredits: 5 });
    expect(receipt).toMatchObject({ status: "failed", failureCode: "provider_error", chargedCredits: 0 });
  });
});

describe("the end of an own model", () => {
  const server = new LLMock({ port: 0 });
  const until = new Date(Date.now() + 2 * dayMs).toISOString().slice(0, 10);
  let database: TestDatabase;
  let api: AnswerProcess;

  beforeAll(async () => {
    await server.start();
    const { inputTokens, dollarsPerMillionInput: _in, dollarsPerMillionOutput: _out, ...rest } = llama;
    const small = { ...rest, inputTokens: inputTokens / 2, priceClass: "small" };
    const models = {
      llama: { ...llama, until, successor: "new" },
      new: { ...small, name: "Llama 5" },
      same: { ...llama, name: "Llama 2", until, successor: "claude-sonnet-5-5" },
      alone: { ...small, name: "Llama 1", until },
    };
    const variables = await variablesOf({ servers: { shelf: { ...shelf, baseUrl: `${server.url}/v1` } }, models });
    database = await createTestDatabase();
    api = await startAnswerProcess(database.applicationUrl, "http://127.0.0.1:9", {}, variables);
    server.onMessage(/.*/, { content: "Stone" });
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
    await server.stop();
  });

  it("is announced, by a mail too; from its day on the conversation goes on with the model that the file names, at its price", async () => {
    const person = await createPerson(api, database.db, { credits: 40, plan: "starter" });
    const told = (id: string) => listModels(api.deps).models.find((model) => model.id === id);
    expect(told("own-llama")).toMatchObject({ until, successor: "own-new", available: true });
    expect(told("own-alone")).toMatchObject({ until, successor: null });
    const { conversationId } = await ask(api, person, { model: "own-llama", quotedCredits: 5 });
    await ask(api, person, { model: "own-same", quotedCredits: 5 });
    await ask(api, person, { model: "own-alone", quotedCredits: 1 });

    const tell = () => tellOfEndings(api.deps, new AbortController().signal);
    expect([await tell(), await tell()]).toEqual([3, 0]);
    const mails = await database.db.selectFrom("mails").selectAll().where("template", "=", "model-ending").orderBy("key").execute();
    const [alone, other, same] = mails.map((mail) => renderMail(api.deps.config, { ...mail, language: "en" } as never));
    expect([alone?.subject, other?.subject]).toEqual([
      expect.stringMatching(/^Llama 1 leaves on /),
      expect.stringMatching(/^Llama 3\.3 70B/),
    ]);
    expect(alone?.text).toContain("conversations with Llama 1 can go on with any other model");
    expect(other?.text).toContain("can go on with Llama 5, which has another price");
    expect(same?.text).toContain("can go on with Claude Sonnet 5.5 at the same price");

    await database.asOwner(`update business_clock set offset_ms = ${2 * dayMs}`);
    await expect.poll(() => told("own-llama")).toBeUndefined();
    const asked = { conversationId, prompt: "And then?" };
    const refused = await send(api, person, { ...asked, model: "own-llama", quotedCredits: 5 });
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: "model_retired", successor: "own-new", quotedCredits: 1 }]);
    const goesOn = await send(api, person, { model: "own-alone", quotedCredits: 1 });
    expect([goesOn.status, await goesOn.json()]).toMatchObject([422, { code: "model_retired" }]);
    const { receipt } = await ask(api, person, { ...asked, model: "own-new", quotedCredits: 1 });
    expect(receipt).toMatchObject({ modelId: "own-new", status: "completed", chargedCredits: 1 });
    expect(modelName(api.deps, "own-llama")).toBe("Llama 3.3 70B");
    expect(await findDisagreements(database.db)).toEqual([]);
  });
});

describe("the file of own models", () => {
  async function faultsOf(content: unknown, more: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
    const variables = { ...(await variablesOf(content)), ...more };
    try {
      readConfig(testEnvironment({ applicationUrl: "postgres://app@127.0.0.1/none" }, variables));
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
  }

  const changed = (model: Partial<Record<keyof typeof llama | "successor" | "until", unknown>>) => ({
    ...whole,
    models: { llama: { ...llama, ...model } },
  });
  const servedBy = (server: object) => ({ ...whole, servers: { shelf: { ...shelf, ...server } } });

  test("is taken as it stands, and gives the models a price class of ours", async () => {
    expect(await faultsOf(whole)).toEqual([]);
    const config = readConfig(
      testEnvironment(
        { applicationUrl: "postgres://app@127.0.0.1/none" },
        await variablesOf(changed({ priceClass: "small", inputTokens: 12_000 })),
      ),
    );
    const [model] = config.ownModels as [Model];
    expect(model).toMatchObject({ id: "own-llama", provider: "own:shelf", size: "small", credits: 1, upstreamModel: "llama3.3:70b" });
    expect(config.models["own:shelf"]).toEqual({ apiKey: "key-of-the-shelf", baseUrl: shelf.baseUrl });
  });

  test.each<[string, unknown, RegExp]>([
    ["no JSON", "{", /can't be read as JSON: .*line 1/],
    ["a list", [], /the file must be object; a file has "servers" and "models"/],
    ["an address of another protocol", servedBy({ baseUrl: "ftp://shelf" }), /line 5, servers\/shelf\/baseUrl is wrong; give the address/],
    ["a key of ours", servedBy({ keyVariable: "SECRET_KEY" }), /servers\/shelf\/keyVariable is wrong; name the environment variable/],
    [
      "the key of a provider",
      servedBy({ keyVariable: "OPENAI_API_KEY" }),
      /keyVariable names OPENAI_API_KEY, which is the key of a provider/,
    ],
    ["a key that is not set", servedBy({ keyVariable: "OTHER_API_KEY" }), /keyVariable names OTHER_API_KEY, which is not set/],
    ["another server", changed({ server: "attic" }), /models\/llama\/server is attic, which is no server of this file/],
    ["no name", changed({ name: undefined }), /models\/llama\/name is missing; give the name/],
    ["the name of a model of ours", changed({ name: "Sonar" }), /models\/llama\/name is that of a model of the catalogue/],
    ["an unknown kind", changed({ kind: "video" }), /models\/llama\/kind is wrong; give "text" or "transcript"/],
    ["no limit", changed({ inputTokens: 10 }), /line 16, models\/llama\/inputTokens must be >= 1000; give the tokens/],
    ["a price class of no kind", changed({ priceClass: "huge" }), /models\/llama\/priceClass is wrong; give "small"/],
    [
      "a price that does not cover it",
      changed({ dollarsPerMillionInput: 10 }),
      /covers 0\.1266 dollars, and the longest answer costs 0\.248/,
    ],
    [
      "a successor without an end",
      changed({ successor: "gpt-6.1-sol" }),
      /models\/llama\/successor needs the day of the end; give it as "until"/,
    ],
    ["an unknown successor", changed({ until: "2027-03-31", successor: "gone" }), /successor is gone, which is no model; give the id/],
    ["a successor of another kind", changed({ until: "2027-03-31", successor: "sonar" }), /successor is Sonar, which is of another kind/],
    ["itself as its successor", changed({ until: "2027-03-31", successor: "llama" }), /successor leads back to the model itself/],
    ["a field that nobody knows", { ...whole, models: { whisper: { ...whisper, inputTokens: 5 } } }, /whisper\/inputTokens is not known/],
    ["a wrong id", { ...whole, models: { "A B": llama } }, /models\/A B is not known; name each model with small letters/],
  ])("with %s stops the start with one line that says where and what to do", async (_name, content, fault) => {
    expect(await faultsOf(content)).toEqual([expect.stringMatching(fault)]);
  });

  test("that does not exist stops the start", async () => {
    expect(await faultsOf(whole, { OWN_MODELS_FILE: path.join(folder, "nowhere.json") })).toEqual([
      expect.stringContaining("nowhere.json"),
    ]);
  });
});
