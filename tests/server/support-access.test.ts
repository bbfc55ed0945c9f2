/** The team reads what a person wrote only while the person allows it, and each reading is on the audit log, where the person sees it. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { sql } from "kysely";
import { v7 as uuidv7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Activity } from "#contract/account/activity.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { ReadAnswer, SupportAccess } from "#contract/support-access.ts";
import { addMilliseconds, dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import { stepUpMs } from "#domain/periods.ts";
import { accessRequestMs, readAtOnce } from "#domain/support-access.ts";
import type { Role } from "#domain/team.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { dropSupportAccess } from "#server/features/support-access/service.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let support: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
  support = await personAs("support");
});
afterAll(() => product.close());
beforeEach(async () => {
  person = await personAs("user");
});

const wallNow = () => new Date();
afterEach(() => {
  product.deps.clock.now = wallNow;
});
const travel = (milliseconds: number) => {
  product.deps.clock.now = () => addMilliseconds(wallNow(), milliseconds);
};

async function personAs(role: Role): Promise<TestPerson> {
  const one = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role }).where("id", "=", one.userId).execute();
  return one;
}
type Method = "GET" | "PUT" | "POST" | "DELETE";
const call = (method: Method, url: string, by: TestPerson, payload?: object) =>
  product.app.inject({ method, url: `/api/${url}`, headers: { authorization: `Bearer ${by.token}` }, ...(payload && { payload }) });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.body && answer.json().code];
const why = { reason: "They wrote that it was cut off" };
const own = async (by = person) => (await call("GET", "account/support-access", by)).json<SupportAccess>();
const give = (days = 1, by = person) => call("PUT", "account/support-access", by, { days });
const end = (by = person) => call("DELETE", "account/support-access", by);
const read = (answerId: string, clerk = support, of = person) =>
  call("POST", `admin/people/${of.userId}/answers/${answerId}/read`, clerk, why);
const askFor = () => call("POST", `admin/people/${person.userId}/support-access`, support, why);
const seenByTeam = async () =>
  (await call("GET", `admin/people/${person.userId}`, support)).json<PersonPage>().supportAccess satisfies SupportAccess;
async function logged(): Promise<unknown[]> {
  const log = await call("GET", `admin/audit?about=${encodeURIComponent(person.email)}`, support);
  return log.json<{ rows: AuditRow[] }>().rows.map(({ action, details, reason, actorId }) => [action, details, reason, actorId]);
}
const seenByPerson = async () => (await call("GET", "account/activity", person)).json<{ events: Activity[] }>().events;

/** A conversation of these questions, each with an answer that echoes it. Returns the ids. */
async function converse(by: TestPerson, questions: readonly string[]): Promise<{ conversationId: string; answerIds: string[] }> {
  const { db, asOwner } = product;
  const [conversationId, now] = [uuidv7(), new Date()];
  const times = { created_at: now, updated_at: now };
  await db
    .insertInto("conversations")
    .values({ id: conversationId, user_id: by.userId, title: "Mosaics", ...times })
    .execute();
  const answerIds: string[] = [];
  let parent_id: string | null = null;
  for (const content of questions) {
    const [id, question, answer] = [uuidv7(), uuidv7(), uuidv7()];
    const hold = { holdId: id, walletId: by.walletId, credits: 1, kinds: ["adjustment" as const], now, wallNow: now };
    await holdCredits(db, { ...hold, deadline: addMilliseconds(now, hourMs) });
    await asOwner(`insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, status, hold_id, quoted_credits, charged_credits,
        lease_owner, lease_expires_at, created_at, ended_at)
      values ('${id}', '${by.userId}', payer_of('${by.userId}'), 'gpt-5', '${randomUUID()}', '', 'completed', '${id}', 1, 1, '${id}', now(), now(), now())`);
    await db
      .insertInto("generation_parts")
      .values({ generation_id: id, place: 1, kind: "text", text: `You said: ${content}`, detail: null })
      .execute();
    const of = { conversation_id: conversationId, created_at: now };
    await db
      .insertInto("messages")
      .values({ ...of, id: question, parent_id, role: "user", generation_id: null, content })
      .execute();
    await db
      .insertInto("messages")
      .values({ ...of, id: answer, parent_id: question, role: "assistant", generation_id: id, content: null })
      .execute();
    parent_id = answer;
    answerIds.push(id);
  }
  return { conversationId, answerIds };
}

test("the team reads nothing before the person allows it, after its time, and once it was taken back", async () => {
  const { answerIds } = await converse(person, ["What is a tessera?", "And a mosaic?"]);
  const [first = "", second = ""] = answerIds;
  expect(codeOf(await read(second))).toEqual([403, "support_access_needed"]);
  expect([(await give(2)).statusCode, (await give()).statusCode]).toEqual([400, 200]);
  const { until } = await own();
  expect(Date.parse(until ?? "") - Date.now()).toBeGreaterThan(dayMs - minuteMs);
  expect(await seenByTeam()).toEqual({ until, askedAt: null });
  const seen = (await read(second)).json<ReadAnswer>();
  expect(seen).toMatchObject({ until, title: "Mosaics", isCut: false });
  const words = ["What is a tessera?", "You said: What is a tessera?", "And a mosaic?", "You said: And a mosaic?"];
  expect(seen.messages.map(({ parts }) => parts)).toEqual(words.map((text) => [{ place: 1, kind: "text", text }]));
  expect(seen.messages.map(({ role, model }) => [role, model])).toEqual([
    ["user", null],
    ["assistant", "gpt-5"],
    ["user", null],
    ["assistant", "gpt-5"],
  ]);
  // What came after the answer is not shown with it.
  expect((await read(first)).json<ReadAnswer>().messages).toHaveLength(2);
  travel(dayMs + minuteMs);
  expect(codeOf(await read(second))).toEqual([403, "support_access_needed"]);
  expect(await own()).toEqual({ until: null, askedAt: null });
  await give(7);
  expect((await read(second)).statusCode).toBe(200);
  expect((await end()).json()).toEqual({ until: null, askedAt: null });
  expect(codeOf(await read(second))).toEqual([403, "support_access_needed"]);
  // Who read it, and why, is on the log before the text goes out; the person sees each reading, and not the clerk's network.
  const reading = (generationId: string) => ["answer.read", { generationId }, why.reason, support.userId];
  expect(await logged()).toEqual([
    ["support_access.ended", {}, null, person.userId],
    reading(second),
    ["support_access.given", { days: 7 }, null, person.userId],
    reading(first),
    reading(second),
    ["support_access.given", { days: 1 }, null, person.userId],
  ]);
  expect((await seenByPerson()).filter(({ action, network }) => action === "answer.read" && network === null)).toHaveLength(3);
});

