/** A database of the previous release, with data of every kind, goes up to this release, down and up again, and the product reads all of it. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hash } from "@node-rs/argon2";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import pg from "pg";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Conversation, ConversationSummary } from "#contract/conversations.ts";
import type { LedgerPage } from "#contract/credits/ledger.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import type { Answer } from "#contract/generations/generations.ts";
import { textOf } from "#domain/messages.ts";
import { sweeps } from "#domain/retention.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { migrationNames, migrationsFolder } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { createDeps } from "#server/deps.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { writeRefreshToken } from "#server/features/auth/tokens.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { sendMail } from "#server/features/notifications/service.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import type { App } from "#server/http/app-type.ts";
import { hashToken } from "#server/http/secret-keys.ts";
import type { OutgoingMail } from "#server/providers/mail.ts";
import type { JobName } from "#server/queue/jobs.ts";
import { jobs } from "#server/queue/jobs.ts";
import type { RunningModels } from "#tests/support/answers.ts";
import { startModels } from "#tests/support/answers.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";

const release = "0011_contact";
const password = "a tessera 4 two";

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let owner: pg.Client;
let deps: ReturnType<typeof createDeps>;
let models: RunningModels;
let app: App | undefined;
beforeAll(async () => {
  database = await createEmptyDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  models = await startModels();
  const variables = { SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" };
  deps = createDeps(readConfig(testEnvironment(database, variables)), "test");
});
afterAll(async () => {
  await app?.close();
  await deps.close();
  await models.close();
  await owner.end();
  await database.drop();
});

async function rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await owner.query<T>(text, values)).rows;
}

const goUp = () => migrate({ ownerUrl: database.ownerUrl, applicationRole });
const goDown = () => migrate({ ownerUrl: database.ownerUrl, applicationRole, downTo: release });

/** Runs the migrations that the release had, and no other. */
async function migrateAsRelease(): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.ownerUrl, max: 1 }) }) });
  const names = (await migrationNames()).filter((name) => name <= release);
  const run = (name: string) => async (trx: Kysely<unknown>) => {
    await sql.raw(await readFile(new URL(`${name}.up.sql`, migrationsFolder), "utf8")).execute(trx);
  };
  const provider = { getMigrations: async () => Object.fromEntries(names.map((name) => [name, { up: run(name) }])) };
  const migrator = new Migrator({ db, provider, migrationTableName: "migrations", migrationLockTableName: "migrations_lock" });
  const { error } = await migrator.migrateToLatest();
  await db.destroy();
  if (error) throw error;
}

const dorasLink = "60000000-0000-7000-8000-000000000001";
const adasSession = "70000000-0000-7000-8000-000000000001";
const idOf = async (email: string) =>
  (await rows<{ id: string }>("select user_id as id from identities where subject = $1", [email]))[0]?.id ?? "";

async function fill(): Promise<void> {
  await owner.query(await readFile(new URL("../support/release-0011.sql", import.meta.url), "utf8"));
  await owner.query("update users set password_hash = $1 where email_verified_at is not null", [await hash(password)]);
  await owner.query(
    `insert into email_links (id, user_id, purpose, token_hash, password_hash, expires_at, created_at)
       select $1, id, 'confirm', $2, $3, now() + interval '1 day', created_at from users where email_verified_at is null`,
    [dorasLink, hashToken(linkToken(deps.config, dorasLink)), await hash(password)],
  );
  const token = writeRefreshToken(deps.config, { sessionId: adasSession, counter: 0 });
  await owner.query(
    `insert into auth_sessions (id, user_id, token_hash, rotated_at, expires_at, created_at, user_agent)
       select $1, id, $2, now(), now() + interval '30 days', now(), 'A browser' from users where email = 'ada@example.com'`,
    [adasSession, hashToken(token)],
  );
}

async function call(method: "GET" | "POST", url: string, payload?: object, session?: Session) {
  app ??= await buildApp(deps);
  const headers = { "idempotency-key": randomUUID(), ...(session ? { authorization: `Bearer ${session.access_token}` } : {}) };
  const answer = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  expect(answer.statusCode, `${method} ${url}: ${answer.body}`).toBe(200);
  return answer;
}
const get = async <T>(url: string, session?: Session) => (await call("GET", url, undefined, session)).json<T>();
const post = async <T>(url: string, payload: object, session?: Session) => (await call("POST", url, payload, session)).json<T>();
const signIn = (email: string) => post<Session>("/api/auth/sign-in", { email, password });
const answerOf = async (key: string) =>
  (await rows<{ id: string }>("select id from generations where idempotency_key = $1", [key]))[0]?.id ?? "";

