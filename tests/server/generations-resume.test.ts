import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findDisagreements } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { LiveEvent } from "#server/http/live-events.ts";
import type { AnswerProcess, RunningModels, SeenAnswer } from "#tests/support/answers.ts";
import { ask, call, readAnswer, resume, send, startAnswerProcess, startModels } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
let models: RunningModels;
let here: AnswerProcess;
let elsewhere: AnswerProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  models = await startModels();
  here = await startAnswerProcess(database.applicationUrl, models.url);
  elsewhere = await startAnswerProcess(database.applicationUrl, models.url);
});
afterEach(async () => {
  models.faults.clear("*");
  models.pace.milliseconds = 0;
  expect(await findDisagreements(database.db)).toEqual([]);
});
afterAll(async () => {
  await here.close();
  await elsewhere.close();
  await models.close();
  await database.drop();
});

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

/** Joins what was read before and after a cut, and checks that no event is missing or doubled. */
function join(parts: readonly SeenAnswer[]): { text: string; ids: number[] } {
  const events = parts.flatMap((part) => part.events);
  return {
    text: events
      .filter((event) => event.event === "delta")
      .map((event) => String(event.data.text))
      .join(""),
    ids: events.map((event) => event.id),
  };
}

function inOrder(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

test("an answer is followed by its id however that is written", async () => {
  const person = await createPerson(here, database.db, { credits: 10, plan: "starter" });
  const answer = await ask(here, person);
  const followed = await resume(here, person, answer.generationId.toUpperCase(), 0);
  expect([followed.text, followed.receipt]).toEqual([answer.text, answer.receipt]);
});

describe("a stream cut anywhere", () => {
  test("goes on with nothing lost or doubled, here and from another process, while the answer is written", async () => {
    const seed = Math.floor(Math.random() * 1_000);
    for (const [round, process] of [here, elsewhere, here, elsewhere].entries()) {
      models.pace.milliseconds = 3;
      const person = await createPerson(here, database.db);
      const cutAfter = 1 + ((seed * 31 + round * 17) % 60);
      const parts = [await readAnswer(await send(here, person), (seen) => seen.events.length >= cutAfter)];
      const generationId = parts[0]?.generationId ?? "";
      while (parts.at(-1)?.receipt === undefined) {
        const lastId = join(parts).ids.at(-1) ?? 0;
        parts.push(await resume(process, person, generationId, lastId, (seen) => seen.events.length >= 1 + ((cutAfter * 7) % 40)));
      }
      const { text, ids } = join(parts);
      expect(ids, `seed ${seed} round ${round}`).toEqual(inOrder(ids.length));
      const stored = await database.db
        .selectFrom("messages")
        .select("content")
        .where("generation_id", "=", generationId)
        .where("role", "=", "assistant")
        .executeTakeFirstOrThrow();
      expect(text).toBe(stored.content);
      expect(parts.at(-1)?.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    }
  });

  test("after the end, every cut point gives exactly the rest, from any process", async () => {
    models.pace.milliseconds = 1;
    const person = await createPerson(here, database.db);
    const whole = await ask(here, person);
    for (const process of [here, elsewhere]) {
      for (const after of [0, 1, 2, Math.floor(whole.events.length / 2), whole.events.length - 1]) {
        expect((await resume(process, person, whole.generationId, after)).events).toEqual(whole.events.slice(after));
      }
      expect((await resume(process, person, whole.generationId, whole.events.length)).events).toEqual([]);
    }
  });

  test("a reader elsewhere sees the answer grow before it ends", async () => {
    models.pace.milliseconds = 8;
    const person = await createPerson(here, database.db);
    const begun = await readAnswer(await send(here, person), (seen) => seen.text !== "");
    const remote = await resume(elsewhere, person, begun.generationId, 0, (seen) => seen.text.length > 40);
    expect(remote.receipt).toBeUndefined();
    expect(remote.text.startsWith(begun.text) || begun.text.startsWith(remote.text)).toBe(true);
    expect((await resume(elsewhere, person, begun.generationId, remote.events.length)).receipt?.status).toBe("completed");
  });
});

test("a stop from another process reaches the writer at its next flush", async () => {
  models.pace.milliseconds = 20;
  const person = await createPerson(here, database.db);
  const seen = await readAnswer(await send(here, person), (answer) => answer.text !== "");
  const stopped = await (await call(elsewhere, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
  expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 1 });
});

describe("an answer whose process is gone", () => {
  test("is ended once: text kept, hold released, the person told, the reader given a receipt", async () => {
    models.pace.milliseconds = 15;
    const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
    const person = await createPerson(dying, database.db);
    const seen = await readAnswer(await send(dying, person), (answer) => answer.events.length >= 15);
    // The process falls silent, as after kill -9: its connections to PostgreSQL are gone.
    await dying.deps.pool.end();
    const told: LiveEvent[] = [];
    const unsubscribe = here.deps.live.subscribe((event) => event !== "resync" && event.userId === person.userId && told.push(event));
    const waiting = resume(elsewhere, person, seen.generationId, seen.events.length);
    await expect
      .poll(async () => (await Promise.all([endOrphanedAnswers(here.deps), endOrphanedAnswers(elsewhere.deps)])).reduce((a, b) => a + b), {
        timeout: 5_000,
      })
      .toBeGreaterThan(0);
    const rest = await waiting;
    expect(rest.receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0, availableAfter: 100 });
    expect(rest.events.at(-1)?.id).toBeGreaterThan(seen.events.length);
    const row = await database.db
      .selectFrom("messages")
      .select("content")
      .where("generation_id", "=", seen.generationId)
      .where("role", "=", "assistant")
      .executeTakeFirstOrThrow();
    expect(row.content.length).toBeGreaterThan(0);
    expect(row.content.startsWith(seen.text) || seen.text.startsWith(row.content)).toBe(true);
    expect(await wallet(person)).toEqual({ balance: 100, held: 0 });
    await expect.poll(() => new Set(told.map((event) => event.table))).toEqual(new Set(["wallets", "generations"]));
    expect(await endOrphanedAnswers(here.deps)).toBe(0);
    unsubscribe();
    await dying.app.close();
    await dying.deps.clock.close();
    await dying.deps.live.close();
  });

  test("a lease that is renewed is nobody's to end", async () => {
    models.pace.milliseconds = 8;
    const short = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 300, flushMs: 20 });
    const person = await createPerson(short, database.db);
    const reading = ask(short, person);
    let ended = false;
    void reading.finally(() => {
      ended = true;
    });
    while (!ended) {
      expect(await endOrphanedAnswers(here.deps)).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await reading).receipt?.status).toBe("completed");
    await short.close();
  });
});

