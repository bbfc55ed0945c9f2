/** Transcripts and speech are priced by measured length, and stored output and charge agree, whoever fails, stops, leaves or dies. */
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Part } from "#contract/generations/generations.ts";
import type { SoundPart } from "#contract/generations/sounds.ts";
import { measureMp3 } from "#domain/audio/mp3.ts";
import { findModel } from "#domain/models.ts";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import type { ModelFaultKind } from "#sandbox/models/faults.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { addRecording } from "#server/features/files/recordings.ts";
import { openFile } from "#server/features/files/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { AnswerWorld, SeenAnswer } from "#tests/support/answers.ts";
import { ask, call, readAnswer, resume, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import { full } from "#tests/support/full.ts";
import { makeMp4, makeWav, makeWebm } from "#tests/support/make-audio.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerWorld["api"];
/** A process that waits for a silent provider for a short time only. */
let impatient: AnswerWorld["api"];

const [streaming, whole, speaking] = ["gpt-transcribe", "voxtral-small-transcribe-3-0", "voxtral-mini-tts-3-0"] as const;
const soon = { firstTokenMs: 700, idleMs: 700, totalMs: 20_000 };

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, models, api } = world);
  impatient = await startAnswerProcess(database.applicationUrl, models.url, { sounds: soon });
});
afterEach(async () => {
  models.faults.clear("*");
  models.pace.milliseconds = 0;
  expect(await findDisagreements(database.db)).toEqual([]);
  expect(await database.db.selectFrom("holds").select("id").where("state", "=", "open").execute()).toEqual([]);
});
afterAll(async () => {
  for (const server of open) server.close();
  await impatient.close();
  await world.close();
});

const credits = 200;
const subscriber = () => createPerson(api, database.db, { credits, plan: "enterprise" });

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

const upload = (person: TestPerson, bytes: Buffer, name = "notes") => addRecording(api.deps, person.userId, name, bytes);

async function recorded(person: TestPerson, model: string, seconds: number, more: object = {}) {
  const { id } = await upload(person, makeWav(seconds));
  return { model, prompt: "notes.wav", attachments: [id], quotedCredits: 2 * Math.ceil(seconds / 60), ...more };
}

const spoken = (text: string, more: object = {}) => ({
  model: speaking,
  prompt: text,
  quotedCredits: 2 * Math.ceil([...text].length / 1_000),
  ...more,
});

async function answerOf(person: TestPerson, { generationId }: SeenAnswer): Promise<Answer> {
  return (await (await call(api, person, "GET", `/api/generations/${generationId}`)).json()) as Answer;
}

const soundOf = (parts: readonly Part[]): SoundPart => parts.find((part) => part.kind === "sound") ?? expect.fail("no sound");

const open: Server[] = [];

/** A process whose providers answer every call with 400, and the errors that it logs. */
async function refusingProvider() {
  const server = createServer((request, response) => {
    request.resume();
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: "No audio", code: "invalid_value" } }));
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const variables = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: address, MISTRAL_API_KEY: "key", MISTRAL_BASE_URL: address };
  const process = await startAnswerProcess(database.applicationUrl, models.url, {}, variables);
  const errors: unknown[] = [];
  process.deps.log.error = (...line: unknown[]) => void errors.push(line);
  return { process, logged: () => errors };
}

async function refusalOf(person: TestPerson, request: object): Promise<object> {
  const response = await send(api, person, request as Record<string, unknown>);
  return (await response.json()) as object;
}

