/** The team's inbox: who may read it, two clerks at once, and answers that are mailed once each. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { LightMyRequestResponse } from "fastify";
import { sql } from "kysely";
import type { Email } from "postal-mime";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { InboxNeighbours, InboxPage, InboxRow } from "#contract/admin/inbox.ts";
import type { Needs } from "#contract/admin/needs.ts";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import { answerDueMs, answerTemplates } from "#domain/inbox.ts";
import { languages } from "#domain/languages.ts";
import type { Role } from "#domain/team.ts";
import { suggestAnswers } from "#server/features/contact/answer-texts.ts";
import { sendMail } from "#server/features/notifications/service.ts";
import { sections } from "#server/features/own-data/sections.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { processors } from "../../worker/processors/all.ts";
import { runJob } from "../../worker/run-job.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

const received: { raw: string; mail: Email }[] = [];
let isRefused = false;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onRcptTo(_address, _session, done) {
    done(isRefused ? Object.assign(new Error("no such mailbox"), { responseCode: 550 }) : null);
  },
  onData(stream, _session, done) {
    void buffer(stream)
      .then(async (raw) => received.push({ raw: raw.toString("latin1"), mail: await PostalMime.parse(raw) }))
      .then(() => done());
  },
});

const team = "team@tessera.test";
let product: AuthApp;
let ada: TestPerson;
let ben: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const smtpUrl = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  product = await createAuthApp({ SMTP_URL: smtpUrl, CONTACT_EMAIL: team });
  [ada, ben, person] = [await personAs("admin"), await personAs("support"), await personAs("user")];
});
afterAll(async () => {
  await product.close();
  await new Promise<void>((resolve) => server.close(resolve));
});
beforeEach(async () => {
  isRefused = false;
  received.length = 0;
  await product.asOwner("truncate outbox, mails, dead_letters, contact_messages, contact_events, auth_attempts");
});

async function personAs(role: Role): Promise<TestPerson> {
  const one = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role }).where("id", "=", one.userId).execute();
  return one;
}

/** Writes to the team and returns the message's id. */
async function write(changes: Record<string, unknown> = {}, token?: string): Promise<string> {
  const whole = {
    name: "Grace",
    email: "grace@example.com",
    category: "support",
    subject: "Paid",
    message: "Nothing came",
    language: "de",
  };
  const headers = { "idempotency-key": randomUUID(), ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  return (await product.post("/api/contact", { ...whole, ...changes }, { headers })).json().id;
}

type Method = "GET" | "POST" | "PUT";
const call = (method: Method, url: string, payload: object | undefined, { token }: TestPerson): Promise<LightMyRequestResponse> =>
  product.app.inject({
    ...{ method, url: `/api/admin/${url}`, headers: { authorization: `Bearer ${token}` } },
    ...(payload !== undefined && { payload }),
  });
const get = (url: string, reader = ben) => call("GET", url, undefined, reader);
const pageOf = async (id: string) => (await get(`inbox/${id}`)).json<InboxPage>();
const list = async (query = "") => (await get(`inbox?${query}`)).json<{ rows: InboxRow[]; nextCursor: string | null; isCut?: boolean }>();
const idsOf = async (query: string) => (await list(query)).rows.map(({ id }) => id);
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.statusCode === 200 ? undefined : answer.json().code];
const why = "Answered: your payment";
const words = { subject: "Your payment", text: "Hello Grace,\n\nit is here now." };
const answer = (id: string, body: object = {}, clerk = ben) =>
  call("POST", `inbox/${id}/answers`, { version: 1, key: randomUUID(), status: "waiting", reason: why, ...words, ...body }, clerk);
const change = (id: string, what: "status" | "owner", body: object, clerk = ben) =>
  call("PUT", `inbox/${id}/${what}`, { reason: why, ...body }, clerk);
const answersTo = (recipient: string) =>
  product.db.selectFrom("mails").selectAll().where("recipient", "=", recipient).where("template", "=", "contact-answer").execute();

