/**
 * Compares what people and schedules do in a database of 1,000,000 people and 10,000,000 entries with the same in one of 1,000 people, on
 * the same server, in turns. The databases are kept in `.data/bench` and used again by the next run.
 */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { grantKinds } from "#domain/credits.ts";
import { priceVersion } from "#domain/pricing.ts";
import type { Db } from "#server/db/database.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { migrate } from "#server/db/migrator.ts";
import type { EmbeddedPostgres } from "#server/embedded/postgres.ts";
import { applicationRole, ownerRole, startPostgres } from "#server/embedded/postgres.ts";
import { createInbox } from "#server/features/billing/inbox.ts";
import { explainBalance } from "#server/features/credits/explanation.ts";
import { readLedger } from "#server/features/credits/history.ts";
import { readWallet } from "#server/features/credits/service.ts";
import { readUsage } from "#server/features/credits/usage.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { entriesPerPerson, fill, pickPeople } from "./scale-data.ts";

const folder = fileURLToPath(new URL("../../.data/bench", import.meta.url));
const sizes = { large: 1_000_000, small: 1_000 } as const;
/** The people who are active while we measure: as many in both databases. */
const active = 1_000;
const samples = 1_000;
const walletsAtOnce = 100;
const target = 1.3;

interface World {
  people: number;
  db: Db;
  pool: pg.Pool;
  persons: { userId: string; walletId: string }[];
  acts: Record<string, () => Promise<unknown>>;
}

function within(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = database;
  return changed.href;
}

/** Makes and fills the database where it is missing, and brings its schema up to date. */
async function prepare(server: EmbeddedPostgres, people: number): Promise<string> {
  const name = `bench_${people}`;
  const admin = new pg.Client({ connectionString: server.superuserUrl });
  await admin.connect();
  try {
    const { rowCount: known } = await admin.query("select from pg_database where datname = $1", [name]);
    if (!known) await admin.query(`create database ${name} owner ${ownerRole}`);
    await admin.query(`grant connect on database ${name} to ${applicationRole}`);
  } finally {
    await admin.end();
  }
  await migrate({ ownerUrl: within(server.ownerUrl, name), applicationRole });
  const superuserUrl = within(server.superuserUrl, name);
  if ((await pickPeople(superuserUrl, people, 1)).length === 0) {
    console.log(`filling a database with ${people} people and ${people * entriesPerPerson} entries`);
    await fill(superuserUrl, people);
  }
  return within(server.applicationUrl, name);
}

/** A send, from the hold to the capture, as the product writes it. */
async function send(answers: ReturnType<typeof createAnswerBatches>, userId: string): Promise<void> {
  const id = uuidv7();
  const owner = randomUUID();
  const now = new Date();
  const turn = {
    conversationId: randomUUID(),
    isNew: true,
    title: "What is a tessera?",
    parentId: null,
    questionId: uuidv7(),
    answerId: uuidv7(),
    prompt: "What is a tessera?",
  };
  const start = {
    id,
    userId,
    modelId: "gpt-5-mini",
    idempotencyKey: id,
    requestHash: Buffer.from(id),
    credits: 1,
    priceVersion,
    now,
    owner,
  };
  const limits = { requestsPerMinute: 1_000, concurrentAnswers: 1_000, leaseMs: 60_000, holdMs: 60_000 };
  const { outcome } = await answers.start({
    ...start,
    ...limits,
    kinds: grantKinds,
    refused: false,
    holdId: null,
    turn,
    trimmedMessages: 0,
  });
  if (outcome !== "created") throw new Error(`a send was ${outcome}`);
  const end = {
    id,
    userId,
    owner,
    status: "completed",
    failureCode: null,
    cutShort: false,
    chargedCredits: 1,
    now,
    kinds: grantKinds,
  } as const;
  const counts = { promptTokens: 9, completionTokens: 9, costMicroDollars: 9, lastFrames: undefined };
  const row = await answers.end({ ...end, ...counts, parts: [{ kind: "text", text: "A small piece of a mosaic." }] });
  if (row?.charged_credits !== 1) throw new Error("an answer was not charged");
}

