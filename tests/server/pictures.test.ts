/** Pictures: each is charged when it is delivered, and what is stored and what is charged agree, when a provider fails, a person stops, a reader leaves or a process dies. */
import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Answer, PictureEvent, PicturePart, PreviewEvent, StartEvent } from "#contract/generations/generations.ts";
import type { GalleryPicture } from "#contract/generations/media.ts";
import { modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import type { ModelFaultKind } from "#sandbox/models/faults.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { deleteFiles, openFile, storeFile } from "#server/features/files/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { AnswerWorld, SeenAnswer } from "#tests/support/answers.ts";
import { ask, call, readAnswer, resume, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import { daily, full } from "#tests/support/full.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerWorld["api"];
/** A process that waits for a silent provider for a short time only. */
let impatient: AnswerWorld["api"];

const soon = { firstTokenMs: 1_500, idleMs: 1_500, totalMs: 20_000 };

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, models, api } = world);
  impatient = await startAnswerProcess(database.applicationUrl, models.url, { pictures: soon });
});
afterEach(async () => {
  models.faults.clear("*");
  // The failures of one test do not pause the model for the next one.
  for (const { deps } of [api, impatient]) deps.models.report(model, "nobody", true);
  models.pace.milliseconds = 0;
  expect(await findDisagreements(database.db)).toEqual([]);
  const open = await database.db.selectFrom("holds").select("id").where("state", "=", "open").execute();
  expect(open).toEqual([]);
  expect(await unkept()).toEqual([]);
});
afterAll(async () => {
  await impatient.close();
  await world.close();
});

const credits = 200;
const subscriber = () => createPerson(api, database.db, { credits, plan: "enterprise" });
const model = modelsAt(new Date()).find(({ category }) => category === "image") ?? expect.fail("no model makes pictures");
const price = quoteCredits(model);

/** The smallest ones: most of what a picture takes here is drawing and encoding it. */
const options = { count: 1, size: "1536x864", quality: "low", background: "auto" } as const;

function wanted(count: number, more: object = {}) {
  return { model: model.id, prompt: "A fox in an autumn forest", quotedCredits: price * count, picture: { ...options, count, ...more } };
}

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

/** Files of answers that have ended and do not have them, and pictures of answers without a stored file. */
async function unkept(): Promise<string[]> {
  const parts = await database.db.selectFrom("generation_parts").select("detail").where("kind", "=", "picture").execute();
  const named = new Set(parts.map(({ detail }) => String(detail?.fileId)));
  const rows = await database.db
    .selectFrom("files")
    .leftJoin("generations", "generations.id", "files.generation_id")
    .select(["files.id", "files.content_type", "generations.status"])
    .where("files.kind", "=", "output")
    .execute();
  const ended = rows.filter(({ status }) => status !== "streaming");
  const stored = new Set(rows.filter((row) => row.content_type !== null).map(({ id }) => id));
  return [...ended.flatMap(({ id }) => (named.has(id) ? [] : [id])), ...[...named].filter((id) => !stored.has(id))];
}

const delivered = (seen: SeenAnswer): PicturePart[] =>
  seen.events.flatMap(({ event, data }) => (event === "picture" ? [(data as unknown as PictureEvent).picture] : []));

async function partsOf(person: TestPerson, { generationId }: SeenAnswer): Promise<Answer> {
  return (await (await call(api, person, "GET", `/api/generations/${generationId}`)).json()) as Answer;
}

async function bytesOf(person: TestPerson, { fileId }: PicturePart): Promise<Buffer> {
  return buffer((await openFile(api.deps, person.userId, fileId)).content);
}

const partsSent = () => models.lastMessages().map(({ role, content }) => [role, content as unknown] as const);