test("nobody but the team reads a message, its list or its history, or acts on it: for others there is no such address", async () => {
  const id = await write({}, person.token);
  const calls: [Method, string, object?][] = [
    ["GET", "inbox"],
    ["GET", "inbox.csv"],
    ["GET", `inbox/${id}`],
    ["GET", `inbox/${id}/neighbours`],
    ["PUT", `inbox/${id}/status`, { version: 1, status: "done" }],
    ["PUT", `inbox/${id}/owner`, { version: 1, ownerId: person.userId }],
    ["POST", `inbox/${id}/answers`, { version: 1, key: randomUUID(), status: "done", ...words }],
  ];
  for (const [method, url, body] of calls) {
    expect([url, ...codeOf(await call(method, url, body, person))]).toEqual([url, 404, "not_found"]);
    expect([url, ...codeOf(await call(method, url, body, { ...person, token: "none" }))]).toEqual([url, 401, "unauthenticated"]);
  }
  expect(await pageOf(id)).toMatchObject({ status: "open", version: 1, history: [], owner: null });
  expect(await answersTo("grace@example.com")).toEqual([]);
});

test("an answer is one mail however often it is sent, in the sender's language, with nothing added to its headers, and is in the history with what became of it", async () => {
  const id = await write();
  const key = randomUUID();
  const hostile = { key, subject: "Paid?\r\nBcc: eve@example.com", text: "<b>it</b> is here now.\r\n{{name}} $t(signature)\u0001" };
  const pressed = await Promise.all([answer(id, hostile), answer(id, hostile), answer(id, hostile, ada)]);
  expect(pressed.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect((await answer(id, hostile)).statusCode).toBe(200);
  expect(codeOf(await answer(id, { ...hostile, text: "Another" }))).toEqual([409, "idempotency_conflict"]);
  const [mail, ...others] = await answersTo("grace@example.com");
  expect([mail?.language, others]).toEqual(["de", []]);
  expect((await pageOf(id)).history[0]?.answer?.delivery.state).toBe("waiting");
  for (const { id: mailId } of await product.db.selectFrom("mails").select("id").orderBy("id").execute())
    await sendMail(product.deps, mailId);

  const toGrace = received.filter(({ mail: { to } }) => to?.[0]?.address === "grace@example.com").map((each) => each.mail);
  const [arrived, sent] = toGrace;
  expect(toGrace).toHaveLength(2);
  expect(sent).toMatchObject({ subject: "Paid? Bcc: eve@example.com", replyTo: [{ address: team }], inReplyTo: arrived?.messageId });
  const headers = new Map(sent?.headers.map((header) => [header.key, header.value]));
  expect([headers.get("bcc"), headers.get("auto-submitted"), headers.get("content-language")]).toEqual([undefined, undefined, "de"]);
  expect(sent?.text).toContain("<b>it</b> is here now.\n{{name}} $t(signature)");
  expect(sent?.html).toContain("&#60;b&#62;it&#60;/b&#62; is here now.");
  for (const said of ["Das ist unsere Antwort", id.slice(-12), product.config.postalAddress, team]) expect(sent?.text).toContain(said);

  const page = await pageOf(id);
  expect(page).toMatchObject({ status: "waiting", version: 2, owner: { name: expect.any(String) } });
  expect(page.history).toMatchObject([
    { kind: "answered", status: "waiting", answer: { subject: "Paid? Bcc: eve@example.com", delivery: { state: "sent", error: null } } },
  ]);
  const { rows } = (await get("audit?action=message.answered")).json();
  expect(rows).toMatchObject([{ details: { messageId: id, status: "waiting" }, reason: why }]);
  await expect(product.db.updateTable("contact_events").set({ body: "Another" }).execute()).rejects.toMatchObject({ code: "42501" });
});

test("of two clerks at once the second is told, nothing of either is lost, and no second mail goes out", async () => {
  const id = await write();
  expect((await change(id, "owner", { version: 1, ownerId: ada.userId }, ada)).json()).toMatchObject({ version: 2, status: "open" });
  expect(codeOf(await answer(id))).toEqual([409, "conflict"]);
  expect(codeOf(await change(id, "status", { version: 1, status: "done" }))).toEqual([409, "conflict"]);
  expect(codeOf(await change(id, "owner", { version: 1, ownerId: ben.userId }))).toEqual([409, "conflict"]);
  const both = await Promise.all([answer(id, { version: 2 }), answer(id, { version: 2, subject: "Mine" }, ada)]);
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
  expect(await answersTo("grace@example.com")).toHaveLength(1);
  expect(codeOf(await change(id, "status", { version: 3, status: "done", reason: "" }))).toEqual([400, "validation_failed"]);
  expect((await change(id, "status", { version: 3, status: "done", reason: "Spam or advertising" })).json().history.at(-1)).toMatchObject({
    ...{ kind: "status", status: "done", reason: "Spam or advertising" },
  });
  expect((await get("audit?action=message.status_set")).json().rows[0]).toMatchObject({
    reason: "Spam or advertising",
    actorId: ben.userId,
  });
  expect((await get("audit?action=message.assigned")).json().rows[0]).toMatchObject({ reason: why, actorId: ada.userId });
  expect((await change(id, "status", { version: 4, status: "done" })).json()).toMatchObject({ version: 4 });
  expect(codeOf(await change(id, "owner", { version: 4, ownerId: person.userId }))).toEqual([404, "not_found"]);
  expect((await change(id, "owner", { version: 4, ownerId: null })).statusCode).toBe(200);
  const { history, owner, status } = await pageOf(id);
  expect([owner, status]).toEqual([null, "done"]);
  expect(history.map(({ kind, by }) => [kind, by])).toEqual([
    ["owner", ada.email],
    ["answered", both[0]?.statusCode === 200 ? ben.email : ada.email],
    ["status", ben.email],
    ["owner", ben.email],
  ]);
  expect(codeOf(await answer(randomUUID()))).toEqual([404, "not_found"]);
});

test("an answer that can't be delivered says why; one that says nothing or is too long is not sent; a clerk mails a bounded number an hour", async () => {
  const id = await write();
  for (const wrong of [{ subject: " \u200b" }, { text: "\n \u0000" }, { text: "t".repeat(10_001) }, { subject: "s".repeat(201) }])
    expect(codeOf(await answer(id, wrong))).toEqual([400, "validation_failed"]);
  isRefused = true;
  expect((await answer(id)).statusCode).toBe(200);
  const jobs = await product.db.selectFrom("outbox").selectAll().execute();
  for (const { id: jobId, job, payload } of jobs) await runJob(product.deps, processors, { id: jobId, name: job, payload });
  const { history } = await pageOf(id);
  expect(history[0]?.answer?.delivery).toMatchObject({ state: "refused", error: expect.stringContaining("refused the mail") });
  await product.asOwner(
    `insert into auth_attempts (key, failures, window_started_at, blocked_until) values ('contact-answer:${ben.userId}', 60, now(), now() + interval '1 minute')
      on conflict (key) do update set blocked_until = excluded.blocked_until`,
  );
  expect(codeOf(await answer(id, { version: 2 }))).toEqual([429, "too_many_attempts"]);
  expect((await answer(id, { version: 2 }, ada)).statusCode).toBe(200);
});

test("the list is filtered by kind, status, owner, language and the beginning of an address, a page at a time, and is there as CSV", async () => {
  const idea = await write({ category: "feature", email: "Ida_1@example.com", language: "ja" });
  const paid = await write({ name: "=1+1" }, person.token);
  await change(paid, "owner", { version: 1, ownerId: ben.userId });
  for (const [query, ids] of [
    ["", [paid, idea]],
    ["category=feature", [idea]],
    ["status=open", [paid, idea]],
    ["status=done", []],
    [`owner=${ben.userId}`, [paid]],
    ["owner=nobody", [idea]],
    ["language=ja", [idea]],
    ["sender=IDA_1", [idea]],
    ["sender=ida%25", []],
    ["order=asc&category=support&language=de&sender=grace", [paid]],
  ] as const)
    expect([query, await idsOf(query)]).toEqual([query, ids]);
  const message = {
    content_hash: Buffer.alloc(32),
    name: "Ivo",
    category: "feature",
    message: "Hi",
    language: "en",
    created_at: new Date(),
  } as const;
  const many = Array.from({ length: 251 }, (_, each) => ({
    ...message,
    idempotency_key: randomUUID(),
    user_id: null,
    subject: null,
    email: `ivo${each}@example.com`,
  }));
  await product.db.insertInto("contact_messages").values(many).execute();
  expect([(await list("sender=ivo")).isCut, (await list("sender=ivo1")).isCut]).toEqual([true, false]);
  await product.asOwner("delete from contact_messages where name = 'Ivo'");
  const first = await list("limit=1");
  expect(await idsOf(`limit=1&cursor=${encodeURIComponent(first.nextCursor ?? "")}`)).toEqual([idea]);
  const csv = (await get("inbox.csv?status=open")).body.split("\r\n");
  expect(csv).toHaveLength(4);
  expect(csv[1]).not.toContain(',"=1+1"');
  expect((await pageOf(paid)).account).toEqual({ userId: person.userId, email: person.email, signedIn: true });
  expect((await answer(paid, { version: 2 })).statusCode).toBe(200);
  const section = sections.find(({ name }) => name === "contact-messages");
  const exported = await sql<{ item: object }>`${section?.rows(person.userId)}`.execute(product.db);
  expect(exported.rows).toMatchObject([{ item: { message: "Nothing came", status: "waiting", answers: [words] } }]);
  const typed = await write({ email: person.email.toUpperCase() });
  expect((await pageOf(typed)).account).toEqual({ userId: person.userId, email: person.email, signedIn: false });
});

test("from one message one goes to those above and below it in the list, also when an act has taken it out of the list, and the list has ends", async () => {
  const ids: string[] = [];
  for (const subject of ["first", "second", "third"]) ids.push(await write({ subject }));
  const [first = "", second = "", third = ""] = ids;
  await write({ subject: "other", category: "bug" });
  const around = async (id: string, query: string) => {
    const { previous, next } = (await get(`inbox/${id}/neighbours?${query}`)).json<InboxNeighbours>();
    return [previous?.title ?? null, next?.title ?? null];
  };
  const open = "category=support&status=open";
  // The newest stands first.
  expect([await around(third, open), await around(second, open), await around(first, open)]).toEqual([
    [null, "second"],
    ["third", "first"],
    ["second", null],
  ]);
  expect(await around(second, `${open}&order=asc`)).toEqual(["first", "third"]);
  expect(await around(third, "")).toEqual(["other", "second"]);
  await change(second, "status", { version: 1, status: "done" });
  expect([await around(second, open), await around(third, open)]).toEqual([
    ["third", "first"],
    [null, "first"],
  ]);
  expect(codeOf(await get(`inbox/${randomUUID()}/neighbours`))).toEqual([404, "not_found"]);
});

test("an answer can begin with each template in each language, with name and reference in their places", () => {
  for (const { code } of languages) {
    const { subject, templates } = suggestAnswers(product.config, code, { name: "{{reference}}", reference: "0123456789ab" });
    expect([code, templates.map(({ name }) => name)]).toEqual([code, [...answerTemplates]]);
    expect(subject).toContain("0123456789ab");
    for (const { text } of templates) {
      expect(text).toContain("{{reference}}");
      expect(text.replace("{{reference}}", "")).not.toMatch(/\{\{|undefined/);
    }
  }
});

test("what nobody has answered within a day needs the team, with the button's address", async () => {
  const [late, early, waiting] = [await write({ subject: "" }, person.token), await write(), await write()];
  const since = addMilliseconds(new Date(), -answerDueMs);
  for (const [id, at] of [
    [late, addMilliseconds(since, -minuteMs)],
    [early, addMilliseconds(since, minuteMs)],
    [waiting, addMilliseconds(since, -minuteMs)],
  ] as const)
    await product.db.updateTable("contact_messages").set({ created_at: at }).where("id", "=", id).execute();
  await change(waiting, "status", { version: 1, status: "waiting" });
  const { unanswered } = (await get("needs", ada)).json<Needs>();
  expect(unanswered).toMatchObject({ isMore: false, rows: [{ id: late, userId: person.userId, email: person.email, topic: "Grace" }] });
});
