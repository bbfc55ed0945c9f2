/** Deleted conversations can't be read anywhere from that moment on; the receipts' figures stay. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Answer } from "#contract/generations/generations.ts";
import { answerLogReadableMs } from "#domain/periods.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import type { AnswerProcess, AnswerWorld } from "#tests/support/answers.ts";
import { ask, askAndHold, call, readAnswer, send, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { until } from "#tests/support/until.ts";

let world: AnswerWorld;
let other: AnswerProcess;
beforeAll(async () => {
  world = await startAnswerWorld();
  other = await startAnswerProcess(world.database.applicationUrl, world.models.url);
});
afterAll(async () => {
  await other.close();
  await world.close();
});
afterEach(() => {
  world.models.pace.milliseconds = 0;
});

const remove = (person: TestPerson, conversationId: string, api = world.api) =>
  call(api, person, "DELETE", `/api/conversations/${conversationId}`);

async function receiptOf(person: TestPerson, generationId: string): Promise<Answer> {
  return (await (await call(world.api, person, "GET", `/api/generations/${generationId}`)).json()) as Answer;
}

/** The tables of the database that contain the words. */
async function placesOf(words: string): Promise<string[]> {
  const { pool } = world.database;
  const { rows } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migrations_lock'",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`select from ${name} as t where t::text like '%' || $1 || '%'`, [words]);
    if (rowCount !== 0) found.push(name);
  }
  return found.sort();
}

async function balanceOf({ walletId }: TestPerson): Promise<[number, number]> {
  const wallet = await world.database.db.selectFrom("wallets").selectAll().where("id", "=", walletId).executeTakeFirstOrThrow();
  return [wallet.balance, wallet.held];
}

async function expectUnreadable(person: TestPerson, answer: { generationId: string; conversationId: string }): Promise<void> {
  for (const api of [world.api, other]) {
    const events = await call(api, person, "GET", `/api/generations/${answer.generationId}/events`);
    expect([events.status, await events.json()]).toEqual([410, expect.objectContaining({ code: "answer_gone" })]);
    expect((await call(api, person, "GET", `/api/conversations/${answer.conversationId}`)).status).toBe(404);
  }
  const log = world.database.db.selectFrom("generation_events").select("frames").where("generation_id", "=", answer.generationId);
  expect(await log.execute()).toEqual([]);
}

test("a deleted conversation can't be read by its answers' events, by its idempotency key or in any table", async () => {
  const person = await createPerson(world.api, world.database.db);
  const words = `tell ${randomUUID()} again`;
  const key = randomUUID();
  const answer = await ask(world.api, person, { prompt: words }, { key });
  // The model repeats the words, so the answer's log holds them too unless it was cut within them.
  expect(await placesOf(words)).toEqual(expect.arrayContaining(["conversations", "generation_parts", "messages"]));
  const before = await balanceOf(person);

  expect((await remove(person, answer.conversationId)).status).toBe(204);
  await expectUnreadable(person, answer);
  expect(await placesOf(words)).toEqual([]);
  for (const prompt of [words, "something else"]) {
    const again = await send(other, person, { prompt }, { key });
    expect([again.status, await again.json()]).toEqual([410, expect.objectContaining({ code: "answer_gone" })]);
  }
  expect(await balanceOf(person)).toEqual(before);
  expect(await receiptOf(person, answer.generationId)).toMatchObject({ status: "completed", chargedCredits: 1, parts: [] });
  expect((await remove(person, answer.conversationId)).status).toBe(404);
});

test("deleting stops and settles a running answer, in this process or another, and removes its text", async () => {
  for (const deleter of [world.api, other]) {
    const person = await createPerson(world.api, world.database.db);
    const begun = await askAndHold(world.models, world.api, person);
    expect((await remove(person, begun.conversationId, deleter)).status).toBe(204);
    expect(await receiptOf(person, begun.generationId)).toMatchObject({ status: "stopped", chargedCredits: 1, parts: [] });
    await expectUnreadable(person, begun);
    expect(await balanceOf(person)).toEqual([99, 0]);
  }
});