type Row = Record<string, unknown>;
type Tables = Record<string, Row[]>;

/** Every row of every table that the release had. A sign-up's person is made anew on the way down, so dora's id is left out. */
async function readAll(): Promise<Tables> {
  const tables = await rows<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename !~ '^migrations' order by 1",
  );
  const dora = (await rows<{ id: string }>("select id from users where email = 'dora@example.com'"))[0]?.id ?? "";
  const all: Tables = {};
  for (const { name } of tables) {
    const lines = await rows<{ line: string }>(`select replace(to_jsonb(t)::text, '${dora}', 'dora') as line from ${name} t order by 1`);
    all[name] = lines.map(({ line }) => JSON.parse(line) as Row);
  }
  return all;
}

/** What the way up changes for good: nothing can be read any more of what was deleted, and events that nobody acted on can be replayed. */
function withoutErased(all: Tables): Tables {
  const erased = new Set(all.generations?.flatMap((row) => (row.conversation_id === null ? [row.id] : [])));
  return {
    ...all,
    generations: (all.generations ?? []).map((row) => (erased.has(row.id) ? { ...row, request_hash: "\\x" } : row)),
    generation_events: (all.generation_events ?? []).filter((row) => !erased.has(row.generation_id)),
    stripe_events: (all.stripe_events ?? []).map((row) => (row.status === "ignored" ? { ...row, status: "set_aside" } : row)),
  };
}