describe("a transcript", () => {
  test("costs what its started minutes cost, and is a text that the conversation goes on with", async () => {
    const person = await subscriber();
    const { id, durationMs } = await upload(person, makeWebm(61), "voice.webm");
    expect(durationMs).toBe(61_000);
    const request = { model: streaming, prompt: "voice.webm", attachments: [id] };
    expect(await refusalOf(person, { ...request, quotedCredits: 2 })).toMatchObject({ code: "price_changed", quotedCredits: 4 });
    const seen = await ask(api, person, { ...request, quotedCredits: 4 });
    expect(seen.text).toMatch(/^This is the sandbox of GPT Transcribe, which hears 61\.0 seconds\./);
    expect(seen.receipt).toMatchObject({
      ...{ status: "completed", heldCredits: 4, chargedCredits: 4, trimmedMessages: 0 },
      recording: { fileId: id, durationMs: 61_000 },
    });
    expect((await answerOf(person, seen)).parts).toEqual([{ kind: "text", text: seen.text }]);
    const row = await database.db
      .selectFrom("generations")
      .select("cost_micro_dollars")
      .where("id", "=", seen.generationId)
      .executeTakeFirstOrThrow();
    expect(row.cost_micro_dollars).toBe(Math.ceil((4_500 * 61) / 60));
    const { messages } = (await (await call(api, person, "GET", `/api/conversations/${seen.conversationId}`)).json()) as {
      messages: { parts: unknown[] }[];
    };
    expect(messages[0]?.parts).toContainEqual({
      kind: "attachments",
      files: [
        expect.objectContaining({
          fileId: id,
          contentType: "audio/webm",
          durationMs: 61_000,
          reading: { as: "sound", pages: null, cut: false },
        }),
      ],
    });
    await ask(api, person, { conversationId: seen.conversationId, prompt: "Sum it up", model: "mistral-small-2603" });
    expect(JSON.stringify(models.lastMessages())).toContain("which hears 61.0 seconds");
    expect(await wallet(person)).toEqual({ balance: credits - 5, held: 0 });
  });

  test.each([
    [whole, ["speaker_1"]],
    ["whisper-1", [null]],
  ])("of %s says when each sentence was spoken, and by whom if the model tells", async (model, speakers) => {
    const person = await subscriber();
    const seen = await ask(api, person, await recorded(person, model, 9));
    const { parts } = await answerOf(person, seen);
    const segments = parts.flatMap((part) => (part.kind === "segments" ? part.segments : []));
    expect(segments.length).toBe(2);
    expect([...new Set(segments.map(({ speaker }) => speaker))]).toEqual(speakers);
    expect(segments.map(({ text }) => text).join(" ")).toBe(seen.text);
    expect(segments.at(-1)?.to).toBe(9);
    expect(parts.map(({ kind }) => kind)).toEqual(["text", "segments"]);
    // Also for who reads it again, and once its events are gone.
    expect((await resume(impatient, person, seen.generationId, 1)).events).toEqual(seen.events.slice(1));
    await database.db
      .updateTable("generations")
      .set({ ended_at: new Date("2020-01-01") })
      .where("id", "=", seen.generationId)
      .execute();
    const retold = await readAnswer(await call(api, person, "GET", `/api/generations/${seen.generationId}/events`));
    expect(retold.events.map(({ event }) => event)).toEqual(["start", "delta", "segments", "receipt"]);
  });

  test("is asked for again by its question, at the same price, and not without a recording", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, await recorded(person, streaming, 130));
    const again = { model: whole, prompt: undefined, conversationId: seen.conversationId, questionId: seen.questionId };
    expect((await ask(api, person, { ...again, quotedCredits: 6 })).receipt).toMatchObject({ status: "completed", chargedCredits: 6 });
    expect(await refusalOf(person, { model: streaming, quotedCredits: 2 })).toMatchObject({ code: "recording_missing" });
    const other = await subscriber();
    expect(await refusalOf(other, await recorded(person, streaming, 1))).toMatchObject({ code: "recording_missing" });
    expect(await refusalOf(person, { ...(await recorded(person, streaming, 1)), model: "gpt-6-luna", quotedCredits: 1 })).toMatchObject({
      code: "attachment_unreadable",
    });
  });

  test("waits for memory without stopping those of other providers, and says for how long", async () => {
    const [first, second] = [await subscriber(), await subscriber()];
    const asked = await Promise.all([first, first, first, first, second, second].map((person) => recorded(person, streaming, 1)));
    await database.db
      .updateTable("files")
      .set({ bytes: 25 * 1024 * 1024 })
      .where("user_id", "in", [first.userId, second.userId])
      .execute();
    models.faults.set({ model: streaming, fault: "hang", count: 4, afterTokens: 1, delayMs: 0 });
    const [last, other] = asked.splice(4);
    if (!last || !other) expect.fail();
    const begun = await Promise.all(
      asked.map(async (request) => readAnswer(await send(api, first, request), ({ generationId }) => generationId !== "")),
    );
    const refused = await send(api, second, last);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await refused.json()).toMatchObject({ code: "model_unavailable", retryAfterSeconds: 10 });
    expect((await ask(api, second, { ...other, model: whole })).receipt).toMatchObject({ status: "completed" });
    for (const { generationId } of begun) await call(api, first, "POST", `/api/generations/${generationId}/stop`);
    expect((await ask(api, second, last)).receipt).toMatchObject({ status: "completed" });
    expect(await wallet(second)).toEqual({ balance: credits - 4, held: 0 });
  });

  test("that its provider does not take is a refusal, whoever it is, and one that is too long for its model is not sent", async () => {
    const person = await subscriber();
    const { logged, process } = await refusingProvider();
    for (const model of [streaming, whole, "whisper-1"]) {
      const failed = await ask(process, person, await recorded(person, model, 2));
      expect(failed.receipt).toMatchObject({ status: "failed", failureCode: "recording_unreadable", chargedCredits: 0 });
    }
    expect(logged()).toEqual([]);
    await process.close();
    const request = await recorded(person, streaming, 1);
    await database.db
      .updateTable("files")
      .set({ duration_ms: 25 * 60_000 + 1 })
      .where("id", "=", request.attachments[0] ?? "")
      .execute();
    expect(await refusalOf(person, request)).toMatchObject({ code: "recording_too_long", minutes: 25 });
    expect(await refusalOf(person, { ...request, model: whole })).toMatchObject({ code: "price_changed", quotedCredits: 52 });
  });

  test("that is dictated belongs to no conversation", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, await recorded(person, streaming, 3, { dictated: true }));
    expect(seen.receipt).toMatchObject({ status: "completed", chargedCredits: 2, recording: { dictated: true } });
    expect(seen.conversationId).toBe("");
    expect(seen.text).not.toBe("");
    expect(await database.db.selectFrom("conversations").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
  });
});