describe("a model for words that goes on after pictures", () => {
  const line = "[The answer was 2 pictures, made for the prompt above]";
  const seen = expect.objectContaining({ type: "input_image", image_url: expect.stringMatching(/^data:image\/png;base64,/) });
  const words = (text: string) => expect.objectContaining({ text });

  test("sees them before the question that follows, also later on, while they are there; another is told of them", async () => {
    const person = await subscriber();
    const { conversationId, receipt } = await ask(api, person, wanted(2));
    expect(receipt?.status).toBe("completed");
    const go = (id: string, prompt: string, quotedCredits = 1) => ask(api, person, { model: id, prompt, quotedCredits, conversationId });
    const { text, receipt: end } = await go("gpt-6-luna", "What is on them?");
    expect(partsSent().slice(-3)).toEqual([
      ["user", expect.anything()],
      ["assistant", expect.anything()],
      ["user", [words("[What the answer before looks like:]"), seen, seen, words("What is on them?")]],
    ]);
    expect(JSON.stringify(partsSent().at(-2))).toContain(line);
    expect(text).toContain("a picture of 1536 × 864 pixels");
    expect(end).toMatchObject({ status: "completed", trimmedMessages: 0 });
    await go("gpt-6-luna", "And the second?");
    expect(partsSent().at(-3)?.[1]).toEqual(expect.arrayContaining([seen, seen, words("What is on them?")]));
    expect(JSON.stringify(partsSent().at(-1))).not.toContain("base64");
    await go("deepseek-flash", "What do you see?");
    expect(partsSent().slice(-7, -4)).toEqual([
      ["user", "A fox in an autumn forest"],
      ["assistant", line],
      ["user", "What is on them?"],
    ]);
    expect(JSON.stringify(partsSent())).not.toContain("base64");
    const files = await database.db.selectFrom("files").select("id").where("user_id", "=", person.userId).execute();
    await deleteFiles(database.db, person.userId, [files[0]?.id ?? ""]);
    await go("gpt-6-luna", "Again?");
    expect(JSON.stringify(partsSent()).match(/base64/g)).toHaveLength(1);
    await database.db.deleteFrom("conversations").where("id", "=", conversationId).execute();
  });

  test("sees as many as its fixed price leaves room for, and none where there is no room", async () => {
    const person = await subscriber();
    const { conversationId, events } = await ask(api, person, wanted(2));
    const parentId = (events[0]?.data as unknown as StartEvent | undefined)?.turn?.answerId;
    // 15,100 tokens: room for two pictures beside a short prompt, for one beside a longer one, and for the line alone beside a long one.
    for (const [prompt, count] of [
      ["7", 2],
      ["7".repeat(10_000), 1],
      ["😀".repeat(3_200), 0],
    ] as const) {
      await ask(api, person, { model: "claude-haiku-4-5", prompt, quotedCredits: 1, conversationId, parentId });
      const last = JSON.stringify(partsSent());
      expect(last).toContain(line);
      expect(last.match(/"image"/g) ?? []).toHaveLength(count);
      expect(models.calls.list()[0]?.promptTokens).toBeLessThanOrEqual(15_100);
    }
  });
});

