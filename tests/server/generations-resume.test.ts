import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import { findDisagreements, releaseOverdueHolds } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { LiveEvent } from "#server/http/live-events.ts";
import type { AnswerProcess, RunningModels, SeenAnswer } from "#tests/support/answers.ts";
import { ask, askAndHold, call, readAnswer, resume, send, startAnswerProcess, startModels, storedText } from "#tests/support/answers.ts";
import { full } from "#tests/support/full.ts";
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

async function statusOf(generationId: string): Promise<string> {
  const row = database.db.selectFrom("generations").select("status").where("id", "=", generationId);
  return (await row.executeTakeFirstOrThrow()).status;
}

async function wallet(person: TestPerson): Promise<{ balance: number; held: number }> {
  return database.db.selectFrom("wallets").select(["balance", "held"]).where("id", "=", person.walletId).executeTakeFirstOrThrow();
}

/** Joins the parts read before and after a cut and checks that no event is missing or repeated. */
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

test("an answer can be read by its id in upper case too", async () => {
  const person = await createPerson(here, database.db, { credits: 10, plan: "starter" });
  const answer = await ask(here, person);
  const followed = await resume(here, person, answer.generationId.toUpperCase(), 0);
  expect([followed.text, followed.receipt]).toEqual([answer.text, answer.receipt]);
});

