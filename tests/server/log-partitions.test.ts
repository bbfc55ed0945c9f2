/** The answers' log is partitioned by time: what it keeps, when a partition is dropped, and what may fail meanwhile. */
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { answerLogGoneMs, answerLogReadableMs } from "#domain/periods.ts";
import { createPool } from "#server/db/database.ts";
import type { Database } from "#server/db/types.ts";
import { lockNotAvailable } from "#server/failures.ts";
import { addLogPartitions, dropLogPartitions } from "#server/features/generations/log-partitions.ts";
import { selectLog } from "#server/features/generations/queries.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, call, resume, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import { until } from "#tests/support/until.ts";

import { startSchedules } from "../../worker/schedules.ts";

const partitionMs = 12 * hourMs;
const { signal } = new AbortController();
const defaultPartition = "generation_events_default";

let world: AnswerWorld;
let person: TestPerson;
let owner: pg.Client;
beforeEach(async () => {
  world = await startAnswerWorld();
  person = await createPerson(world.api, world.database.db);
  owner = new pg.Client({ connectionString: world.database.ownerUrl });
  await owner.connect();
});
afterEach(async () => {
  await owner.end();
  await world.close();
});

const add = () => addLogPartitions(world.database, signal);
const drop = () => dropLogPartitions(world.database, signal);

async function sweep(): Promise<void> {
  await add();
  await drop();
  await sweepRetention(world.api.deps, signal);
}

/** The beginning of the twelve hours that `atMs` is in. */
const beginning = (atMs: number) => Math.floor(atMs / partitionMs) * partitionMs;

/** Makes the partition of a time that is over, as if the worker had made it ahead. */
async function makePartition(atMs: number): Promise<string> {
  const { rows } = await owner.query<{ name: string }>("select answer_log_make_partition($1) as name", [new Date(beginning(atMs))]);
  return rows[0]?.name ?? "";
}

interface Partition {
  name: string;
  fromMs: number;
  toMs: number;
}

/** In order, without the default one. */
async function partitions(): Promise<Partition[]> {
  const { rows } = await owner.query<Partition>(
    `select name, extract(epoch from uuid_extract_timestamp(bounds[1]::uuid))::float8 * 1000 as "fromMs",
         extract(epoch from uuid_extract_timestamp(bounds[2]::uuid))::float8 * 1000 as "toMs"
       from (select relname as name, regexp_match(pg_get_expr(relpartbound, oid), 'FROM \\(''(.*)''\\) TO \\(''(.*)''\\)') as bounds
         from pg_class where relispartition and relkind = 'r') found where bounds is not null order by 2`,
  );
  return rows;
}

const names = async () => (await partitions()).map(({ name }) => name);

/** An answer begun at `beganMs`, a copy of a real one; without `endedMs` it runs still and its process is gone. */
async function plant(beganMs: number, endedMs?: number): Promise<string> {
  const id = uuidv7({ msecs: beganMs });
  const { generationId } = await firstAnswer();
  const running = { status: "streaming", charged_credits: null, lease_expires_at: new Date(beganMs), capture_id: null, ended_at: null };
  const ended = { capture_id: null, ended_at: endedMs === undefined ? null : new Date(endedMs) };
  await owner.query("insert into generations select (jsonb_populate_record(g, $2)).* from generations g where id = $1", [
    generationId,
    JSON.stringify({ id, idempotency_key: id, ...(endedMs === undefined ? running : ended) }),
  ]);
  await world.database.db
    .insertInto("generation_events")
    .values({ generation_id: id, first_event: 1, last_event: 1, frames: id })
    .execute();
  return id;
}

let first: { world: AnswerWorld; answer: ReturnType<typeof ask> } | undefined;
async function firstAnswer() {
  if (first?.world !== world) first = { world, answer: ask(world.api, person) };
  return first.answer;
}

/** The partition that has the answer's log; undefined: it has none. */
async function placeOf(id: string): Promise<string | undefined> {
  const { rows } = await owner.query<{ name: string }>(
    "select tableoid::regclass as name from generation_events where generation_id = $1",
    [id],
  );
  return rows[0]?.name;
}