describe("pictures", () => {
  test("are charged by their number, and each is a whole picture of its size in the person's files, with the prompt as its text", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, wanted(2));
    expect(seen.receipt).toMatchObject({ status: "completed", failureCode: null, heldCredits: 2 * price, chargedCredits: 2 * price });
    expect(seen.receipt?.picture).toEqual({ ...options, count: 2 });
    const pictures = delivered(seen);
    expect(new Set(pictures.map(({ fileId }) => fileId)).size).toBe(2);
    const contents = await Promise.all(pictures.map((picture) => bytesOf(person, picture)));
    expect(contents[0]?.equals(contents[1] ?? Buffer.alloc(0))).toBe(false);
    for (const content of contents) expect(await sharp(content).metadata()).toMatchObject({ format: "png", width: 1536, height: 864 });
    for (const picture of pictures)
      expect(picture).toMatchObject({ kind: "picture", width: 1536, alternative: "A fox in an autumn forest" });
    expect(await wallet(person)).toEqual({ balance: credits - 2 * price, held: 0 });
    const { parts } = await partsOf(person, seen);
    expect(new Set(parts)).toEqual(new Set(pictures));
    const row = await database.db.selectFrom("generations").selectAll().where("id", "=", seen.generationId).executeTakeFirstOrThrow();
    // Two pictures of 1.27 times 200 tokens each, with two previews of 100.
    expect(row.completion_tokens).toBe(2 * (254 + 200));
    expect(row.cost_micro_dollars).toBe((row.prompt_tokens ?? 0) * 5 + 2 * 454 * 30);
  });

  test("show what they look like so far in small, and can be read again from any number, by another process, and once the events are gone", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, wanted(1));
    const previews = seen.events.filter(({ event }) => event === "preview").map(({ data }) => data as unknown as PreviewEvent);
    expect(previews.length).toBeGreaterThan(0);
    for (const { place, address } of previews) {
      expect(place).toBe(0);
      expect(address).toMatch(/^data:image\/webp;base64,/);
      expect(address.length).toBeLessThan(30_000);
    }
    const again = await resume(impatient, person, seen.generationId, 1);
    expect(again.events).toEqual(seen.events.slice(1));
    await database.db
      .updateTable("generations")
      .set({ ended_at: new Date("2020-01-01") })
      .where("id", "=", seen.generationId)
      .execute();
    const retold = await readAnswer(await call(api, person, "GET", `/api/generations/${seen.generationId}/events`));
    expect(retold.events.map(({ event }) => event)).toEqual(["start", "picture", "receipt"]);
    expect(delivered(retold)).toEqual(delivered(seen));
    expect(await (await call(api, person, "GET", `/api/conversations/${seen.conversationId}`)).json()).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", parts: delivered(seen), receipt: { trimmedMessages: 0 } }],
    });
  });

  test("without a background are transparent", async () => {
    const person = await subscriber();
    const [picture] = delivered(await ask(api, person, wanted(1, { background: "transparent" })));
    const { channels, isOpaque } = await sharp(await bytesOf(person, picture ?? expect.fail("no picture"))).stats();
    expect([channels.length, isOpaque]).toEqual([4, false]);
  });

  const faults: [ModelFaultKind, number, string][] = [
    ["die_mid_stream", 0, "provider_error"],
    ["die_mid_stream", 1, "provider_error"],
    ["rate_limited", 0, "provider_rate_limited"],
    ["server_error", 0, "provider_error"],
    ["hang", 1, "provider_timeout"],
    ["garbage", 1, "provider_garbage"],
    ["half_file", 0, "provider_garbage"],
    ["empty", 0, "provider_error"],
    ["content_filter", 0, "content_filtered"],
  ];
  test.each(daily(faults, 5))("%s after %i previews costs nothing", async (fault, afterTokens, code) => {
    const person = await subscriber();
    // What a provider turns away with a 5xx is sent once more.
    models.faults.set({ model: model.id, fault, count: fault === "server_error" ? 2 : 1, afterTokens, delayMs: 0, reason: "hate" });
    const failed = await ask(fault === "hang" ? impatient : api, person, wanted(1));
    expect(failed.receipt).toMatchObject({ status: "failed", failureCode: code, chargedCredits: 0, availableAfter: credits });
    expect(failed.receipt?.filterReason).toBe(code === "content_filtered" ? "hate" : undefined);
    expect(delivered(failed)).toEqual([]);
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
    // A picture takes its time, so of these one is asked for again.
    if (fault !== "half_file") return;
    expect((await ask(api, person, wanted(1))).receipt).toMatchObject({ status: "completed", chargedCredits: price });
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });

  test("of which one fails are charged without it, and the receipt says why it is missing", async () => {
    const person = await subscriber();
    models.faults.set({ model: model.id, fault: "half_file", count: 1, afterTokens: 0, delayMs: 0 });
    const seen = await ask(api, person, wanted(3));
    expect(seen.receipt).toMatchObject({
      ...{ status: "completed", failureCode: "provider_garbage", heldCredits: 3 * price, chargedCredits: 2 * price },
      picture: { count: 3 },
    });
    expect(delivered(seen)).toHaveLength(2);
    expect((await partsOf(person, seen)).parts).toHaveLength(2);
    expect(await wallet(person)).toEqual({ balance: credits - 2 * price, held: 0 });
  });

  test("whose provider says nothing of tokens are charged", async () => {
    const person = await subscriber();
    models.faults.set({ model: model.id, fault: "no_usage", count: 1, afterTokens: 0, delayMs: 0 });
    expect((await ask(api, person, wanted(1))).receipt).toMatchObject({ status: "completed", chargedCredits: price });
  });

  test("that are stopped before the first one are free, and after it those are charged that are there", async () => {
    const person = await subscriber();
    models.pace.milliseconds = slowestPaceMs;
    const nothing = await readAnswer(await send(api, person, wanted(1)), ({ generationId }) => generationId !== "");
    expect(await (await call(api, person, "POST", `/api/generations/${nothing.generationId}/stop`)).json()).toMatchObject({
      status: "stopped",
      chargedCredits: 0,
    });
    models.pace.milliseconds = 0;
    models.faults.set({ model: model.id, fault: "slow_first_token", count: 1, afterTokens: 0, delayMs: 60_000 });
    const seen = await readAnswer(await send(api, person, wanted(2)), ({ events }) => events.some(({ event }) => event === "picture"));
    expect(await (await call(api, person, "POST", `/api/generations/${seen.generationId}/stop`)).json()).toMatchObject({
      status: "stopped",
      chargedCredits: price,
    });
    expect((await partsOf(person, seen)).parts).toEqual(delivered(seen));
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });

  test("whose reader goes away are made, stored and charged once", async () => {
    const person = await subscriber();
    models.pace.milliseconds = slowestPaceMs;
    const seen = await readAnswer(await send(api, person, wanted(1)), ({ generationId }) => generationId !== "");
    models.pace.milliseconds = 0;
    const followed = await resume(impatient, person, seen.generationId, 1);
    expect(followed.receipt).toMatchObject({ status: "completed", chargedCredits: price });
    expect((await partsOf(person, seen)).parts).toEqual(delivered(followed));
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });

  test("whose process dies are ended by another one, free of charge, with those that are there; what it stores later is not kept", async () => {
    const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
    const person = await subscriber();
    models.faults.set({ model: model.id, fault: "slow_first_token", count: 1, afterTokens: 0, delayMs: 60_000 });
    const seen = await readAnswer(await send(dying, person, wanted(2)), ({ events }) => events.some(({ event }) => event === "picture"));
    const logged = database.db.selectFrom("generation_events").select("frames").where("generation_id", "=", seen.generationId);
    await expect.poll(async () => (await logged.execute()).some(({ frames }) => frames.includes("event: picture"))).toBe(true);
    // Closes the process's connections to PostgreSQL, as kill -9 does.
    await dying.deps.pool.end();
    await expect.poll(() => endOrphanedAnswers(api.deps)).toBe(1);
    const { parts, ...receipt } = await partsOf(person, seen);
    expect(receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0, availableAfter: credits });
    expect(parts).toEqual(delivered(seen));
    const late = { userId: person.userId, generationId: seen.generationId, kind: "output", name: "late" } as const;
    const content = await bytesOf(person, delivered(seen)[0] ?? expect.fail("no picture"));
    await expect(storeFile(api.deps, late, content)).rejects.toMatchObject({ code: "generation_ended" });
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
    await dying.app.close();
    await dying.deps.clock.close();
    await dying.deps.live.close();
  });

  test("asked for twice with one key are made once; another number under the same key is refused", async () => {
    const person = await subscriber();
    const key = randomUUID();
    const [one, other] = await Promise.all([ask(api, person, wanted(1), { key }), ask(api, person, wanted(1), { key })]);
    expect(one.generationId).toBe(other.generationId);
    expect(await (await send(api, person, wanted(2), { key })).json()).toMatchObject({ code: "idempotency_conflict" });
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });

  test("go with the conversation, and so do their files", async () => {
    const person = await subscriber();
    const seen = await ask(api, person, wanted(1));
    expect((await call(api, person, "DELETE", `/api/conversations/${seen.conversationId}`)).status).toBe(204);
    const [picture] = delivered(seen);
    await expect(openFile(api.deps, person.userId, picture?.fileId ?? "")).rejects.toMatchObject({ code: "not_found" });
  });
});