describe("a database of the release before", () => {
  test("has the same rows after the way up and down again, and the books agree at each step", async () => {
    await migrateAsRelease();
    await fill();
    const before = await readAll();
    // A table without a row would not be tested.
    expect(Object.entries(before).filter(([, lines]) => lines.length === 0)).toEqual([]);

    await goUp();
    expect(await findDisagreements(deps.db)).toEqual([]);
    await goDown();
    expect(await readAll()).toEqual(withoutErased(before));
    await goUp();
    expect(await findDisagreements(deps.db)).toEqual([]);
  });

  test("lets everybody sign in, keeps sign-ins open, and a mailed link still confirms an address", async () => {
    expect((await signIn("bert+work@example.com")).user.id).toBe(await idOf("bert+work@example.com"));
    const refreshed = await post<Session>("/api/auth/refresh", {
      refresh_token: writeRefreshToken(deps.config, { sessionId: adasSession, counter: 0 }),
    });
    expect(refreshed.user).toMatchObject({ id: await idOf("ada@example.com"), email: "ada@example.com" });
    const dora = await post<Session>("/api/auth/confirm", { token: linkToken(deps.config, dorasLink), password });
    expect(await get<Wallet>("/api/credits/wallet", dora)).toMatchObject({ balance: 0, available: 0 });
  });

  test("shows everybody their plan, their wallet and its whole history", async () => {
    const [ada, bert, cora] = await Promise.all(["ada@example.com", "bert+work@example.com", "c.ora@gmail.com"].map(signIn));
    const check = (session: Session | undefined) => post<SubscriptionCheck>("/api/functions/reliable-subscription-check", {}, session);
    const wallet = (session: Session | undefined) => get<Wallet>("/api/credits/wallet", session);
    const history = async (session: Session | undefined) =>
      (await get<LedgerPage>("/api/credits/ledger", session)).lines.map(({ kind, credits, balanceAfter }) => [kind, credits, balanceAfter]);

    expect(await check(ada)).toMatchObject({ subscribed: true, subscription_tier: "starter", credits: 338, status: "active" });
    expect(await wallet(ada)).toMatchObject({ balance: 341, held: 3, available: 338 });
    expect(await history(ada)).toEqual([
      ["capture", -3, 341],
      ["capture", -3, 344],
      ["capture", -3, 347],
      ["grant", 50, 350],
      ["grant", 300, 300],
      ["expire", -300, 0],
      ["grant", 300, 300],
    ]);
    expect(await check(bert)).toMatchObject({ subscription_tier: "basic", credits: 0, status: "past_due", billing_interval: "year" });
    expect(await wallet(bert)).toMatchObject({ balance: -100, held: 3, available: 0 });
    expect(await history(bert)).toEqual([
      ["clawback", -200, -100],
      ["capture", -400, 100],
      ["grant", 500, 500],
    ]);
    expect(await check(cora)).toMatchObject({ subscribed: false, status: "canceled" });
    expect(await wallet(cora)).toMatchObject({ balance: 17, held: 0, available: 17 });
  });

  test("shows conversations, answers and receipts as they were, and a conversation goes on", async () => {
    const ada = await signIn("ada@example.com");
    const { conversations } = await get<{ conversations: ConversationSummary[] }>("/api/conversations", ada);
    expect(conversations.map(({ title }) => title)).toEqual(["Is anybody there?", "Good morning"]);
    const id = conversations[1]?.id;
    const { messages, headId } = await get<Conversation>(`/api/conversations/${id}`, ada);
    expect(messages.map(({ parts, receipt }) => [textOf({ parts }), receipt && [receipt.status, receipt.chargedCredits]])).toEqual([
      ["Good morning", null],
      ["Good morning to you.", ["completed", 3]],
      ["What is a tessera?", null],
      ["A piece of a mosaic.", ["completed", 3]],
      ["And a mosaic?", null],
      ["", ["failed", 0]],
      ["A mosaic, please", null],
      ["Many tesserae, laid", ["stopped", 3]],
    ]);
    expect(messages.map(({ parentId }) => parentId)).toEqual([null, ...messages.slice(0, -1).map((message) => message.id)]);
    expect(headId).toBe(messages.at(-1)?.id);

    const [logged, unlogged] = [await answerOf("answer-completed"), await answerOf("answer-of-an-old-log")];
    expect(await get<Answer>(`/api/generations/${logged}`, ada)).toMatchObject({
      chargedCredits: 3,
      availableAfter: 344,
      parts: [{ kind: "text", text: "A piece of a mosaic." }],
    });
    const events = async (answer: string) => (await call("GET", `/api/generations/${answer}/events`, undefined, ada)).body;
    expect(await events(logged)).toMatch(/event: start[\s\S]+A piece of a mosaic\.[\s\S]+event: receipt/);
    expect(await events(unlogged)).toMatch(/Good morning to you\.[\s\S]+event: receipt/);

    const cora = await signIn("c.ora@gmail.com");
    expect((await get<{ conversations: unknown[] }>("/api/conversations", cora)).conversations).toEqual([]);
    const deleted = await answerOf("answer-deleted");
    expect(await get<Answer>(`/api/generations/${deleted}`, cora)).toMatchObject({ status: "completed", chargedCredits: 3, parts: [] });

    const next = await call("POST", "/api/generations", { model: "gpt-6-luna", prompt: "More", quotedCredits: 1, conversationId: id }, ada);
    expect(next.body).toContain('"status":"completed"');
    expect((await get<Conversation>(`/api/conversations/${id}`, ada)).messages).toHaveLength(10);
    expect(models.lastMessages().map(({ content }) => content)).toContain("Many tesserae, laid");
  });

  test("has its unfinished work done: answers without a process, mails and jobs that wait, sweeps", async () => {
    const ada = await signIn("ada@example.com");
    expect(await endOrphanedAnswers(deps)).toBe(1);
    expect(await get<Answer>(`/api/generations/${await answerOf("answer-orphaned")}`, ada)).toMatchObject({
      status: "failed",
      failureCode: "interrupted",
      chargedCredits: 0,
    });
    expect((await get<Wallet>("/api/credits/wallet", ada)).held).toBe(0);
    for (const { job, payload } of await rows<{ job: JobName; payload: unknown }>("select job, payload from outbox"))
      expect(Value.Check(jobs[job], payload), job).toBe(true);

    const sent: OutgoingMail[] = [];
    const mailer = { send: async (mail: OutgoingMail) => void sent.push(mail), close: () => {} };
    for (const { id } of await rows<{ id: string }>("select id from mails where sent_at is null order by id"))
      await sendMail({ ...deps, mail: mailer }, id);
    expect(sent.map(({ subject }) => subject)).toEqual([
      "Your Starter plan has started",
      "Your payment did not go through",
      "[bug] Ada",
      "Your message has arrived",
    ]);
    // Those mails lack what the texts of this release say besides: price, amount and reference.
    const texts = sent.map(({ text }) => text);
    expect(texts[0]).toContain("The plan renews on December 1, 2026.");
    expect(texts[1]).toContain("The payment for your Basic plan failed.");
    expect(texts[2]).toMatch(/Their language is German\.\n/);
    expect(texts[3]).toMatch(/You do not need to send it again\.\n\nOpen Tessera/);

    const swept = await sweepRetention(deps, new AbortController().signal);
    expect(Object.keys(swept).sort()).toEqual(Object.keys(sweeps).sort());
    expect(await findDisagreements(deps.db)).toEqual([]);
  });
});
