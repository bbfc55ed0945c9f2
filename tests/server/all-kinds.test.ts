/**
 * Answers of every kind at once, every tenth with a fault, a stop or a reader who goes away: each is charged what was delivered, what was
 * delivered is kept, and the books agree. `npm run test:full` has two thousand of them.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Receipt } from "#contract/generations/generations.ts";
import { findModel } from "#domain/models.ts";
import { deliveredPictures } from "#domain/pictures.ts";
import type { ModelFaultKind } from "#sandbox/models/faults.ts";
import { addRecording } from "#server/features/files/recordings.ts";
import type { ClipRunner } from "#server/features/generations/clip-runner.ts";
import { startClipRunner } from "#server/features/generations/clip-runner.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { call, readAnswer, resume, send, startAnswerWorld } from "#tests/support/answers.ts";
import { expectBooksAgree } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

const answers = full ? 2_000 : 20;
/** One person asks this many, at most as many as a plan allows within a minute. */
const answersEach = full ? 50 : 20;
const peopleAtOnce = 4;
const credits = 5_000;

let world: AnswerWorld;
let runners: ClipRunner[];
const soon = { firstTokenMs: 1_500, idleMs: 1_500, totalMs: 30_000 };

beforeAll(async () => {
  world = await startAnswerWorld({ ...soon, pictures: soon, sounds: soon, followMs: 50 });
  const clips = { tickMs: 25, checkMs: 25, againMs: 50, failuresAllowed: 2, workMs: 5_000, download: soon };
  runners = [0, 1].map(() => startClipRunner(world.api.deps, clips));
});
afterAll(async () => {
  for (const runner of runners) await runner.stop();
  await world.close();
});

interface Kind {
  models: readonly string[];
  faults: readonly ModelFaultKind[];
  request(person: TestPerson): Promise<Record<string, unknown>>;
}

const broken = ["die_mid_stream", "rate_limited", "server_error", "hang", "garbage", "content_filter"] as const;
const picture = { size: "1024x1024", quality: "low", background: "auto", count: 2 } as const;
const words = async () => ({ prompt: "What is a tessera?" });

/** The tests ask for these about as often as people do: a clip is drawn frame by frame. */
const kinds: readonly Kind[] = [
  { models: ["gpt-6-luna", "claude-haiku-5-5", "mistral-small-2603"], faults: [...broken, "empty", "length", "no_usage"], request: words },
  { models: ["sonar"], faults: [...broken, "empty"], request: words },
  {
    models: ["gpt-transcribe", "voxtral-small-transcribe-3-0"],
    faults: [...broken, "half_file", "empty"],
    request: async ({ userId }) => {
      const { id } = await addRecording(world.api.deps, userId, "notes", makeWav(1));
      return { prompt: "notes.wav", attachments: [id] };
    },
  },
  { models: ["voxtral-mini-tts-3-0"], faults: [...broken, "half_file", "empty"], request: async () => ({ prompt: "Hello there." }) },
  { models: ["gpt-image-2.6-flare"], faults: [...broken, "half_file"], request: async () => ({ prompt: "A mosaic", picture }) },
  {
    models: ["grok-imagine-video-1.5"],
    faults: ["failed_job", "expired_address", "server_error", "garbage", "half_file", "content_filter", "empty"],
    request: async () => ({ prompt: "The sea", clip: { seconds: 4, shape: "1:1" } }),
  },
];
/** By number: of twenty answers nine are words and one is a clip. */
const order = [0, 1, 0, 2, 0, 3, 0, 4, 0, 2, 0, 3, 0, 1, 4, 0, 3, 2, 0, 5];

function priceOf(model: string): number {
  const { credits: each = 0, unit } = findModel(model) ?? {};
  return unit === "image" ? each * picture.count : each;
}

/** Sends until it is not refused: a model that failed again and again is paused. */
async function sendUntilTaken(person: TestPerson, request: Record<string, unknown>): Promise<Response> {
  for (;;) {
    const response = await send(world.api, person, request);
    if (response.status !== 503 && response.status !== 429) return response;
    await response.text();
    const model = findModel(String(request.model)) ?? expect.fail();
    world.api.deps.models.report(model, person.userId, true);
    await pause(20);
  }
}