describe("a stream cut anywhere", () => {
  test("can be resumed while the answer is written, from this process and another; no event is lost or repeated", async () => {
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
      expect(text).toBe(await storedText(database.db, generationId));
      expect(parts.at(-1)?.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
      expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    }
  });

  test("can be resumed after the end at every point, from any process, and gives exactly the rest", async () => {
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

  test("can be read from another process before the answer ends", async () => {
    const person = await createPerson(here, database.db);
    const begun = await askAndHold(models, here, person, {}, (seen) => seen.text.length > 60);
    const remote = await resume(elsewhere, person, begun.generationId, 0, (seen) => seen.text.length > 40);
    expect(await statusOf(begun.generationId)).toBe("streaming");
    expect(remote.text.startsWith(begun.text) || begun.text.startsWith(remote.text)).toBe(true);
    models.pace.milliseconds = 0;
    expect((await resume(elsewhere, person, begun.generationId, remote.events.length)).receipt?.status).toBe("completed");
  });
});

test("a stop requested at another process takes effect at the writer's next flush", async () => {
  const person = await createPerson(here, database.db);
  const seen = await askAndHold(models, here, person);
  const stopped = await (await call(elsewhere, person, "POST", `/api/generations/${seen.generationId}/stop`)).json();
  expect(stopped).toMatchObject({ status: "stopped", chargedCredits: 1 });
});

describe("an answer whose process has died", () => {
  test("is ended once: its text is kept, its hold released, the person notified, and the reader gets a receipt", async () => {
    models.pace.milliseconds = 15;
    const dying = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 400, flushMs: 20, shutdownMs: 50 });
    const person = await createPerson(dying, database.db);
    const seen = await readAnswer(await send(dying, person), (answer) => answer.events.length >= 15);
    const logged = database.db.selectFrom("generation_events").select("last_event").where("generation_id", "=", seen.generationId);
    await expect.poll(async () => (await logged.execute()).length).toBeGreaterThan(0);
    // Closes the process's connections to PostgreSQL, as kill -9 does.
    await dying.deps.pool.end();
    const told: LiveEvent[] = [];
    const unsubscribe = here.deps.live.subscribe((event) => event !== "resync" && event.userId === person.userId && told.push(event));
    const waiting = resume(elsewhere, person, seen.generationId, seen.events.length);
    await expect
      .poll(async () => (await Promise.all([endOrphanedAnswers(here.deps), endOrphanedAnswers(elsewhere.deps)])).reduce((a, b) => a + b))
      .toBeGreaterThan(0);
    const rest = await waiting;
    expect(rest.receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0, availableAfter: 100 });
    expect(rest.events.at(-1)?.id).toBeGreaterThan(seen.events.length);
    const said = (await storedText(database.db, seen.generationId)) ?? "";
    expect(said.length).toBeGreaterThan(0);
    expect(said.startsWith(seen.text) || seen.text.startsWith(said)).toBe(true);
    expect(await wallet(person)).toEqual({ balance: 100, held: 0 });
    await expect.poll(() => new Set(told.map((event) => event.table))).toEqual(new Set(["wallets", "generations"]));
    expect(await endOrphanedAnswers(here.deps)).toBe(0);
    unsubscribe();
    await dying.app.close();
    await dying.deps.clock.close();
    await dying.deps.live.close();
  });

  test("is never confused with a running one, however wrong a process's clock is", async () => {
    const person = await createPerson(here, database.db);
    const wallMs = Date.now();
    try {
      // The answering process's clock is behind by more than a lease, the sweeping one's ahead by more than a hold's deadline.
      vi.useFakeTimers({ toFake: ["Date"], now: wallMs - 20_000 });
      const seen = await askAndHold(models, here, person);
      vi.setSystemTime(wallMs + 11 * 60_000);
      expect(await endOrphanedAnswers(elsewhere.deps)).toBe(0);
      await releaseOverdueHolds(elsewhere.deps, new Date());
      expect(await statusOf(seen.generationId)).toBe("streaming");
      vi.setSystemTime(wallMs);
      models.pace.milliseconds = 0;
      expect((await resume(here, person, seen.generationId, 0)).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  test("a running answer is not ended while its lease is renewed", async () => {
    // A lease is renewed after a third of its time, so the machine may stand still for two seconds.
    const short = await startAnswerProcess(database.applicationUrl, models.url, { leaseMs: 3_000, flushMs: 20 });
    const person = await createPerson(short, database.db);
    const { generationId } = await askAndHold(models, short, person);
    const lease = () =>
      sql<{ until: Date; now: Date }>`select lease_expires_at as until, clock_timestamp() as now
      from generations where id = ${generationId}`.execute(database.db);
    const first = (await lease()).rows[0]?.until.getTime() ?? 0;
    await expect.poll(async () => (await lease()).rows[0]?.now.getTime()).toBeGreaterThan(first);
    expect(await endOrphanedAnswers(here.deps)).toBe(0);
    models.pace.milliseconds = 0;
    expect((await resume(short, person, generationId, 0)).receipt?.status).toBe("completed");
    await short.close();
  });
});

describe("a process that is asked to end", () => {
  test("lets short answers finish and ends long ones without charging for them", async () => {
    const leaving = await startAnswerProcess(database.applicationUrl, models.url, { shutdownMs: 3_000 });
    const person = await createPerson(leaving, database.db, { plan: "enterprise" });
    models.pace.milliseconds = slowestPaceMs;
    models.faults.set({ model: "gpt-6.1-sol", fault: "hang", count: 1, afterTokens: 0, delayMs: 0 });
    const short = readAnswer(await send(leaving, person));
    const long = readAnswer(await send(leaving, person, { model: "gpt-6.1-sol", quotedCredits: 5 }));
    const reading = Promise.all([short, long]);
    const closing = leaving.app.close();
    await expect.poll(() => leaving.answers.closing).toBe(true);
    models.pace.milliseconds = 0;
    await closing;
    const [finished, cut] = await reading;
    expect(finished.receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect(cut.receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0 });
    expect(await wallet(person)).toEqual({ balance: 99, held: 0 });
    await leaving.close();
  });
});

describe("a process that has waited for its last answer", () => {
  test("ends an answer that begins after that, without charging for it", async () => {
    models.pace.milliseconds = 200;
    const leaving = await startAnswerProcess(database.applicationUrl, models.url);
    const person = await createPerson(leaving, database.db);
    const locker = await database.pool.connect();
    await locker.query("begin");
    await locker.query("select 1 from wallets where billing_account_id = payer_of($1) for update", [person.userId]);
    const sending = send(leaving, person).then((response) => readAnswer(response));
    const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await database.pool.query(waits)).rowCount).toBe(1);
    const closing = leaving.app.close();
    await expect.poll(() => leaving.answers.closing).toBe(true);
    await leaving.answers.close();
    await locker.query("commit");
    locker.release();
    expect((await sending).receipt).toMatchObject({ status: "failed", failureCode: "interrupted", chargedCredits: 0 });
    await closing;
    expect(await wallet(person)).toEqual({ balance: 100, held: 0 });
    await leaving.close();
  });
});

describe("an open stream", () => {
  test("ends when the session that opened it ends; the answer continues and is kept", async () => {
    models.pace.milliseconds = 60;
    const person = await createPerson(here, database.db);
    const [asked, begun] = [new AbortController(), Promise.withResolvers<string>()];
    const reading = readAnswer(await send(here, person, {}, { signal: asked.signal }), (seen) => {
      if (seen.text === "") return false;
      begun.resolve(seen.generationId);
      models.pace.milliseconds = slowestPaceMs;
      return false;
    }).then(
      (seen) => seen.receipt,
      () => "cut",
    );
    const generationId = await begun.promise;
    const following = resume(elsewhere, person, generationId, 0).then(
      (seen) => seen.receipt,
      () => "cut",
    );
    await database.db.updateTable("auth_sessions").set({ revoked_at: new Date() }).where("user_id", "=", person.userId).execute();
    await here.deps.live.publish({ userId: person.userId, table: "session" });
    const cutAt = performance.now();
    expect(await Promise.all([reading, following])).toEqual(["cut", "cut"]);
    // Without the notification it would end with the next check, which comes every minute. On a busy machine being cut may take as long.
    if (full) expect(performance.now() - cutAt).toBeLessThan(30_000);
    expect(await statusOf(generationId)).toBe("streaming");
    models.pace.milliseconds = 0;
    await expect.poll(() => statusOf(generationId)).toBe("completed");
  });
});

test("a finished answer is saved as soon as PostgreSQL is back", async () => {
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
  // Keeps terminating all connections while the answer ends.
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