test("of answers of every age, those that ended in the last 24 hours have their log, and none that ended 49 hours ago", async () => {
  const now = Date.now();
  for (let age = 5 * dayMs; age > 0; age -= partitionMs) await makePartition(now - age);
  const answers: { ageMs: number; id: string; toMs: number }[] = [];
  for (let ageMs = 10 * minuteMs; ageMs < 100 * hourMs; ageMs += hourMs) {
    const beganMs = now - ageMs;
    answers.push({ ageMs: ageMs - minuteMs, id: await plant(beganMs, beganMs + minuteMs), toMs: beginning(beganMs) + partitionMs });
  }
  for (const { id } of answers) expect(await placeOf(id)).toMatch(/^generation_events_\d/);

  await sweep();
  for (const { ageMs, id, toMs } of answers) {
    const kept = (await placeOf(id)) !== undefined;
    if (ageMs < answerLogReadableMs) expect(kept, `${ageMs / hourMs} hours`).toBe(true);
    if (ageMs > answerLogGoneMs) expect(kept, `${ageMs / hourMs} hours`).toBe(false);
    // The worker has this long until the 49 hours are over.
    expect(kept).toBe(toMs > now - keptMs.answerLogs);
  }
  expect(partitionMs + keptMs.answerLogs + 10 * hourMs).toBeLessThanOrEqual(answerLogGoneMs);
  expect(await drop()).toEqual([]);
});

const bound = (atMs: number) => uuidv7({ msecs: atMs, random: new Uint8Array(16), seq: 0 });
const createPartition = (name: string, fromMs: number, toMs: number, table = "generation_events") =>
  owner.query(`create table ${name} partition of ${table} for values from ('${bound(fromMs)}') to ('${bound(toMs)}')`);

async function expectDroppedInTime(): Promise<void> {
  const now = Date.now();
  const middle = now - keptMs.answerLogs - minuteMs;
  await createPartition("generation_events_past", middle - hourMs, middle);
  await createPartition("generation_events_young", middle, middle + 2 * minuteMs);
  const [past, young] = [await plant(middle - minuteMs, middle), await plant(middle + minuteMs, middle + 2 * minuteMs)];
  const latest = await ask(world.api, person);
  await world.database.db
    .updateTable("business_clock")
    .set({ offset_ms: 40 * dayMs })
    .execute();

  expect(await drop()).toEqual(["generation_events_past"]);
  expect([await placeOf(past), await placeOf(young)]).toEqual([undefined, "generation_events_young"]);
  // What was asked now is of now, although its conversation's time is over by business time.
  expect(await placeOf(latest.generationId)).toBe((await partitions()).find(({ toMs }) => toMs > now)?.name);
  expect(await add()).toEqual([]);
}

test("a partition is dropped 25 hours after its end and not before, by PostgreSQL's clock, wherever business time is", expectDroppedInTime);

async function expectOthersKept(): Promise<void> {
  const old = Date.now() - 9 * dayMs;
  await owner.query("create table others (generation_id uuid) partition by range (generation_id)");
  await createPartition("others_past", old - dayMs, old, "others");
  const past = await makePartition(old + dayMs);
  expect(await drop()).toEqual([past]);
  const { rows } = await owner.query("select from others_past");
  expect(rows).toEqual([]);
}

test("the partitions of other tables stay, however old", expectOthersKept);

test.each([
  ["those of now", expectDroppedInTime, "interval '25 hours'", "interval '-1 hour'"],
  ["a day too early", expectDroppedInTime, "interval '25 hours'", "interval '1 hour'"],
  ["those of other tables", expectOthersKept, "i.inhparent = 'generation_events'::regclass and", ""],
  ["answers that run", expectLateKept, "g.ended_at is null or", ""],
  ["answers that ended late", expectLateKept, "g.ended_at > business_now() - interval '24 hours'", "false"],
])("a planted bug is noticed: with the partition goes what must stay, %s", async (_name, expectKept, from, to) => {
  await plantBug(world.database, "answer_log_drop_partition", (source) => source.replace(from, to));
  await expect(expectKept()).rejects.toThrow();
});