test("the gallery has a person's own pictures, latest first and page by page, without those that were deleted", async () => {
  const [person, other] = [await subscriber(), await subscriber()];
  await ask(api, other, wanted(1));
  const one = await ask(api, person, wanted(2));
  const two = await ask(api, person, { ...wanted(1), prompt: "The sea at night" });
  type Page = { pictures: GalleryPicture[]; nextCursor: string | null };
  const page = async (query = "") => (await (await call(api, person, "GET", `/api/pictures?limit=2${query}`)).json()) as Page;
  const first = await page();
  const second = await page(`&cursor=${first.nextCursor}`);
  const pictures = [...first.pictures, ...second.pictures];
  const [latest] = delivered(two);
  expect(pictures[0]).toMatchObject({
    ...{ fileId: latest?.fileId, width: 1536, height: 864, prompt: "The sea at night", modelId: model.id },
    conversationId: two.conversationId,
  });
  expect(new Set(pictures.map(({ fileId }) => fileId))).toEqual(
    new Set([...delivered(one), ...delivered(two)].map(({ fileId }) => fileId)),
  );
  expect(second.nextCursor).toBeNull();
  expect(await deleteFiles(api.deps.db, person.userId, [latest?.fileId ?? ""])).toBe(1);
  expect((await page()).pictures.map(({ prompt }) => prompt)).toEqual(Array(2).fill("A fox in an autumn forest"));
  await database.db.deleteFrom("conversations").where("id", "=", two.conversationId).execute();
});