test("a consent that is taken back while somebody is about to read is not used", async () => {
  const { answerIds } = await converse(person, ["A secret"]);
  await give();
  let reading: ReturnType<typeof read> | undefined;
  await inTransaction(product.db, async (trx) => {
    await dropSupportAccess(trx, person.userId, new Date());
    reading = read(answerIds[0] ?? "");
    // It waits for the row, so it has begun before the consent is gone.
    const waiting = async () =>
      (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(product.db)).rows;
    await expect.poll(waiting, { interval: 10 }).toHaveLength(1);
  });
  expect(codeOf((await reading) as LightMyRequestResponse)).toEqual([403, "support_access_needed"]);
  expect(await logged()).toEqual([["support_access.given", { days: 1 }, null, person.userId]]);
});

test("nobody reads another person's answer with this consent, nor what was deleted; and others than the team find nothing", async () => {
  const eve = await personAs("user");
  const of = await converse(eve, ["Eve's"]);
  const { conversationId, answerIds } = await converse(person, ["Mine"]);
  const [mine = "", hers = ""] = [...answerIds, ...of.answerIds];
  await give();
  for (const answer of [await read(hers), await read(randomUUID()), await read(mine, person)])
    expect(codeOf(answer)).toEqual([404, "not_found"]);
  expect(codeOf(await read(hers, support, eve))).toEqual([403, "support_access_needed"]);
  await call("DELETE", `conversations/${conversationId}`, person);
  expect(codeOf(await read(mine))).toEqual([410, "answer_gone"]);
  await product.db.updateTable("users").set({ delete_at: new Date() }).where("id", "=", person.userId).execute();
  expect(codeOf(await read(mine))).toEqual([403, "support_access_needed"]);
});

test("reading needs a reason and a factor shown lately, and shows the last messages of a long conversation", async () => {
  const { answerIds } = await converse(
    person,
    Array.from({ length: readAtOnce / 2 + 1 }, (_, index) => `question ${index}`),
  );
  const last = answerIds.at(-1) ?? "";
  await give();
  const { messages, isCut } = (await read(last)).json<ReadAnswer>();
  expect([messages.length, isCut, messages[0]?.parts]).toEqual([readAtOnce, true, [{ place: 1, kind: "text", text: "question 1" }]]);
  const without = await call("POST", `admin/people/${person.userId}/answers/${last}/read`, support, { reason: "" });
  expect(codeOf(without)).toEqual([400, "validation_failed"]);
  const clerk = await personAs("admin");
  await product.db
    .updateTable("auth_sessions")
    .set({ proved_at: addMilliseconds(new Date(), -stepUpMs - minuteMs) })
    .where("user_id", "=", clerk.userId)
    .execute();
  expect(codeOf(await read(last, clerk))).toEqual([403, "step_up_required"]);
});

test("the team asks by mail and in the account, at most once a day; a no ends the request", async () => {
  expect((await askFor()).statusCode).toBe(204);
  expect(await product.templatesTo(person.email)).toEqual(["support-access-asked"]);
  const { askedAt } = await own();
  expect(askedAt).not.toBeNull();
  const again = await askFor();
  expect(codeOf(again)).toEqual([429, "rate_limited"]);
  expect(again.json().retryAfterSeconds).toBeGreaterThan(dayMs / 1_000 - 60);
  await end();
  expect(await seenByTeam()).toEqual({ until: null, askedAt: null });
  expect(codeOf(await askFor())).toEqual([429, "rate_limited"]);
  travel(dayMs + minuteMs);
  expect((await askFor()).statusCode).toBe(204);
  expect((await own()).askedAt).not.toBeNull();
  // An unanswered request expires.
  travel(2 * dayMs + accessRequestMs);
  expect((await own()).askedAt).toBeNull();
  travel(dayMs + minuteMs);
  await give(7);
  expect(codeOf(await askFor())).toEqual([409, "conflict"]);
  const acts = (await logged()).map((row) => (row as [string, object, string | null]).filter((_, index) => index !== 1));
  expect(acts).toEqual([
    ["support_access.given", null, person.userId],
    ["support_access.asked", why.reason, support.userId],
    ["support_access.refused", null, person.userId],
    ["support_access.asked", why.reason, support.userId],
  ]);
});

test("it ends with a deleted account, and has to be given anew once that is restored", async () => {
  const { answerIds } = await converse(person, ["Mine"]);
  await give(7);
  const gone = await call("POST", "account/deletion", person, { email: person.email });
  expect(gone.statusCode).toBe(202);
  await product.db.updateTable("users").set({ delete_at: null }).where("id", "=", person.userId).execute();
  expect(codeOf(await read(answerIds[0] ?? ""))).toEqual([403, "support_access_needed"]);
});