test("partitions reach more than a week ahead without a gap, and two workers at once add them", async () => {
  const ahead = async () => (await partitions()).at(-1)?.toMs ?? 0;
  expect(await ahead()).toBeGreaterThan(Date.now() + 7 * dayMs);
  const made = await partitions();
  for (const { name } of made.slice(1)) await owner.query(`drop table ${name}`);
  // If one of them waits too long for the other, it leaves the rest to the next call.
  await Promise.allSettled([add(), add()]);
  await add();
  expect(await partitions()).toEqual(made);
  expect(made.slice(1).every(({ fromMs }, index) => fromMs === made[index]?.toMs)).toBe(true);
});

test("the worker's schedule makes the missing partitions and drops those past their limit, also if somebody reads at first", async () => {
  const made = await names();
  await makePartition(Date.now() - 3 * dayMs);
  await owner.query(`drop table ${made.at(-1)}`);
  const reader = new pg.Client({ connectionString: world.database.ownerUrl });
  await reader.connect();
  await reader.query("begin");
  await reader.query("select from only generation_events");
  const waits = async () => {
    const { rows } = await owner.query("select from pg_locks where relation = 'generation_events'::regclass and not granted");
    return rows.length > 0;
  };
  const schedules = startSchedules(world.api.deps);
  try {
    await until(waits, "the worker to wait for the reader");
    await until(async () => !(await waits()), "the worker to give up");
    await reader.end();
    await until(async () => (await names()).join() === made.join(), "the worker to make one partition and drop another");
  } finally {
    await schedules.stop();
  }
});

test("after so long without a worker that no partition is left, answers go on, and the worker that comes back makes new ones beside them", async () => {
  for (const name of await names()) await owner.query(`drop table ${name}`);
  const answer = await ask(world.api, person);
  expect([answer.receipt?.status, await placeOf(answer.generationId)]).toEqual(["completed", defaultPartition]);
  const elsewhere = await startAnswerProcess(world.database.applicationUrl, world.models.url);
  expect((await resume(elsewhere, person, answer.generationId, 0)).text).toBe(answer.text);
  await elsewhere.close();

  // The default partition already has rows of the current twelve hours, so new partitions begin with the next.
  await sweep();
  expect((await partitions())[0]?.fromMs).toBe(beginning(Date.now()) + partitionMs);
  const next = await ask(world.api, person);
  expect([await placeOf(answer.generationId), await placeOf(next.generationId)]).toEqual([defaultPartition, defaultPartition]);

  // Row by row the default partition keeps to the same period.
  const end = Date.now() - keptMs.answerLogs;
  const [past, young] = [await plant(end - dayMs, end - minuteMs), await plant(end - dayMs, end + minuteMs)];
  await sweep();
  expect([await placeOf(past), await placeOf(young)]).toEqual([undefined, defaultPartition]);
});

async function expectLateKept(): Promise<void> {
  const began = Date.now() - 7 * dayMs;
  const name = await makePartition(began);
  const readableFor = Date.now() - answerLogReadableMs;
  const ended = await plant(began, began + minuteMs);
  const late = await plant(began, readableFor + minuteMs);
  const running = await plant(began);
  expect(await drop()).toEqual([name]);
  expect([await placeOf(ended), await placeOf(late), await placeOf(running)]).toEqual([undefined, defaultPartition, defaultPartition]);
  expect((await selectLog(world.database.db, new Map([[running, 0]]))).map(({ frames }) => frames)).toEqual([running]);
}

test("an answer that runs still or ended late keeps its log when its partition is dropped", expectLateKept);

test("a partition that somebody reads is dropped another time; whoever writes or reads meanwhile does not wait for the reader", async () => {
  const began = Date.now() - 3 * dayMs;
  const name = await makePartition(began);
  const id = await plant(began, began + minuteMs);
  const reader = new pg.Client({ connectionString: world.database.ownerUrl });
  await reader.connect();
  for (const held of ["generation_events", name]) {
    await reader.query("begin");
    await reader.query(`select from only ${held}`);
    await expect(drop()).rejects.toMatchObject({ code: lockNotAvailable });
    // Answers begin and end while the drop is tried over and over, and the reader never lets go.
    let tries = 0;
    let done = false;
    const trying = (async () => {
      while (!done) {
        await drop().catch(() => {});
        tries += 1;
      }
    })();
    const answer = await ask(world.api, person);
    await until(() => tries > 0, "a try beside the answers");
    done = true;
    await trying;
    expect([answer.receipt?.status, await placeOf(id)]).toEqual(["completed", name]);
    await reader.query("commit");
  }
  await reader.end();
  const { rows } = await owner.query<{ config: string[] }>(
    "select proconfig as config from pg_proc where proname = 'answer_log_drop_partition'",
  );
  expect(rows[0]?.config).toContain("lock_timeout=100ms");
  expect(await drop()).toEqual([name]);
  expect(await placeOf(id)).toBeUndefined();
});