describe("speech", () => {
  test("costs what its started thousands of characters cost, and is an MP3 in the person's files", async () => {
    const person = await subscriber();
    const text = `${"All that glitters is not gold. ".repeat(60)}The end.`;
    const seen = await ask(api, person, spoken(text, { speech: { voice: "voice_481" } }));
    const characters = text.length;
    expect(seen.receipt).toMatchObject({
      status: "completed",
      heldCredits: 4,
      chargedCredits: 4,
      speech: { voice: "voice_481", characters },
    });
    const { parts } = await answerOf(person, seen);
    const { fileId, durationMs } = soundOf(parts);
    const { content, info } = await openFile(api.deps, person.userId, fileId);
    expect(info).toMatchObject({ contentType: "audio/mpeg", durationMs, kind: "output" });
    expect(info.name).toMatch(/^All that glitters .*\.mp3$/);
    const bytes = await buffer(content);
    expect(Math.ceil(Number(measureMp3(bytes)) * 1_000)).toBe(durationMs);
    // Two pieces, of which none is lost.
    expect(
      models.calls
        .list()
        .slice(0, 2)
        .map(({ model }) => model),
    ).toEqual([speaking, speaking]);
    expect(durationMs).toBeGreaterThan(60_000);
    const row = await database.db
      .selectFrom("generations")
      .select("cost_micro_dollars")
      .where("id", "=", seen.generationId)
      .executeTakeFirstOrThrow();
    expect(row.cost_micro_dollars).toBe(Math.ceil(13_000 * (characters / 1_000)));
    expect((await resume(impatient, person, seen.generationId, 1)).events).toEqual(seen.events.slice(1));
    expect(await wallet(person)).toEqual({ balance: credits - 4, held: 0 });
    expect((await call(api, person, "DELETE", `/api/conversations/${seen.conversationId}`)).status).toBe(204);
    await expect(openFile(api.deps, person.userId, fileId)).rejects.toMatchObject({ code: "not_found" });
  });

  test("of OpenAI's model, which answers with the sound itself", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, spoken("Hello there.", { model: "gpt-4o-mini-tts" }));
    expect(seen.receipt).toMatchObject({ status: "completed", chargedCredits: 2, speech: { voice: "marin" } });
    soundOf((await answerOf(person, seen)).parts);
    await ask(api, person, { conversationId: seen.conversationId, prompt: "Shorter, please", model: "mistral-small-2603" });
    expect(models.lastMessages().slice(-3)).toMatchObject([
      { role: "user", content: "Hello there." },
      { role: "assistant", content: "[The answer was speech: the text above, read aloud]" },
      { role: "user", content: "Shorter, please" },
    ]);
  });

  test("whose pieces together take longer than an answer may is given up before its hold ends, free of charge", async () => {
    const total = { firstTokenMs: 5_000, idleMs: 5_000, totalMs: 1_000 };
    const hurried = await startAnswerProcess(database.applicationUrl, models.url, { sounds: total });
    models.faults.set({ model: speaking, fault: "slow_first_token", count: null, afterTokens: 0, delayMs: 700 });
    const person = await subscriber();
    // Each of its pieces comes in time.
    const text = "All that glitters is not gold. ".repeat(300);
    const seen = await ask(hurried, person, spoken(text));
    expect(seen.receipt).toMatchObject({ status: "failed", failureCode: "provider_timeout", chargedCredits: 0 });
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
    await hurried.close();
  });

  test("is refused for a voice that is not there, at another price, and when there is no room", async () => {
    const person = await subscriber();
    expect(await refusalOf(person, spoken("Hello", { speech: { voice: "nobody" } }))).toMatchObject({ code: "validation_failed" });
    expect(await refusalOf(person, spoken("Hello", { quotedCredits: 4 }))).toMatchObject({ code: "price_changed", quotedCredits: 2 });
    expect(await refusalOf(person, { prompt: "Hello", speech: { voice: "voice_478" } })).toMatchObject({ code: "validation_failed" });
    await upload(person, makeWav(1));
    await database.db.updateTable("files").set({ bytes: 30_000_000_000 }).where("user_id", "=", person.userId).execute();
    expect(await refusalOf(person, spoken("Hello"))).toMatchObject({ code: "storage_full" });
  });
});