/** Asks one answer and returns its receipt. */
async function askOne(person: TestPerson, number: number, random: (below: number) => number): Promise<Receipt> {
  const kind = kinds[order[number % order.length] ?? 0] ?? expect.fail();
  const model = kind.models[random(kind.models.length)] ?? expect.fail();
  const request = { model, quotedCredits: priceOf(model), ...(await kind.request(person)) };
  // Four of six troubles are the provider's. One of them lasts, so that no second try mends it.
  const isLasting = number === 17;
  const trouble = number % 10 === 7 ? random(isLasting ? 4 : 6) : undefined;
  const fault = isLasting ? "server_error" : (kind.faults[random(kind.faults.length)] ?? expect.fail());
  const [count, afterTokens] = isLasting ? [10, 0] : [1, random(5)];
  if (trouble !== undefined && trouble < 4) world.models.faults.set({ model, fault, count, afterTokens, delayMs: 0 });
  const response = await sendUntilTaken(person, request);
  if (trouble === undefined || trouble < 4) {
    const { receipt } = await readAnswer(response);
    if (isLasting) world.models.faults.clear(model);
    return receipt ?? expect.fail("no receipt");
  }
  const { generationId } = await readAnswer(response, (seen) => seen.generationId !== "");
  if (trouble === 4) await (await call(world.api, person, "POST", `/api/generations/${generationId}/stop`)).text();
  return (await resume(world.api, person, generationId, 0)).receipt ?? expect.fail("no receipt");
}

function fairCharge({ status, heldCredits, chargedCredits, picture: asked }: Receipt): void {
  const charged = chargedCredits ?? expect.fail("an answer without a charge");
  if (status === "failed") expect(charged).toBe(0);
  else if (asked) expect(deliveredPictures(asked.count, heldCredits, charged)).toBeLessThanOrEqual(asked.count);
  else if (status === "completed") expect(charged).toBe(heldCredits);
  else expect([0, heldCredits]).toContain(charged);
}

/** Files of nobody's answer, and answers whose file is not stored. */
async function lost(): Promise<string[]> {
  const { db } = world.database;
  const parts = await db.selectFrom("generation_parts").select("detail").where("kind", "in", ["picture", "sound", "clip"]).execute();
  const named = new Set(parts.map(({ detail }) => String(detail?.fileId)));
  const files = await db.selectFrom("files").select(["id", "content_type"]).where("kind", "=", "output").execute();
  const stored = new Set(files.filter((file) => file.content_type !== null).map(({ id }) => id));
  return [...files.map(({ id }) => id).filter((id) => !named.has(id)), ...[...named].filter((id) => !stored.has(id))];
}

test(
  `of ${answers} answers of all kinds, every tenth in trouble, each is charged what was delivered, and the books agree`,
  async () => {
    const seed = Math.floor(Date.now() / 1_000) % 100_000;
    const random = seededRandom(seed);
    const receipts: Receipt[] = [];
    const people = await Promise.all(
      Array.from({ length: answers / answersEach }, () => createPerson(world.api, world.database.db, { credits, plan: "enterprise" })),
    );
    let next = 0;
    const live = async () => {
      for (let person = people[next]; person; person = people[next]) {
        const first = next * answersEach;
        next += 1;
        let charged = 0;
        for (let number = 0; number < answersEach; number += 1) {
          const receipt = await askOne(person, first + number, random);
          receipts.push(receipt);
          fairCharge(receipt);
          charged += receipt.chargedCredits ?? 0;
        }
        const row = world.database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId);
        expect(await row.executeTakeFirst(), `seed ${seed}`).toEqual({ balance: credits - charged, held: 0 });
      }
    };
    await Promise.all(Array.from({ length: peopleAtOnce }, live));
    expect(receipts).toHaveLength(answers);
    expect(new Set(receipts.map(({ status }) => status)).has("completed")).toBe(true);
    expect(receipts.filter(({ status }) => status !== "completed").length, `seed ${seed}`).toBeGreaterThan(0);
    expect(await lost(), `seed ${seed}`).toEqual([]);
    expect(await world.database.db.selectFrom("holds").select("id").where("state", "=", "open").execute()).toEqual([]);
    await expectBooksAgree(world.database);
  },
  full ? 600_000 : 60_000,
);