test("a worker killed between a drop or an addition and its commit leaves everything as it was, and the next one does it again", async () => {
  const began = Date.now() - 3 * dayMs;
  const old = await makePartition(began);
  const late = await plant(began, Date.now() - hourMs);
  await owner.query(`drop table ${(await names()).at(-1)}`);
  const before = await names();
  for (const [work, again] of [
    ["answer_log_drop_partition", drop],
    ["answer_log_add_partition", add],
  ] as const) {
    const killed = new pg.Client({ connectionString: world.database.applicationUrl });
    killed.on("error", () => {});
    await killed.connect();
    await killed.query("begin");
    const { rows } = await killed.query<{ pid: number; name: string }>(`select pg_backend_pid() as pid, ${work}() as name`);
    expect(rows[0]?.name).toMatch(/^generation_events_/);
    (killed as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await until(
      async () => (await owner.query("select from pg_stat_activity where pid = $1", [rows[0]?.pid])).rowCount === 0,
      "PostgreSQL to notice",
    );
    expect([await names(), await placeOf(late)]).toEqual([before, old]);
    if (work === "answer_log_add_partition") expect(await again()).toEqual([rows[0]?.name]);
  }
  expect(await drop()).toEqual([old]);
  expect(await placeOf(late)).toBe(defaultPartition);
});

test("a deleted conversation's log is gone from its partition at once", async () => {
  const answer = await ask(world.api, person);
  const name = await placeOf(answer.generationId);
  expect(name).toMatch(/^generation_events_\d/);
  await call(world.api, person, "DELETE", `/api/conversations/${answer.conversationId}`);
  expect((await owner.query(`select from ${name} where generation_id = $1`, [answer.generationId])).rowCount).toBe(0);
});

interface Plan {
  "Relation Name"?: string;
  "Actual Loops": number;
  Plans?: Plan[];
}

function relationsRead(plan: Plan): string[] {
  const own = plan["Relation Name"]?.startsWith("generation_events") && plan["Actual Loops"] > 0 ? [plan["Relation Name"]] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(relationsRead)];
}

test("reading the log of one answer touches its partition alone, whatever the statistics say", async () => {
  const answer = await ask(world.api, person);
  const pool = createPool(world.database.applicationUrl, 1, "tessera test");
  const statements: { sql: string; parameters: readonly unknown[] }[] = [];
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }), log: ({ query }) => void statements.push(query) });
  try {
    expect(await selectLog(db, new Map([[answer.generationId, 0]]))).not.toEqual([]);
    const [{ sql, parameters } = { sql: "", parameters: [] }] = statements;
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await pool.query(`set plan_cache_mode = ${mode}`);
      const { rows } = await pool.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(`explain (analyze, format json) ${sql}`, [...parameters]);
      const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
      expect(explained && relationsRead(explained.Plan)).toEqual([await placeOf(answer.generationId)]);
      await owner.query("analyze generation_events");
    }
  } finally {
    await db.destroy();
  }
});

test("the application's role makes, drops and empties no partition itself, and reads none but through the log", async () => {
  const [name] = await names();
  for (const statement of [
    `create table generation_events_own partition of generation_events for values from ('00000000-0000-7000-8000-000000000000') to ('00000000-0000-7000-8000-000000000001')`,
    `drop table ${name}`,
    `truncate ${name}`,
    "truncate generation_events",
    `delete from ${name}`,
    "delete from generation_events",
    `alter table generation_events detach partition ${name}`,
    "select answer_log_make_partition(now())",
    `select from ${name}`,
    `insert into ${defaultPartition} values (gen_random_uuid(), 1, 1, '')`,
  ])
    await expect(world.database.pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
});
