/** Each clip is one paid job, whatever dies in between, charged only when it is stored. In the queue nobody waits behind one person. */
import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ClipEvent, ClipPart, GalleryPicture, ProgressEvent } from "#contract/generations/media.ts";
import { clipLimits, usualClip } from "#domain/clips.ts";
import { modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import type { ModelFaultKind } from "#sandbox/models/faults.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { openFile, storeFile } from "#server/features/files/service.ts";
import type { ClipRunner, ClipTimings } from "#server/features/generations/clip-runner.ts";
import { startClipRunner } from "#server/features/generations/clip-runner.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { AnswerProcess, AnswerWorld, SeenAnswer } from "#tests/support/answers.ts";
import { ask, call, readAnswer, resume, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import { full } from "#tests/support/full.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerProcess;
const runners: ClipRunner[] = [];

const quick: Partial<ClipTimings> = {
  tickMs: 15,
  checkMs: 15,
  againMs: 30,
  failuresAllowed: 3,
  download: { idleMs: 10_000, totalMs: 30_000 },
};
/** For a provider that says nothing any more. One that only draws on a busy machine may take longer. */
const impatient: Partial<ClipTimings> = { download: { idleMs: 2_000, totalMs: 10_000 } };

function run(timings: Partial<ClipTimings> = {}, on: AnswerProcess = api): ClipRunner {
  const runner = startClipRunner(on.deps, { ...quick, ...timings });
  runners.push(runner);
  return runner;
}

beforeAll(async () => {
  world = await startAnswerWorld({ followMs: 20 });
  ({ database, models, api } = world);
});
afterEach(async () => {
  models.pace.milliseconds = 0;
  for (const runner of runners.splice(0)) await runner.stop();
  const last = startClipRunner(api.deps, quick);
  await expect.poll(() => jobs(), { timeout: 10_000 }).toBe(0);
  await last.stop();
  models.faults.clear("*");
  api.deps.models.report(model, "nobody", true);
  expect(await findDisagreements(database.db)).toEqual([]);
  expect(await database.db.selectFrom("holds").select("id").where("state", "=", "open").execute()).toEqual([]);
  expect(await unkept()).toEqual([]);
});
afterAll(() => world.close());

const credits = 600;
const subscriber = () => createPerson(api, database.db, { credits, plan: "enterprise" });
const model = modelsAt(new Date()).find(({ category }) => category === "video") ?? expect.fail("no model makes clips");
const price = quoteCredits(model);
/** The shortest: most of what a clip takes here is drawing it. */
const options = { seconds: 4, shape: "1:1" } as const;
const wanted = { model: model.id, prompt: "A boat on the sea", quotedCredits: price, clip: options };

async function jobs(): Promise<number> {
  return (await database.db.selectFrom("clip_jobs").select("generation_id").execute()).length;
}

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

/** Files that no answer has, and clips of answers without a stored file. */
async function unkept(): Promise<string[]> {
  const parts = await database.db.selectFrom("generation_parts").select("detail").where("kind", "=", "clip").execute();
  const named = new Set(parts.map(({ detail }) => String(detail?.fileId)));
  const files = await database.db.selectFrom("files").select(["id", "content_type"]).where("kind", "=", "output").execute();
  const stored = new Set(files.filter((file) => file.content_type !== null).map(({ id }) => id));
  return [...files.map(({ id }) => id).filter((id) => !named.has(id)), ...[...named].filter((id) => !stored.has(id))];
}

const progressOf = (seen: SeenAnswer) =>
  seen.events.flatMap(({ event, data }) => (event === "progress" ? [data as unknown as ProgressEvent] : []));
const clipOf = (seen: SeenAnswer): ClipPart =>
  seen.events.map(({ event, data }) => (event === "clip" ? (data as unknown as ClipEvent).clip : undefined)).find((clip) => clip) ??
  expect.fail("no clip");

/** Asks, and stops listening once the answer has begun. */
const begin = (person: TestPerson, more: object = {}, on = api) =>
  send(on, person, { ...wanted, ...more }).then((response) => readAnswer(response, ({ generationId }) => generationId !== ""));

async function untilState(id: string, state: string): Promise<void> {
  const row = database.db.selectFrom("clip_jobs").select("state").where("generation_id", "=", id);
  await expect.poll(async () => (await row.executeTakeFirst())?.state, { interval: 10 }).toBe(state);
}

async function costOf(generationId: string): Promise<number | null> {
  const answers = database.db.selectFrom("generations").select("cost_micro_dollars");
  return (await answers.where("id", "=", generationId).executeTakeFirstOrThrow()).cost_micro_dollars;
}

describe("a clip", () => {
  test("is told as it is made, is stored with its size and length, read in ranges, charged, and in the gallery", async () => {
    const person = await subscriber();
    run();
    const seen = await ask(api, person, wanted);
    expect(seen.receipt).toMatchObject({
      status: "completed",
      chargedCredits: price,
      heldCredits: price,
      clip: options,
      trimmedMessages: 0,
    });
    expect(progressOf(seen).map(({ state }) => state)).toEqual(expect.arrayContaining(["working", "downloading"]));
    const clip = clipOf(seen);
    expect(clip).toMatchObject({ width: 720, height: 720, durationMs: 4_000, alternative: wanted.prompt });
    const { info, bytes, content } = await openFile(api.deps, person.userId, clip.fileId, { first: 4, last: 7 });
    expect([info.contentType, info.bytes === bytes, String(await buffer(content))]).toEqual(["video/mp4", true, "ftyp"]);
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
    expect(await costOf(seen.generationId)).toBe(560_000);
    // The events, which a page or a log may show, do not contain the provider's address of the file.
    expect(JSON.stringify(seen.events)).not.toContain("/files/");
    const again = await resume(api, person, seen.generationId, 1);
    expect(again.events).toEqual(seen.events.slice(1));
    const gallery = async (query: string) =>
      ((await (await call(api, person, "GET", `/api/pictures${query}`)).json()) as { pictures: GalleryPicture[] }).pictures;
    expect(await gallery("")).toEqual([]);
    expect(await gallery("?clips=true")).toMatchObject([{ fileId: clip.fileId, durationMs: 4_000, prompt: wanted.prompt }]);
    expect(await (await call(api, person, "GET", `/api/conversations/${seen.conversationId}`)).json()).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", parts: [clip] }],
    });
    await database.db
      .updateTable("generations")
      .set({ ended_at: new Date("2020-01-01") })
      .where("id", "=", seen.generationId)
      .execute();
    const retold = await readAnswer(await call(api, person, "GET", `/api/generations/${seen.generationId}/events`));
    expect(retold.events.map(({ event }) => event)).toEqual(["start", "clip", "receipt"]);
    const { conversationId } = seen;
    await ask(api, person, { conversationId, prompt: "What is in it?", model: "mistral-small-2603", quotedCredits: 1 });
    expect(models.lastMessages().at(-2)).toMatchObject({
      role: "assistant",
      content: "[The answer was a video clip of 4 seconds, made for the prompt above]",
    });
  });

  test("begins with a picture, and has its shape", async () => {
    const person = await subscriber();
    const picture = await sharp({ create: { width: 900, height: 1600, channels: 3, background: "teal" } })
      .png()
      .toBuffer();
    const { id } = await storeFile(api.deps, { userId: person.userId, kind: "attachment", name: "sea" }, picture);
    run();
    const seen = await ask(api, person, { ...wanted, clip: { ...options, reference: id } });
    expect(clipOf(seen)).toMatchObject({ width: 720, height: 1280 });
    // It goes with the conversation from now on.
    expect((await call(api, person, "DELETE", `/api/conversations/${seen.conversationId}`)).status).toBe(204);
    expect(await database.db.selectFrom("files").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
  });

  type Faulty = [fault: ModelFaultKind, afterTokens: number, status: string, failureCode: string | null, filterReason?: string];
  const faulty: Faulty[] = [
    ["rate_limited", 0, "completed", null],
    ["expired_address", 1, "completed", null],
    ["content_filter", 1, "failed", "content_filtered", "unspecified"],
    ["hang", 0, "failed", "provider_timeout"],
    ["garbage", 0, "failed", "provider_garbage"],
    ["half_file", 0, "failed", "provider_garbage"],
    ["slow_first_token", 0, "failed", "provider_timeout"],
    ["expired_address", 9, "failed", "clip_not_kept"],
  ];
  const more: Faulty[] = [
    ["server_error", 0, "failed", "provider_error"],
    ["content_filter", 0, "failed", "content_filtered", "bio"],
    ["failed_job", 0, "failed", "provider_error"],
    ["empty", 0, "failed", "provider_garbage"],
    ["die_mid_stream", 0, "failed", "clip_not_kept"],
  ];
  test.each(full ? [...faulty, ...more] : faulty)(
    "after %s (%i) is %s, and the books agree",
    async (fault, afterTokens, status, failureCode, filterReason) => {
      const person = await subscriber();
      const before = models.clips.begun;
      models.faults.set({ model: model.id, fault, count: 1, afterTokens, delayMs: 0, reason: "bio" });
      run({ ...(fault === "hang" && { workMs: 100 }), ...((status === "failed" || fault === "hang") && impatient) });
      const seen = await ask(api, person, wanted);
      const charged = status === "completed" ? price : 0;
      expect(seen.receipt).toMatchObject({ status, failureCode, chargedCredits: charged, availableAfter: credits - charged });
      expect(seen.receipt?.filterReason).toBe(filterReason);
      expect(await wallet(person)).toEqual({ balance: credits - charged, held: 0 });
      expect(models.clips.begun - before).toBeLessThanOrEqual(1);
      // The provider charges for a clip that it made, even if we could not keep it.
      if (failureCode === "clip_not_kept") expect(await costOf(seen.generationId)).toBe(560_000);
    },
  );

  test("that nobody could begin in time ends uncharged", async () => {
    const person = await subscriber();
    models.faults.set({ model: model.id, fault: "rate_limited", count: null, afterTokens: 0, delayMs: 0 });
    run({ queueMs: 50 });
    expect((await ask(api, person, wanted)).receipt).toMatchObject({ status: "failed", failureCode: "queue_too_long", chargedCredits: 0 });
  });

  test("can be stopped for free while it waits; once its provider has begun it goes on and is charged", async () => {
    const person = await subscriber();
    const stop = async ({ generationId }: SeenAnswer) => (await call(api, person, "POST", `/api/generations/${generationId}/stop`)).json();
    const waits = await begin(person);
    expect(await stop(waits)).toMatchObject({ status: "stopped", chargedCredits: 0, availableAfter: credits });
    expect(await jobs()).toBe(0);
    models.pace.milliseconds = slowestPaceMs;
    run();
    const works = await begin(person);
    await untilState(works.generationId, "working");
    expect(await stop(works)).toMatchObject({ status: "streaming" });
    models.pace.milliseconds = 0;
    expect((await resume(api, person, works.generationId, 1)).receipt).toMatchObject({ status: "completed", chargedCredits: price });
  });

  test("whose conversation is deleted while it is made is neither kept nor charged", async () => {
    const person = await subscriber();
    models.pace.milliseconds = slowestPaceMs;
    run();
    const seen = await begin(person);
    await untilState(seen.generationId, "working");
    expect((await call(api, person, "DELETE", `/api/conversations/${seen.conversationId}`)).status).toBe(204);
    models.pace.milliseconds = 0;
    await expect.poll(() => jobs()).toBe(0);
    expect(await wallet(person)).toEqual({ balance: credits, held: 0 });
  });

  test("asked for twice with one key is one job", async () => {
    const person = await subscriber();
    const before = models.clips.begun;
    run();
    const key = randomUUID();
    const [one, other] = await Promise.all([ask(api, person, wanted, { key }), ask(api, person, wanted, { key })]);
    expect([one.generationId, models.clips.begun - before]).toEqual([other.generationId, 1]);
    expect(await wallet(person)).toEqual({ balance: credits - price, held: 0 });
  });
});

describe("a clip whose process is killed", () => {
  /** Closes the process's connections to PostgreSQL, as kill -9 does. */
  async function kill(dying: AnswerProcess, runner: ClipRunner): Promise<void> {
    await dying.deps.pool.end();
    await runner.stop();
    await dying.app.close();
    await dying.deps.clock.close();
    await dying.deps.live.close();
  }

  test("is gone on with by another one: it is the same job at the provider, it arrives, and it is charged once", async () => {
    const person = await subscriber();
    const before = models.clips.begun;
    models.pace.milliseconds = slowestPaceMs;
    const dying = await startAnswerProcess(database.applicationUrl, models.url, { followMs: 20 });
    const runner = startClipRunner(dying.deps, { ...quick, leaseMs: 200 });
    const seen = await begin(person, {}, dying);
    await untilState(seen.generationId, "working");
    await kill(dying, runner);
    run({ leaseMs: 200 });
    // The sweep of answers whose process died has nothing to do with it.
    expect(await endOrphanedAnswers(api.deps)).toBe(0);
    models.pace.milliseconds = 0;
    const rest = await resume(api, person, seen.generationId, 1);
    expect(rest.receipt).toMatchObject({ status: "completed", chargedCredits: price });
    expect(clipOf(rest).width).toBe(720);
    expect(models.clips.begun - before).toBe(1);
  });

  test("between the provider's answer and our note of it ends uncharged, and is not asked for again", async () => {
    const person = await subscriber();
    const seen = await begin(person);
    await database.db
      .updateTable("clip_jobs")
      .set({ state: "starting", owner: randomUUID(), started_at: new Date(), lease_expires_at: new Date(Date.now() - 1_000) })
      .execute();
    const before = models.clips.begun;
    run();
    expect((await resume(api, person, seen.generationId, 1)).receipt).toMatchObject({
      status: "failed",
      failureCode: "interrupted",
      chargedCredits: 0,
    });
    expect(models.clips.begun).toBe(before);
  });

  test("and that nobody looks after any more is ended like any other answer", async () => {
    const person = await subscriber();
    const seen = await begin(person);
    await database.db.deleteFrom("clip_jobs").execute();
    expect(await endOrphanedAnswers(api.deps)).toBe(1);
    expect((await resume(api, person, seen.generationId, 1)).receipt).toMatchObject({ status: "failed", chargedCredits: 0 });
  });
});

describe("the queue", () => {
  test("lets nobody wait behind one person's clips, tells each their place, and has its bounds", async () => {
    const [many, other] = [await subscriber(), await subscriber()];
    models.pace.milliseconds = slowestPaceMs;
    const theirs: SeenAnswer[] = [];
    for (let clip = 0; clip < clipLimits.open; clip += 1) theirs.push(await begin(many));
    expect(await (await send(api, many, wanted)).json()).toMatchObject({ code: "too_many_answers" });
    expect(await wallet(many)).toEqual({ balance: credits, held: price * clipLimits.open });
    run();
    run();
    await untilState(theirs[clipLimits.atWorkEach - 1]?.generationId ?? "", "working");
    const own = await begin(other);
    await untilState(own.generationId, "working");
    const atWork = await database.db.selectFrom("clip_jobs").select("generation_id").where("state", "<>", "queued").execute();
    expect(atWork).toHaveLength(clipLimits.atWorkEach + 1);
    const last = theirs.at(-1) ?? expect.fail("no clip");
    const place = clipLimits.open - clipLimits.atWorkEach;
    const told = await resume(api, many, last.generationId, 1, (seen) => progressOf(seen).some((progress) => progress.place === place));
    expect(progressOf(told).at(-1)).toMatchObject({ state: "queued", place });
    for (const { generationId } of theirs.slice(clipLimits.atWorkEach))
      await call(api, many, "POST", `/api/generations/${generationId}/stop`);
  });

  const askToStop = ({ generationId }: SeenAnswer) =>
    database.db.updateTable("generations").set({ stop_requested_at: new Date() }).where("id", "=", generationId).execute();
  const jobOf = ({ generationId }: SeenAnswer) =>
    database.db.selectFrom("clip_jobs").selectAll().where("generation_id", "=", generationId).executeTakeFirst();

  /** Runs the statement in a transaction that stays open until the returned function is called. */
  async function hold(statement: string, id: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
    await client.query("begin");
    await client.query(statement, [id]);
    return () => client.end();
  }

  /** Until the lease of the clip has been renewed for longer than it was given for. Says which process has it then. */
  async function ownerAfterLease(seen: SeenAnswer, leaseMs: number): Promise<string | null | undefined> {
    const until = Number((await jobOf(seen))?.lease_expires_at) + leaseMs;
    await expect.poll(async () => Number((await jobOf(seen))?.lease_expires_at), { timeout: 15_000 }).toBeGreaterThan(until);
    return (await jobOf(seen))?.owner;
  }

  test("goes on past clips that can't be ended: others are begun, their person's too, and they end once they can", async () => {
    const [broken, other] = [await subscriber(), await subscriber()];
    const stuck = [await begin(broken), await begin(broken)];
    for (const seen of stuck) await askToStop(seen);
    await database.asOwner(
      `create function refuse() returns trigger language plpgsql as
        'begin if old.user_id = ''${broken.userId}'' and old.state = ''queued'' then raise exception ''broken''; end if; return old; end'`,
      "create trigger refuse before delete on clip_jobs for each row execute function refuse()",
    );
    try {
      run();
      const seen = await Promise.all([ask(api, other, wanted), ask(api, broken, wanted)]);
      expect(seen.map(({ receipt }) => receipt?.status)).toEqual(["completed", "completed"]);
      const failures = database.db.selectFrom("sweep_failures").select("subject").where("sweep", "=", "unwanted-clips");
      const subjects = async () => (await failures.execute()).map(({ subject }) => subject).toSorted();
      await expect.poll(subjects).toEqual(stuck.map(({ generationId }) => generationId).toSorted());
    } finally {
      await database.asOwner("drop trigger refuse on clip_jobs", "drop function refuse", "update sweep_failures set retry_at = now()");
    }
    for (const { generationId } of stuck)
      expect((await resume(api, broken, generationId, 1)).receipt).toMatchObject({ status: "stopped", chargedCredits: 0 });
    await expect.poll(() => database.db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
  });

  test("waits for no locked wallet: others are begun and keep their leases while ends wait for it", async () => {
    const [locked, other] = [await subscriber(), await subscriber()];
    const leaseMs = 2_000;
    const [unwanted, stopped] = [await begin(locked), await begin(locked)];
    await askToStop(unwanted);
    const release = await hold("select from wallets where id = $1 for update", locked.walletId);
    try {
      const stopping = call(api, locked, "POST", `/api/generations/${stopped.generationId}/stop`);
      const free = database.db.selectFrom("clip_jobs").select("generation_id").forUpdate().skipLocked();
      await expect.poll(() => free.where("generation_id", "=", stopped.generationId).execute()).toEqual([]);
      models.pace.milliseconds = slowestPaceMs;
      run({ leaseMs });
      run({ leaseMs });
      const begun = await begin(other);
      await untilState(begun.generationId, "working");
      const owner = (await jobOf(begun))?.owner;
      expect(await ownerAfterLease(begun, leaseMs)).toBe(owner);
      expect((await jobOf(unwanted))?.state).toBe("queued");
      await release();
      expect((await stopping).status).toBe(200);
    } finally {
      await release();
      models.pace.milliseconds = 0;
      await database.asOwner("update sweep_failures set retry_at = now()");
    }
    for (const { generationId } of [unwanted, stopped])
      expect((await resume(api, locked, generationId, 1)).receipt).toMatchObject({ status: "stopped", chargedCredits: 0 });
  });

  test("keeps the leases of the clips that are being made while the end of one of them waits for a lock", async () => {
    const [one, other] = [await subscriber(), await subscriber()];
    const leaseMs = 2_000;
    models.pace.milliseconds = slowestPaceMs;
    run({ leaseMs });
    const [ends, goesOn] = [await begin(one), await begin(other)];
    for (const { generationId } of [ends, goesOn]) await untilState(generationId, "working");
    const owner = (await jobOf(goesOn))?.owner;
    run({ leaseMs });
    // As its end does, which deletes the row and then waits for the wallet.
    const release = await hold("select from clip_jobs where generation_id = $1 for update", ends.generationId);
    try {
      expect(await ownerAfterLease(goesOn, leaseMs)).toBe(owner);
      expect((await jobOf(ends))?.owner).toBe(owner);
    } finally {
      await release();
      models.pace.milliseconds = 0;
    }
    for (const [person, seen] of [
      [one, ends],
      [other, goesOn],
    ] as const)
      expect((await resume(api, person, seen.generationId, 1)).receipt).toMatchObject({ status: "completed", chargedCredits: price });
  });
});

describe("a request for a clip is refused", () => {
  const refusalOf = async (person: TestPerson, request: object) => (await send(api, person, { ...wanted, ...request })).json();

  test("at another price, with options that do not exist, from a picture of somebody else, and without room for it", async () => {
    const [person, other] = [await subscriber(), await subscriber()];
    expect(await refusalOf(person, { quotedCredits: 1 })).toMatchObject({ code: "price_changed", quotedCredits: price });
    for (const more of [{ seconds: 10 }, { shape: "2:1" }, { colour: "red" }, { reference: "x" }])
      expect(await refusalOf(person, { clip: { ...usualClip, ...more } })).toMatchObject({ code: "validation_failed" });
    const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: "teal" } })
      .png()
      .toBuffer();
    const { id } = await storeFile(api.deps, { userId: other.userId, kind: "attachment", name: "sea" }, picture);
    expect(await refusalOf(person, { clip: { ...usualClip, reference: id } })).toMatchObject({ code: "validation_failed" });
    await database.db.updateTable("files").set({ bytes: 30_000_000_000 }).where("id", "=", id).execute();
    expect(await refusalOf(other, {})).toMatchObject({ code: "storage_full" });
    expect(await refusalOf(person, { model: "gpt-6-luna", quotedCredits: 1 })).toMatchObject({ code: "validation_failed" });
    await database.db.deleteFrom("files").where("id", "=", id).execute();
  });
});