describe("a process that is asked to end", () => {
  test("lets short answers finish and ends long ones fairly", async () => {
    const leaving = await startAnswerProcess(database.applicationUrl, models.url, { shutdownMs: 1_500 });
    const person = await createPerson(leaving, database.db, { plan: "enterprise" });
    models.pace.milliseconds = 1;
    const short = readAnswer(await send(leaving, person));
    await expect.poll(() => models.calls.list()[0]?.outcome).toBe("running");
    models.pace.milliseconds = 100;
    const long = readAnswer(await send(leaving, person));
    const reading = Promise.all([short, long]);
    const startedAt = performance.now();
    await leaving.app.close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    const [finished, cut] = await reading;
    expect(finished.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect(cut.receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0 });
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    await leaving.close();
  });
});

test("a finished answer is written down as soon as PostgreSQL is back", async () => {
  const person = await createPerson(here, database.db);
  models.pace.milliseconds = 5;
  const reading = send(here, person).then((response) => readAnswer(response));
  await expect
    .poll(
      async () =>
        (
          await database.db
            .selectFrom("generation_events")
            .select("first_event")
            .innerJoin("generations", "generations.id", "generation_events.generation_id")
            .where("generations.user_id", "=", person.userId)
            .execute()
        ).length,
    )
    .toBeGreaterThan(0);
  // Every connection is cut, again and again, while the answer comes to its end.
  const until = performance.now() + 1_500;
  while (performance.now() < until) {
    await database.db
      .executeQuery(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'tessera test' and pid <> pg_backend_pid()`.compile(
          database.db,
        ),
      )
      .catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect((await reading).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
  expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
});