test("an answer whose process has died costs nothing, and its text is deleted with the conversation", async () => {
  const person = await createPerson(world.api, world.database.db);
  const { db } = world.database;
  const begun = await askAndHold(world.models, world.api, person);
  const row = () => db.selectFrom("generations").selectAll().where("id", "=", begun.generationId).executeTakeFirstOrThrow();
  // Pretend that a process died while writing it: the process that writes it no longer owns the lease.
  await until(
    async () =>
      (await db.selectFrom("generation_events").select("frames").where("generation_id", "=", begun.generationId).execute()).length > 0,
    "the log to begin",
  );
  await db.updateTable("generations").set({ lease_owner: randomUUID() }).where("id", "=", begun.generationId).execute();
  expect((await remove(person, begun.conversationId, other)).status).toBe(204);
  await expectUnreadable(person, begun);
  await db
    .updateTable("generations")
    .set({ lease_expires_at: new Date(0) })
    .where("id", "=", begun.generationId)
    .execute();
  await endOrphanedAnswers(other.deps);
  expect(await row()).toMatchObject({ status: "failed", failure_code: "interrupted", charged_credits: 0, erased_at: expect.any(Date) });
  await expectUnreadable(person, begun);
  expect(await db.selectFrom("generation_parts").select("place").where("generation_id", "=", begun.generationId).execute()).toEqual([]);
});

test("an answer's events can be read again for a day; then its text comes as one event, and resuming in the middle is refused", async () => {
  const person = await createPerson(world.api, world.database.db);
  const key = randomUUID();
  const told = await ask(world.api, person, {}, { key });
  const { db, pool } = world.database;
  const read = async (after: number) => readAnswer(await events(after));
  const events = (after: number) =>
    call(world.api, person, "GET", `/api/generations/${told.generationId}/events`, { "last-event-id": String(after) });
  expect((await read(0)).events).toEqual(told.events);
  const ended = new Date(Date.now() - answerLogReadableMs);
  await db.updateTable("generations").set({ ended_at: ended }).where("id", "=", told.generationId).execute();
  for (const old of [await read(0), await readAnswer(await send(other, person, {}, { key }))]) {
    expect(old.events.map(({ id, event }) => [id, event])).toEqual([
      [1, "start"],
      [2, "delta"],
      [3, "receipt"],
    ]);
    expect([old.text, old.events[0], old.receipt?.chargedCredits]).toEqual([told.text, told.events[0], 1]);
  }
  const middle = await events(2);
  expect([middle.status, await middle.json()]).toEqual([410, expect.objectContaining({ code: "answer_gone" })]);
  expect((await pool.query("select from ledger_transactions where key = 'capture:' || $1", [told.generationId])).rowCount).toBe(1);
});

test("a device can ask which of its stored conversations are deleted; another person's always count as deleted", async () => {
  const [person, stranger] = [await createPerson(world.api, world.database.db), await createPerson(world.api, world.database.db)];
  const kept = (await ask(world.api, person)).conversationId;
  const deleted = (await ask(world.api, person)).conversationId;
  await remove(person, deleted);
  const findGone = async (who: TestPerson) => {
    const answer = await fetch(`${world.api.url}/api/conversations/gone`, {
      method: "POST",
      headers: { authorization: `Bearer ${who.token}`, "content-type": "application/json" },
      body: JSON.stringify({ ids: [kept, deleted] }),
    });
    return await answer.json();
  };
  expect(await findGone(person)).toEqual({ gone: [deleted] });
  expect(await findGone(stranger)).toEqual({ gone: [kept, deleted] });
});

test("a deletion is pushed to the person's other devices", async () => {
  const person = await createPerson(world.api, world.database.db);
  const told: string[] = [];
  const stop = other.deps.live.subscribe((event) => {
    if (event !== "resync" && event.userId === person.userId) told.push(event.table);
  });
  const { conversationId } = await ask(world.api, person);
  // An answer's end is told last, as a change of the conversation and then of the wallet.
  await expect.poll(() => told.slice(-2)).toEqual(["generations", "wallets"]);
  const before = told.length;
  await remove(person, conversationId);
  await expect.poll(() => told.slice(before)).toContain("generations");
  stop();
});
