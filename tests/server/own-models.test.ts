/**
 * Models that the operator adds by a file. A server that others wrote and that speaks OpenAI's protocol (aimock) serves them by configuration
 * alone.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { Model } from "#domain/models.ts";
import { readConfig } from "#server/config.ts";
import { ConfigError } from "#server/environment.ts";
import { listModels, modelName } from "#server/features/catalogue/service.ts";
import { ledgerCsv } from "#server/features/credits/history-csv.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { addRecording } from "#server/features/files/recordings.ts";
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

  const changed = (model: Partial<Record<keyof typeof llama, unknown>>) => ({ ...whole, models: { llama: { ...llama, ...model } } });
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