async function openWorld(url: string, people: number): Promise<World> {
  const pool = createPool(url, 4, "bench");
  const db = createDatabase(pool);
  const persons = await pickPeople(url, people, active);
  const answers = createAnswerBatches(db);
  const inbox = createInbox(pool, false);
  let turn = 0;
  const somebody = () => {
    turn += 1;
    return persons[turn % persons.length] ?? { userId: "", walletId: "" };
  };
  const wallets = () => Array.from({ length: walletsAtOnce }, () => somebody().walletId);
  const acts = {
    wallet: () => readWallet(db, somebody().userId, grantKinds, new Date()),
    history: () => readLedger(db, somebody().userId, undefined, 20),
    "filtered history": () => readLedger(db, somebody().userId, undefined, 20, { model: "gpt-5-mini", direction: "out" }),
    explanation: () => explainBalance(db, somebody().userId),
    "usage of 90 days": () => readUsage(db, somebody().userId, "90d", new Date()),
    send: () => send(answers, somebody().userId),
    webhook: () =>
      inbox({ id: `evt_${randomUUID()}`, type: "invoice.paid", livemode: false, objectId: "in_1", created: 1, payload: '{"object":{}}' }),
    [`hourly check of ${walletsAtOnce} wallets`]: () =>
      sql`select * from ledger_disagreements_in(${wallets()}::uuid[])`.execute(db).then(({ rows }) => {
        if (rows.length > 0) throw new Error(`the books disagree: ${JSON.stringify(rows.slice(0, 3))}`);
      }),
  };
  return { people, db, pool, persons, acts };
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}

export interface ScaleFigure {
  act: string;
  largeMs: number;
  smallMs: number;
}

async function timesOf(worlds: readonly World[], act: string, count: number): Promise<number[][]> {
  const times: number[][] = worlds.map(() => []);
  for (let sample = 0; sample < count; sample += 1) {
    for (const [index, world] of worlds.entries()) {
      const startedAt = performance.now();
      await world.acts[act]?.();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

async function onScaleServer<T>(work: (worlds: readonly World[]) => Promise<T>): Promise<T> {
  const settings = { shared_buffers: "2GB", max_wal_size: "8GB", checkpoint_timeout: "30min" };
  const server = await startPostgres({ dataDir: folder, log: (line) => console.error(line), settings });
  try {
    const worlds: World[] = [];
    for (const people of [sizes.large, sizes.small]) worlds.push(await openWorld(await prepare(server, people), people));
    const result = await work(worlds);
    for (const { db } of worlds) await db.destroy();
    return result;
  } finally {
    await server.stop();
  }
}

/** Makes and fills the databases where they are missing. */
export async function prepareScale(): Promise<void> {
  await onScaleServer(async () => {});
}

export async function measureScale(): Promise<ScaleFigure[]> {
  return onScaleServer(async (worlds) => {
    const figures: ScaleFigure[] = [];
    for (const act of Object.keys(worlds[0]?.acts ?? {})) {
      const count = act.startsWith("hourly") ? samples / 10 : samples;
      // The first round warms the caches: everybody who is active is met once.
      await timesOf(worlds, act, count);
      const [large = [], small = []] = await timesOf(worlds, act, count);
      figures.push({ act, largeMs: p95(large), smallMs: p95(small) });
    }
    return figures;
  });
}

export function reportScale({ act, largeMs, smallMs }: ScaleFigure): void {
  const ratio = largeMs / smallMs;
  const verdict = ratio <= target ? "reached" : "MISSED";
  console.log(
    `${act}, p95 with ${sizes.large} people against ${sizes.small}: ${largeMs.toFixed(2)} / ${smallMs.toFixed(2)} ms = ${ratio.toFixed(2)} (≤ ${target}) ${verdict}`,
  );
}