describe("an answer that is read aloud", () => {
  const plain = { quotedCredits: 2, prompt: undefined, model: speaking };

  test("is read without marks and code, outside of its conversation, is found again, and goes with the conversation", async () => {
    const person = await subscriber();
    const read = await ask(api, person, { prompt: "Write code and a table, please" });
    const price = { ...plain, reads: read.generationId };
    const refused = (await refusalOf(person, { ...price, quotedCredits: 1 })) as { quotedCredits: number };
    const seen = await ask(api, person, { ...price, quotedCredits: refused.quotedCredits });
    expect(seen.receipt).toMatchObject({
      status: "completed",
      chargedCredits: refused.quotedCredits,
      speech: { reads: read.generationId },
    });
    expect(seen.conversationId).toBe("");
    expect(models.lastMessages()[0]?.content).not.toMatch(/[`|]|\*\*/);
    const found = async () =>
      (await (await call(api, person, "GET", `/api/generations/${read.generationId}/sound`)).json()) as { answer: Answer | null };
    const { answer } = await found();
    expect(answer?.generationId).toBe(seen.generationId);
    const { fileId } = soundOf(answer?.parts ?? []);
    const other = await subscriber();
    expect(await refusalOf(other, price)).toMatchObject({ code: "not_found" });
    expect((await call(api, other, "GET", `/api/generations/${read.generationId}/sound`)).status).toBe(404);
    expect((await call(api, person, "DELETE", `/api/conversations/${read.conversationId}`)).status).toBe(204);
    await expect(openFile(api.deps, person.userId, fileId)).rejects.toMatchObject({ code: "not_found" });
    expect(await found()).toEqual({ answer: null });
    expect(await refusalOf(person, price)).toMatchObject({ code: "not_found" });
  });

  test("and a voice before it is chosen: its sample is free", async () => {
    const person = await subscriber();
    const response = await call(api, person, "GET", `/api/voices/${speaking}/voice_478/sample`);
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(measureMp3(new Uint8Array(await response.arrayBuffer()))).toBeGreaterThan(1);
    const asked = models.calls.list().length;
    await call(api, person, "GET", `/api/voices/${speaking}/voice_478/sample`);
    expect(models.calls.list().length).toBe(asked);
    expect((await call(api, person, "GET", `/api/voices/${speaking}/nobody/sample`)).status).toBe(404);
    // A sample that is not a whole sound is not cached.
    const sampleOf = async () => (await call(api, person, "GET", `/api/voices/${speaking}/voice_485/sample`)).status;
    models.faults.set({ model: speaking, fault: "half_file", count: 1, afterTokens: 0, delayMs: 0 });
    expect([await sampleOf(), await sampleOf()]).toEqual([503, 200]);
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  });
});

const faults: [ModelFaultKind, number, string][] = [
  ["die_mid_stream", 3, "provider_error"],
  ["rate_limited", 0, "provider_rate_limited"],
  ["server_error", 0, "provider_error"],
  ["hang", 3, "provider_timeout"],
  ["garbage", 3, "provider_garbage"],
  ["half_file", 3, "provider_garbage"],
  ["empty", 0, "provider_empty"],
  ["content_filter", 0, "content_filtered"],
];

describe.each([
  [streaming, (person: TestPerson) => recorded(person, streaming, 3)],
  [whole, (person: TestPerson) => recorded(person, whole, 3)],
  [speaking, async () => spoken("Hello there, how are you?")],
] as const)("%s", (model, request) => {
  // The protocols differ only in how they are read, so two of them are tried with what differs by that.
  test.each(full || model === streaming ? faults : faults.filter(([fault]) => fault === "half_file" || fault === "garbage"))(
    "%s after %i words costs nothing",
    async (fault, afterTokens, code) => {
      const person = await subscriber();
      models.faults.set({ model, fault, count: fault === "server_error" ? 2 : 1, afterTokens, delayMs: 0, reason: "violence" });
      const failed = await ask(fault === "hang" ? impatient : api, person, await request(person));
      // For a model that streams words, half a file means that the stream breaks off in the middle.
      const expected = model === streaming && fault === "half_file" ? "provider_error" : code;
      expect(failed.receipt).toMatchObject({ status: "failed", failureCode: expected, chargedCredits: 0, availableAfter: credits });
      if (expected === "content_filtered") expect(failed.receipt?.filterReason).toBe("violence");
      // The failures of one test do not pause the model for the next one.
      for (const { deps } of [api, impatient]) deps.models.report(findModel(model) ?? expect.fail(model), "nobody", true);
      expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
      expect(await outputs(person)).toEqual([]);
    },
  );

  test("that is stopped before anything came is free", async () => {
    const person = await subscriber();
    models.pace.milliseconds = slowestPaceMs;
    const seen = await readAnswer(await send(api, person, await request(person)), ({ generationId }) => generationId !== "");
    const stopped = await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
    expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 0 });
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  });

  test("whose reader goes away, or that is asked for twice with one key, is made and charged once", async () => {
    const person = await subscriber();
    const asked = await request(person);
    const key = randomUUID();
    const [seen, other] = await Promise.all([
      readAnswer(await send(api, person, asked, { key }), ({ generationId }) => generationId !== ""),
      ask(impatient, person, asked, { key }),
    ]);
    expect(other.generationId).toBe(seen.generationId);
    expect(other.receipt).toMatchObject({ status: "completed", chargedCredits: 2 });
    expect((await answerOf(person, seen)).parts.length).toBeGreaterThan(0);
    expect(await wallet(person)).toEqual({ balance: credits - 2, held: 0 });
  });
});

async function outputs(person: TestPerson): Promise<object[]> {
  return database.db.selectFrom("files").select("id").where("user_id", "=", person.userId).where("kind", "=", "output").execute();
}

test("a transcript whose process dies is ended by another one, free of charge, with the words that are there", async () => {
  const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
  const person = await subscriber();
  models.faults.set({ model: streaming, fault: "hang", count: 1, afterTokens: 5, delayMs: 0 });
  const seen = await readAnswer(await send(dying, person, await recorded(person, streaming, 3)), ({ text }) => text !== "");
  const logged = database.db.selectFrom("generation_events").select("frames").where("generation_id", "=", seen.generationId);
  await expect.poll(async () => (await logged.execute()).some(({ frames }) => frames.includes("event: delta"))).toBe(true);
  await dying.deps.pool.end();
  await expect.poll(() => endOrphanedAnswers(api.deps)).toBe(1);
  expect(await answerOf(person, seen)).toMatchObject({
    status: "failed",
    failureCode: "interrupted",
    chargedCredits: 0,
    parts: [{ kind: "text" }],
  });
  expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  await dying.app.close();
  await dying.deps.clock.close();
  await dying.deps.live.close();
});

test("a transcript that is stopped after its first words costs all of it: the provider has heard the whole recording", async () => {
  const person = await subscriber();
  models.faults.set({ model: streaming, fault: "hang", count: 1, afterTokens: 5, delayMs: 0 });
  const seen = await readAnswer(await send(api, person, await recorded(person, streaming, 90)), ({ text }) => text !== "");
  const stopped = await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
  expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 4 });
  expect((await answerOf(person, seen)).parts).toMatchObject([{ kind: "text" }]);
  expect(await wallet(person)).toEqual({ balance: credits - 4, held: 0 });
});

test("speech whose process dies is ended by another one, free of charge, and nothing of it is kept", async () => {
  const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
  const person = await subscriber();
  models.faults.set({ model: speaking, fault: "hang", count: 1, afterTokens: 0, delayMs: 0 });
  const seen = await readAnswer(await send(dying, person, spoken("The boats are in.")), ({ generationId }) => generationId !== "");
  await dying.deps.pool.end();
  await expect.poll(() => endOrphanedAnswers(api.deps)).toBe(1);
  expect(await answerOf(person, seen)).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0, parts: [] });
  expect(await outputs(person)).toEqual([]);
  expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  await dying.app.close();
  await dying.deps.clock.close();
  await dying.deps.live.close();
});

test("recordings are refused that last too long, are no sound, or have none", async () => {
  const person = await subscriber();
  await expect(upload(person, makeMp4(2 * 60 * 60 + 60))).rejects.toMatchObject({ code: "recording_too_long", details: { minutes: 120 } });
  await expect(upload(person, makeMp4(5, { handler: "vide", brand: "isom" }))).rejects.toMatchObject({ code: "recording_moving" });
  await expect(upload(person, makeWav(0))).rejects.toMatchObject({ code: "recording_silent" });
  await expect(upload(person, Buffer.from("Hello"))).rejects.toMatchObject({ code: "recording_unsupported" });
});
