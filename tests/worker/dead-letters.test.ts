/** `npm run dead-letters` lists the jobs that failed for good and puts them back into the queue. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { jobs } from "#server/queue/jobs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { compileCache } from "#tests/support/sources.ts";

const run = promisify(execFile);
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function command(parameters: readonly string[], variables: NodeJS.ProcessEnv = { DATABASE_URL: database.applicationUrl }) {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...variables };
  return run(process.execPath, ["server/commands/dead-letters.ts", ...parameters], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout.trim() }),
    (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr.trim() }),
  );
}

async function fail(job: string, failedAt: string): Promise<string> {
  const id = randomUUID();
  const error = `Error: refused for ${job}\n    at somewhere (file.ts:1:1)`;
  const letter = { id, job, payload: JSON.stringify({ of: id }), error, attempts: 3, failed_at: new Date(failedAt), replayed_at: null };
  await database.db.insertInto("dead_letters").values(letter).execute();
  return id;
}

const waiting = () => database.db.selectFrom("outbox").select(["id", "job", "payload"]).orderBy("id").execute();

it("lists the dead letters, oldest first and one per line, and puts back one of them, or all of one job, once", async () => {
  expect(await command([])).toEqual({ code: 0, output: "no job has failed for good" });
  const later = await fail("send-mail", "2026-03-02T00:00:00Z");
  const first = await fail("process-stripe-event", "2026-03-01T00:00:00Z");
  const another = await fail("send-mail", "2026-03-03T00:00:00Z");
  const line = (id: string, job: string, day: string) => `${id}  ${job}  since ${day}T00:00:00.000Z  Error: refused for ${job}`;
  expect((await command([])).output.split("\n")).toEqual([
    line(first, "process-stripe-event", "2026-03-01"),
    line(later, "send-mail", "2026-03-02"),
    line(another, "send-mail", "2026-03-03"),
  ]);

  expect(await command(["--replay", first])).toEqual({ code: 0, output: `${first} was put back into the queue` });
  expect(await waiting()).toEqual([{ id: first, job: "process-stripe-event", payload: { of: first } }]);
  expect(await command(["--replay", first])).toEqual({ code: 1, output: expect.stringContaining(`there is no dead letter ${first}`) });

  expect(await command(["--replay-all", "send-mail"])).toEqual({ code: 0, output: "2 send-mail jobs were put back into the queue" });
  expect((await waiting()).map(({ id }) => id).sort()).toEqual([first, later, another].sort());
  expect(await command(["--replay-all", "send-mail"])).toEqual({ code: 0, output: "0 send-mail jobs were put back into the queue" });
  expect(await command([])).toEqual({ code: 0, output: "no job has failed for good" });
});

it("lists the events of Stripe's that were set aside, by type, and puts those of a type back, once", async () => {
  const { db } = database;
  await db.deleteFrom("outbox").execute();
  const event = { livemode: false, payload: "{}", status: "set_aside", processed_at: new Date() } as const;
  const types = ["charge.refunded", "customer.created", "charge.refunded"];
  await db
    .insertInto("stripe_events")
    .values(types.map((type, index) => ({ ...event, id: `evt_${index}`, object_id: `ob_${index}`, type })))
    .execute();
  expect((await command([])).output.split("\n").slice(1)).toEqual([
    "charge.refunded  2 set aside: this release does not act on them",
    "customer.created  1 set aside: this release does not act on them",
  ]);
  const replay = () => command(["--replay-events", "charge.refunded"]);
  expect(await replay()).toEqual({ code: 0, output: "2 charge.refunded events were put back into the queue" });
  expect((await waiting()).map(({ job, payload }) => ({ job, payload }))).toEqual([
    { job: "process-stripe-event", payload: { eventId: "evt_0" } },
    { job: "process-stripe-event", payload: { eventId: "evt_2" } },
  ]);
  expect(await replay()).toEqual({ code: 0, output: "0 charge.refunded events were put back into the queue" });
  await database.asOwner("delete from stripe_events");
});

it("reports a wrong call in one line", async () => {
  expect(await command(["--replay", "17"])).toEqual({
    code: 1,
    output: '"17" is not the id of a dead letter: npm run dead-letters lists the ids',
  });
  expect(await command(["--replay", randomUUID()])).toEqual({
    code: 1,
    output: expect.stringMatching(/^there is no dead letter .+, or it was put back already$/),
  });
  expect(await command(["--replay-all", "mail"])).toEqual({
    code: 1,
    output: `there is no job "mail"; the jobs are ${Object.keys(jobs).join(", ")}`,
  });
  expect(await command(["--replay", randomUUID(), "--replay-all", "send-mail"])).toEqual({
    code: 1,
    output: "give one of --replay, --replay-all and --replay-events",
  });
  expect(await command(["--reply"])).toEqual({ code: 1, output: expect.stringContaining("--reply") });
  expect(await command([], { DATA_DIR: "/nowhere" })).toEqual({
    code: 1,
    output: "no product is running on DATA_DIR=/nowhere: start it, or set DATABASE_URL",
  });
});
