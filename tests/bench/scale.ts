/**
 * Compares what people, schedules and checks do in a database of 1,000,000 people and 10,000,000 entries with the same in one of 1,000
 * people, on the same server, in turns. The databases are kept in `.data/bench` and used again by the next run.
 */
import { fileURLToPath } from "node:url";
import pg from "pg";
import { readConfig } from "#server/config.ts";
import { migrate } from "#server/db/migrator.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import type { EmbeddedPostgres } from "#server/embedded/postgres.ts";
import { applicationRole, ownerRole, startPostgres } from "#server/embedded/postgres.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import type { Acts } from "./scale-acts.ts";
import { actsOf, startStripe } from "./scale-acts.ts";
import { entriesPerPerson, fill, fillingsVersion, pickPeople, tidyUp } from "./scale-data.ts";

const folder = fileURLToPath(new URL("../../.data/bench", import.meta.url));
const settings = { shared_buffers: "2GB", max_wal_size: "8GB", checkpoint_timeout: "30min" };
const sizes = { large: 1_000_000, small: 1_000 } as const;
/** The people who are active while we measure: as many in both databases. */
const active = 1_000;
/** The larger of the two databases. `scale-small` shows within minutes that every act works, and which times clearly grow with the data. */
const runs = { full: { people: sizes.large, samples: 1_000 }, small: { people: 20_000, samples: 200 } } as const;
const target = 1.3;
/** The p95 of whatever the team's panel reads in the large database: what it finds there may be more than in the small one. */
const panelTargetMs = 200;

function within(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = database;
  return changed.href;
}

/** Makes and fills the database if it is missing, and migrates it. A database of an earlier version of the filling is dropped. */
async function prepare(server: EmbeddedPostgres, people: number): Promise<{ superuserUrl: string; applicationUrl: string }> {
  const prefix = `bench_${people}_`;
  const name = prefix + fillingsVersion;
  const admin = new pg.Client({ connectionString: server.superuserUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ datname: string }>("select datname from pg_database where starts_with(datname, $1)", [prefix]);
    for (const { datname } of rows) if (datname !== name) await admin.query(`drop database ${datname}`);
    if (!rows.some(({ datname }) => datname === name)) await admin.query(`create database ${name} owner ${ownerRole}`);
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
  return { superuserUrl, applicationUrl: within(server.applicationUrl, name) };
}

async function onScaleServer<T>(work: (server: EmbeddedPostgres) => Promise<T>): Promise<T> {
  const server = await startPostgres({ dataDir: folder, log: (line) => console.error(line), settings });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Makes and fills the databases where they are missing. */
export async function prepareScale(): Promise<void> {
  await onScaleServer(async (server) => {
    for (const people of Object.values(sizes)) await prepare(server, people);
  });
}

interface World {
  acts: Acts;
  close(): Promise<void>;
}

async function openWorld(server: EmbeddedPostgres, people: number, stripeUrl: string): Promise<World> {
  const { superuserUrl, applicationUrl } = await prepare(server, people);
  await tidyUp(superuserUrl);
  const environment = testEnvironment({ applicationUrl }, { STRIPE_API_URL: stripeUrl, DATABASE_POOL_SIZE: "4" });
  const deps = createDeps(readConfig(environment), "bench", createLogger("error", "bench"));
  return { acts: await actsOf(deps, await pickPeople(superuserUrl, people, active)), close: () => deps.close() };
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}

export interface ScaleFigure {
  act: string;
  /** In the large database. */
  people: number;
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

/** Only acts whose names match are measured. */
const wanted = new RegExp(process.env.BENCH_ACTS ?? "");

/** Reports each act as soon as it is measured; all of them take half an hour. `small`: fewer people and samples. */
export async function measureScale(run: keyof typeof runs, report: (figure: ScaleFigure) => void): Promise<void> {
  const { people, samples } = runs[run];
  return onScaleServer(async (server) => {
    const stripe = await startStripe();
    const worlds: World[] = [];
    for (const size of [people, sizes.small]) worlds.push(await openWorld(server, size, stripe.url));
    for (const act of Object.keys(worlds[0]?.acts ?? {}).filter((name) => wanted.test(name))) {
      const count = /^(hourly|sweeps)/.test(act) ? samples / 4 : samples;
      // The first round warms the caches: everybody who is active is met once.
      await timesOf(worlds, act, count);
      const [large = [], small = []] = await timesOf(worlds, act, count);
      report({ act, people, largeMs: p95(large), smallMs: p95(small) });
    }
    for (const world of worlds) await world.close();
    await stripe.close();
  });
}

export function reportScale({ act, people, largeMs, smallMs }: ScaleFigure): void {
  const ratio = largeMs / smallMs;
  const ofPanel = act.startsWith("panel");
  const verdict = (ofPanel ? largeMs <= panelTargetMs : ratio <= target) ? "reached" : "MISSED";
  const bound = ofPanel ? `≤ ${panelTargetMs} ms` : `≤ ${target}`;
  console.log(
    `${act}, p95 with ${people} people against ${sizes.small}: ${largeMs.toFixed(2)} / ${smallMs.toFixed(2)} ms = ${ratio.toFixed(2)} (${bound}) ${verdict}`,
  );
}