describe("a request for pictures is refused", () => {
  const refusalOf = async (person: TestPerson, request: object) => {
    const response = await send(api, person, request as Record<string, unknown>);
    return { status: response.status, ...((await response.json()) as object) };
  };

  test("at another price than that of its number", async () => {
    const person = await subscriber();
    expect(await refusalOf(person, { ...wanted(3), quotedCredits: price })).toMatchObject({
      code: "price_changed",
      quotedCredits: 3 * price,
    });
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  });

  test("for options that do not exist, and options of pictures for a model that makes none", async () => {
    const person = await subscriber();
    for (const more of [{ count: 5 }, { count: 0 }, { size: "4096x4096" }, { quality: "max" }, { colour: "red" }, { mask: randomUUID() }])
      expect(await refusalOf(person, { ...wanted(1), picture: { ...options, ...more } })).toMatchObject({ code: "validation_failed" });
    expect(await refusalOf(person, { prompt: "Hello", picture: options })).toMatchObject({ code: "validation_failed" });
  });

  test("without the credits for all of them", async () => {
    const person = await createPerson(api, database.db, { credits: 2 * price, plan: "enterprise" });
    expect(await refusalOf(person, wanted(3))).toMatchObject({ code: "insufficient_credits", needed: 3 * price, available: 2 * price });
  });

  test("from a picture of somebody else, and when there is no room for more", async () => {
    const [person, other] = [await subscriber(), await subscriber()];
    const [foreign] = delivered(await ask(api, other, wanted(1)));
    expect(await refusalOf(person, wanted(1, { references: [foreign?.fileId] }))).toMatchObject({ code: "validation_failed" });
    await ask(api, person, wanted(1));
    await database.db.updateTable("files").set({ bytes: 30_000_000_000 }).where("user_id", "=", person.userId).execute();
    expect(await refusalOf(person, wanted(1))).toMatchObject({ code: "storage_full" });
  });
});

test("a picture begins from others, and changes only where a mask is transparent", async () => {
  const person = await subscriber();
  const [first] = delivered(await ask(api, person, wanted(1)));
  const reference = first ?? expect.fail("no picture");
  // The left half is transparent.
  const cut = Buffer.alloc(800 * 450 * 4, 255);
  for (let index = 0; index < 800 * 450; index += 1) if (index % 800 < 400) cut[index * 4 + 3] = 0;
  const maskBytes = await sharp(cut, { raw: { width: 800, height: 450, channels: 4 } })
    .png()
    .toBuffer();
  const mask = await storeFile(api.deps, { userId: person.userId, kind: "attachment", name: "mask" }, maskBytes);
  const seen = await ask(api, person, { ...wanted(1, { references: [reference.fileId], mask: mask.id }), prompt: "The sea at night" });
  expect(seen.receipt).toMatchObject({ status: "completed", chargedCredits: price });
  expect(models.calls.list()[0]?.promptTokens).toBeGreaterThan(1_024);
  // What was uploaded for it goes with the conversation, and is not taken for something that was never sent.
  const sent = await database.db.selectFrom("files").select("conversation_id").where("id", "=", mask.id).executeTakeFirstOrThrow();
  expect(sent.conversation_id).toBe(seen.conversationId);
  const [before, after] = await Promise.all(
    [reference, delivered(seen)[0] ?? expect.fail("no picture")].map(async (picture) =>
      sharp(await bytesOf(person, picture))
        .removeAlpha()
        .resize(64, 36)
        .raw()
        .toBuffer(),
    ),
  );
  const difference = (from: number, to: number) => {
    let sum = 0;
    for (let place = 0; place < 64 * 36; place += 1)
      if (place % 64 >= from && place % 64 < to)
        for (let channel = 0; channel < 3; channel += 1)
          sum += Math.abs((before?.[place * 3 + channel] ?? 0) - (after?.[place * 3 + channel] ?? 0));
    return sum / ((to - from) * 36 * 3);
  };
  expect(difference(36, 64)).toBeLessThan(12);
  expect(difference(0, 28)).toBeGreaterThan(3 * difference(36, 64));
});

test("over a run with a fault in every tenth picture the books agree with what was delivered", { timeout: 600_000 }, async () => {
  const person = await createPerson(api, database.db, { credits: 4_000, plan: "enterprise" });
  const kinds = ["die_mid_stream", "garbage", "half_file", "content_filter", "rate_limited", "empty"] as const;
  const rounds = full ? 24 : 1;
  for (let round = 0; round < rounds; round += 1) {
    models.faults.set({ model: model.id, fault: kinds[round % kinds.length] ?? "empty", count: 1, afterTokens: round % 2, delayMs: 0 });
    const seen = await Promise.all([2, 1, 3].map((count) => ask(api, person, wanted(count))));
    for (const answer of seen) expect(answer.receipt?.chargedCredits).toBe(price * delivered(answer).length);
    models.faults.clear("*");
  }
  const { sum } = await database.db
    .selectFrom("generations")
    .select(({ fn }) => fn.sum<string>("charged_credits").as("sum"))
    .where("user_id", "=", person.userId)
    .executeTakeFirstOrThrow();
  expect(await wallet(person)).toEqual({ balance: 4_000 - Number(sum), held: 0 });
});
