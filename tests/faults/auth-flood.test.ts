/**
 * Floods sign-up and sign-in from one address; measures the work it causes and how long other people's requests take meanwhile.
 * `npm run test:full` has a larger flood, and limits how long they take.
 */
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { hash } from "@node-rs/argon2";
import { expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { createUser } from "#tests/support/people.ts";
import { scaleFor } from "#tests/support/scale.ts";

const floodSize = full ? 600 : 120;
/** From as many networks at once, so no limit of a network holds them back. */
const guessCount = floodSize;
const password = "a tessera 4 two";
const neighbours = 6;
/** At least this many samples of each call; where they are judged, so many that the 95th percentile is not the one slowest call. */
const samples = full ? 40 : 5;

interface Felt {
  signInMs: number[];
  modelsMs: number[];
  refused: number;
}

const p95 = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
const count = (statuses: readonly number[]) =>
  [...new Set(statuses)]
    .sort()
    .map((status) => `${statuses.filter((each) => each === status).length} × ${status}`)
    .join(", ");
/** Milliseconds of processor time that the process has used; 0 where the system does not tell. */
function cpuMsOf(pid: number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return 0;
  // The name may contain spaces, so the fields are counted from its end: user and system time are the 12th and 13th, in hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A request that takes at most this long counts as unaffected; on a busy machine three times the quiet p95 does too. */
const atOnceMs = 1_000;

it(`${floodSize} sign-ups and ${floodSize} sign-ins at once from one address don't slow down anybody else's sign-in, and an owner under attack signs in at the first try`, {
  timeout: 400_000,
}, async (test) => {
  const product = await scaleFor(test, { workers: 0, environment: { TRUSTED_PROXIES: "127.0.0.1" } });
  const [api = ""] = product.apiUrls;
  const { db } = product.database;
  const passwordHash = await hash(password);
  for (let number = 0; number < neighbours; number += 1) {
    await createUser(db, { email: `neighbour-${number}@example.com`, passwordHash });
  }
  /** The others use open connections, as behind a proxy: the test does not measure how fast the system accepts new ones. */
  const others = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const crowd = new http.Agent({ keepAlive: true });
  const owner = new http.Agent({ keepAlive: true, maxSockets: 1 });
  test.onTestFinished(() => {
    for (const agent of [others, crowd, owner]) agent.destroy();
  });
  /** What the owner's browser remembers of signing in. */
  let cookie: string | undefined;
  const call = (path: string, from: string, body?: object, agent = others, remembered = cookie) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        "x-forwarded-for": from,
        ...(body ? { "content-type": "application/json" } : {}),
        ...(agent === owner && remembered ? { cookie: remembered } : {}),
      };
      const request = http.request(api + path, { method: body ? "POST" : "GET", headers, agent }, (answer) => {
        answer.resume();
        if (agent === owner) cookie = answer.headers["set-cookie"]?.map((line) => line.split(";", 1)[0]).join("; ") ?? cookie;
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      });
      request.on("error", reject);
      request.end(body && JSON.stringify(body));
    });
  /** The others sign in and list the models, again and again until the flood is over. */
  const feel = async (flood: Promise<unknown>): Promise<Felt> => {
    const felt: Felt = { signInMs: [], modelsMs: [], refused: 0 };
    let over = false;
    flood.finally(() => {
      over = true;
    });
    const signIns = async () => {
      for (let turn = 0; !over || felt.signInMs.length < samples; turn += 1) {
        const start = performance.now();
        const status = await call("/api/auth/sign-in", `10.1.${turn % 250}.1`, {
          email: `neighbour-${turn % neighbours}@example.com`,
          password,
        });
        felt.signInMs.push(performance.now() - start);
        if (status !== 200) felt.refused += 1;
        await pause(20);
      }
    };
    const looks = async () => {
      for (let turn = 0; !over || felt.modelsMs.length < samples; turn += 1) {
        const start = performance.now();
        expect(await call("/api/models", `10.2.${turn % 250}.1`)).toBe(200);
        felt.modelsMs.push(performance.now() - start);
        await pause(20);
      }
    };
    await Promise.all([signIns(), looks()]);
    return felt;
  };
  const flood = async (
    name: string,
    send: (number: number) => Promise<number>,
    size = floodSize,
  ): Promise<{ statuses: number[]; felt: Felt }> => {
    const start = performance.now();
    const cpuBefore = cpuMsOf(product.apis[0]?.pid ?? 0);
    const sent = Promise.all(Array.from({ length: size }, (_, number) => send(number)));
    const felt = await feel(sent);
    const statuses = await sent;
    console.log(
      `${name}: ${count(statuses)} in ${Math.round(performance.now() - start)} ms; others meanwhile: sign-in p95 ${Math.round(p95(felt.signInMs))} ms (at most ${Math.round(Math.max(...felt.signInMs))}) of ${felt.signInMs.length} (${felt.refused} refused), models p95 ${Math.round(p95(felt.modelsMs))} ms of ${felt.modelsMs.length}; the server used ${cpuMsOf(product.apis[0]?.pid ?? 0) - cpuBefore} ms of processor time, the others' part included`,
    );
    return { statuses, felt };
  };
  const quiet = await feel(Promise.resolve());
  console.log(`quiet: sign-in p95 ${Math.round(p95(quiet.signInMs))} ms, models p95 ${Math.round(p95(quiet.modelsMs))} ms`);
  const signUps = await flood("sign-ups", (number) =>
    call("/api/auth/sign-up", "10.9.0.1", { email: `flood-${number}@example.com`, password }, crowd),
  );
  const mails = await db.selectFrom("mails").select("id").execute();
  const signIns = await flood("sign-ins", (number) =>
    call("/api/auth/sign-in", "10.9.0.2", { email: `nobody-${number}@example.com`, password: `wrong ${number}` }, crowd),
  );
  // The owner signs in again while hundreds of networks guess at their password: from a browser that has signed in before.
  const ownerSignsIn = () => call("/api/auth/sign-in", "10.8.0.1", { email: "neighbour-0@example.com", password }, owner);
  expect(await ownerSignsIn()).toBe(200);
  const ownerTries: { status: number; ms: number }[] = [];
  const guesses = await flood(
    "guesses at one account",
    async (number) => {
      const guess = call(
        "/api/auth/sign-in",
        `10.9.${number % 250}.${1 + Math.floor(number / 250)}`,
        { email: "neighbour-0@example.com", password: `wrong ${number}` },
        crowd,
      );
      if (number !== guessCount / 2) return guess;
      const begin = performance.now();
      ownerTries.push({ status: await ownerSignsIn(), ms: performance.now() - begin });
      return guess;
    },
    guessCount,
  );
  console.log(`the owner under attack: ${ownerTries.map(({ status, ms }) => `${status} in ${Math.round(ms)} ms`).join()}`);
  expect(ownerTries.map(({ status }) => status)).toEqual([200]);
  expect(await ownerSignsIn()).toBe(200);
  expect(guesses.statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(20);
  // Each accepted request has cost one argon2 run, and each accepted sign-up also one mail.
  const accepted = ({ statuses }: { statuses: number[] }) => statuses.filter((status) => status === 202 || status === 401).length;
  console.log(`mails: ${mails.length}; argon2 runs: ${accepted(signUps)} and ${accepted(signIns)}`);
  expect(mails.length).toBeLessThanOrEqual(40);
  expect(accepted(signUps)).toBe(mails.length);
  expect(accepted(signIns)).toBeLessThanOrEqual(50);
  for (const { statuses, felt } of [signUps, signIns, guesses]) {
    expect(statuses.every((status) => status === 202 || status === 401 || status === 429)).toBe(true);
    // One of the others is the person whose password is guessed at: a browser that never signed in waits.
    expect(felt.refused).toBeLessThanOrEqual(felt === guesses.felt ? Math.ceil(felt.signInMs.length / neighbours) : 0);
    // The time others wait is measured where nothing else runs.
    if (!full) continue;
    expect(p95(felt.signInMs)).toBeLessThan(Math.max(atOnceMs, 3 * p95(quiet.signInMs)));
    expect(p95(felt.modelsMs)).toBeLessThan(Math.max(atOnceMs, 3 * p95(quiet.modelsMs)));
  }
});
