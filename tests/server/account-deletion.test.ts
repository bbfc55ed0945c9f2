/** A deleted account: hidden and signed out at once, restored by nobody but its owner, and after 14 days nothing leads to the person. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { LightMyRequestResponse } from "fastify";
import { sql } from "kysely";
import { Secret, TOTP } from "otpauth";
import sharp from "sharp";
import { v7 as uuidv7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import type { DeletionPending, FactorNeeded, Session } from "#contract/auth/sign-in.ts";
import { addMilliseconds, dayMs, minuteMs } from "#domain/clock.ts";
import { deletionMs, stepUpMs } from "#domain/periods.ts";
import { recordAct } from "#server/db/audit.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { eraseBatch, forgetMailErrors } from "#server/features/deletion/queries.ts";
import { storeFile } from "#server/features/files/service.ts";
import { makeExport } from "#server/features/own-data/exports.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { ask, askAndHold, startModels } from "#tests/support/answers.ts";
import { full } from "#tests/support/full.ts";
import { readZip } from "#tests/support/zip.ts";
import { processors } from "../../worker/processors/all.ts";
import { runJob } from "../../worker/run-job.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";

let models: RunningModels;
let product: AuthApp;
let folder: string;
let served: AnswerProcess;
let ada: Session;

beforeAll(async () => {
  models = await startModels();
  folder = await mkdtemp(path.join(tmpdir(), "tessera-deletion-"));
  const sandbox = { SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" };
  product = await createAuthApp({ STORAGE_DIR: folder, ENCRYPTION_KEY: "the encryption key of these tests", ...sandbox });
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  served = { ...product, url: `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}` } as unknown as AnswerProcess;
});
afterAll(async () => {
  expect(await findDisagreements(product.db)).toEqual([]);
  await product.close();
  await models.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  ada = await product.join();
});

let stopTravel: (() => void) | undefined;
/** Moves the business time of this process and of PostgreSQL. */
async function travel(milliseconds: number): Promise<void> {
  stopTravel?.();
  const before = product.deps.clock.now;
  product.deps.clock.now = () => addMilliseconds(before(), milliseconds);
  await product.asOwner(`update business_clock set offset_ms = ${milliseconds}`);
  stopTravel = () => {
    product.deps.clock.now = before;
  };
}
afterEach(async () => {
  stopTravel?.();
  stopTravel = undefined;
  models.pace.milliseconds = 0;
  await product.asOwner("update business_clock set offset_ms = 0");
});

const bearer = ({ access_token }: Session) => ({ authorization: `Bearer ${access_token}` });
const personOf = ({ user, access_token }: Session) => ({ userId: user.id, email: user.email, walletId: "", token: access_token });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];
const remove = (by = ada, email = by.user.email) => product.post("/api/account/deletion", { email }, { headers: bearer(by) });

/** Signs in from a browser of its own, and returns what it was answered. */
async function signIn(email: string) {
  const answer = await product.post("/api/auth/sign-in", { email, password }, { remoteAddress: randomAddress() });
  return { answer, body: answer.json<Session | DeletionPending | FactorNeeded>() };
}
const restore = (token: string, answer: LightMyRequestResponse) =>
  product.post("/api/auth/restore", { token }, { headers: cookiesOf(answer), remoteAddress: randomAddress() });

async function signInPending(email = ada.user.email): Promise<{ answer: LightMyRequestResponse; body: DeletionPending }> {
  const { answer, body } = await signIn(email);
  expect(body).toEqual({ status: "deletion_pending", token: expect.any(String), deleteAt: expect.any(String) });
  return { answer, body: body as DeletionPending };
}

const ownJobs = ["make-export", "delete-file", "delete-files", "align-subscription"];
/** Does the jobs of deletions and exports as the worker does. */
async function runJobs(): Promise<void> {
  const rows = await product.db.selectFrom("outbox").selectAll().where("job", "in", ownJobs).execute();
  for (const { id, job, payload } of rows) await runJob(product.deps, processors, { id, name: job, payload });
}
async function storedFiles(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** The tables with a row that says one of these words anywhere, a day after the last attempt to sign in. */
async function placesOf(...words: string[]): Promise<string[]> {
  await product.asOwner("delete from auth_attempts");
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition and relname not in ('migrations', 'migrations_lock')`.execute(product.db);
  const found: string[] = [];
  for (const { name } of rows) {
    const hit =
      await sql`select from ${sql.table(name)} as t where t::text ilike any (${words.map((word) => `%${word}%`)}::text[]) limit 1`.execute(
        product.db,
      );
    if (hit.rows.length > 0) found.push(name);
  }
  return found.sort();
}

/** The tables whose foreign keys lead to a person, with what a deletion does. */
async function tablesOfPeople(): Promise<{ name: string; by: string; rule: string }[]> {
  const { rows } = await sql<{ name: string; by: string; rule: string }>`
    select k.conrelid::regclass::text as name, a.attname as by, k.confdeltype as rule from pg_constraint k
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
      where k.contype = 'f' and k.confrelid = 'users'::regclass and k.conparentid = 0 order by 1`.execute(product.db);
  return rows;
}

const eraseAll = () => eraseDueAccounts(product.deps, product.deps.clock.now());
const auditOf = async (userId: string) =>
  (
    await product.db
      .selectFrom("audit_people")
      .innerJoin("audit_events", "audit_events.subject", "audit_people.id")
      .select("action")
      .where("user_id", "=", userId)
      .orderBy("audit_events.id")
      .execute()
  ).map(({ action }) => action);

describe("deleting one's account", () => {
  test("needs a factor shown a short while ago, and one's own address typed", async () => {
    expect(codeOf(await remove(ada, "somebody@example.com"))).toEqual([400, "validation_failed"]);
    await product.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
      .where("user_id", "=", ada.user.id)
      .execute();
    expect(codeOf(await remove())).toEqual([403, "step_up_required"]);
    expect((await product.get("/api/account", ada.access_token)).statusCode).toBe(200);
    expect(await product.templatesTo(ada.user.email)).toEqual(["confirm-email"]);
  });

  test("signs out everywhere at once and tells open connections; a device hears that it is to keep nothing", async () => {
    const phone = (await signIn(ada.user.email)).body as Session;
    const told: string[] = [];
    const stop = product.deps.live.subscribe((event) => {
      if (event !== "resync" && event.userId === ada.user.id) told.push(event.table);
    });
    const answer = await remove(ada, ` ${ada.user.email.toUpperCase()} `);
    expect(answer.statusCode).toBe(202);
    expect(Date.parse(answer.json().deleteAt) - Date.now()).toBeGreaterThan(deletionMs - minuteMs);
    for (const { access_token } of [ada, phone]) expect((await product.get("/api/account", access_token)).statusCode).toBe(401);
    const refused = await product.post("/api/auth/refresh", { refresh_token: phone.refresh_token });
    expect([...codeOf(refused), refused.headers["clear-site-data"]]).toEqual([401, "account_deleted", '"cache"']);
    await expect.poll(() => told).toContain("session");
    stop();
    expect(await auditOf(ada.user.id)).toContain("deletion.asked");
  });

  test("mails until when it can be restored, and nothing else is mailed of what goes on", async () => {
    const { deleteAt } = (await remove()).json();
    const mails = product.db.selectFrom("mails").selectAll().where("recipient", "=", ada.user.email).orderBy("id", "desc");
    expect(await mails.executeTakeFirst()).toMatchObject({ template: "account-deleted", parameters: { deleteAt }, user_id: ada.user.id });
  });

  test("hides the picture, deletes exports with their files, and a job that made one keeps none", async () => {
    const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: "teal" } })
      .png()
      .toBuffer();
    const put = { method: "PUT", url: "/api/account/avatar", headers: { ...bearer(ada), "content-type": "image/png" } } as const;
    const { avatarUrl } = (await product.app.inject({ ...put, payload: picture })).json();
    expect((await product.get(avatarUrl)).statusCode).toBe(200);
    await product.post("/api/account/exports", {}, { headers: bearer(ada) });
    await runJobs();
    const before = await storedFiles();
    await remove();
    await runJobs();
    expect((await product.get(avatarUrl)).statusCode).toBe(404);
    expect((await storedFiles()).length).toBe(before.length - 1);
    expect(await product.db.selectFrom("data_exports").select("id").where("user_id", "=", ada.user.id).execute()).toEqual([]);
  });

  test("stops a running answer, which is charged as one that its reader stopped", async () => {
    await grant(ada, 10);
    const begun = await askAndHold(models, served, personOf(ada));
    await remove();
    const row = () =>
      product.db.selectFrom("generations").select(["status", "charged_credits"]).where("id", "=", begun.generationId).executeTakeFirst();
    await expect.poll(row).toEqual({ status: "stopped", charged_credits: 1 });
  });

  test("is refused to the only admin, and of the last two who try at once one stays", async () => {
    const second = await product.join();
    await product.asOwner(`update users set role = 'admin' where id in ('${ada.user.id}', '${second.user.id}')`);
    const answers = await Promise.all([remove(ada), remove(second)]);
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([202, 409]);
    expect(answers.find((answer) => answer.statusCode === 409)?.json().code).toBe("last_admin");
    await product.asOwner("update users set role = 'user'");
  });
});

/** An adjustment, as an admin grants it. */
async function grant({ user }: Session, credits: number): Promise<void> {
  await product.asOwner(
    `select ledger_post_grant(w.id, 'adjustment', ${credits}, now() + interval '1 year', 'test:${randomUUID()}', now()) from wallets w where w.billing_account_id = payer_of('${user.id}')`,
  );
}

describe("for 14 days", () => {
  test("the right password opens nothing before its owner says that they want the account back", async () => {
    await remove();
    const { answer, body } = await signInPending();
    const live = product.db.selectFrom("auth_sessions").select("id").where("user_id", "=", ada.user.id).where("revoked_at", "is", null);
    expect(await live.execute()).toEqual([]);
    expect((await product.get("/api/account", body.token)).statusCode).toBe(401);
    const restored = await restore(body.token, answer);
    expect(restored.statusCode).toBe(200);
    expect((await product.get("/api/account", restored.json<Session>().access_token)).json()).toMatchObject({ email: ada.user.email });
    expect((await product.templatesTo(ada.user.email)).slice(-2)).toEqual(["account-deleted", "account-restored"]);
    expect((await auditOf(ada.user.id)).slice(-3)).toEqual(["deletion.asked", "deletion.undone", "sign_in.completed"]);
    // The sessions from before stay ended.
    expect((await product.get("/api/account", ada.access_token)).statusCode).toBe(401);
    await travel(deletionMs + dayMs);
    await eraseAll();
    expect((await signIn(ada.user.email)).body).toHaveProperty("access_token");
  });

  test("the token of the decision works once, in its own browser, for ten minutes, and for no other step", async () => {
    await remove();
    const { answer, body } = await signInPending();
    const elsewhere = await signInPending();
    expect(codeOf(await restore(body.token, elsewhere.answer))).toEqual([401, "sign_in_expired"]);
    const asCode = await product.post("/api/auth/factor", { token: body.token, code: "123456" }, { headers: cookiesOf(answer) });
    expect(codeOf(asCode)).toEqual([401, "sign_in_expired"]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * minuteMs });
    expect(codeOf(await restore(body.token, answer))).toEqual([401, "sign_in_expired"]);
    vi.useRealTimers();
    expect((await restore(body.token, answer)).statusCode).toBe(200);
    expect(codeOf(await restore(body.token, answer))).toEqual([401, "sign_in_expired"]);
  });

  test("a second factor is asked for first", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Math.floor(Date.now() / 30_000) * 30_000 + 15_000 });
    const begun = (await product.post("/api/account/factors/totp", {}, { headers: bearer(ada) })).json<TotpSetUp>();
    const codeAt = (timestamp: number) => new TOTP({ secret: Secret.fromBase32(begun.secret) }).generate({ timestamp });
    const confirm = { setUp: begun.setUp, code: codeAt(Date.now()) };
    expect((await product.post("/api/account/factors/totp/confirm", confirm, { headers: bearer(ada) })).statusCode).toBe(200);
    await remove();
    const { answer, body } = await signIn(ada.user.email);
    const { token } = body as FactorNeeded;
    expect(codeOf(await restore(token, answer))).toEqual([401, "sign_in_expired"]);
    const shown = await product.post("/api/auth/factor", { token, code: codeAt(Date.now() + 30_000) }, { headers: cookiesOf(answer) });
    expect(shown.json()).toMatchObject({ status: "deletion_pending" });
    const restored = await restore(shown.json<DeletionPending>().token, shown);
    expect(restored.statusCode).toBe(200);
    const activity = await product.get("/api/account/activity", restored.json<Session>().access_token);
    expect(activity.json().events[0]).toMatchObject({ action: "sign_in.completed", details: { factor: "password", second: "totp" } });
    vi.useRealTimers();
  });

  test("a stranger is answered as about any other address, and a new password leads to the same question", async () => {
    await remove();
    const unknown = `nobody-${randomUUID()}@example.com`;
    for (const [call, more] of [
      ["sign-in", { password: "another 4 password" }],
      ["sign-up", { password }],
      ["recover", {}],
      ["resend-confirmation", {}],
    ] as const) {
      const about = async (email: string) => {
        const answer = await product.post(`/api/auth/${call}`, { email, ...more }, { remoteAddress: randomAddress() });
        return [answer.statusCode, answer.json()];
      };
      expect(await about(ada.user.email)).toEqual(await about(unknown));
    }
    expect((await product.templatesTo(ada.user.email)).slice(2)).toEqual(["account-exists", "password-reset", "account-exists"]);
    expect(await product.db.selectFrom("users").select("id").where("id", "=", ada.user.id).execute()).toHaveLength(1);
  });

  test("the right password of a session that began to open at the same moment opens none", async () => {
    const [removed, opened] = await Promise.all([remove(), signIn(ada.user.email)]);
    expect(removed.statusCode).toBe(202);
    const token = "access_token" in opened.body ? opened.body.access_token : opened.body.token;
    expect((await product.get("/api/account", token)).statusCode).toBe(401);
  });
});

/** Inserts a row of every kind that refers to the person; texts that a person writes contain `words`. */
async function live(session: Session, words: string): Promise<void> {
  const { db } = product;
  const { user } = session;
  const now = new Date();
  await grant(session, 20);
  await product.app.inject({ method: "PATCH", url: "/api/account", headers: bearer(session), payload: { name: words.slice(0, 60) } });
  const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
  await product.app.inject({
    method: "PUT",
    url: "/api/account/avatar",
    headers: { ...bearer(session), "content-type": "image/png" },
    payload: picture,
  });
  await ask(served, personOf(session), { prompt: words });
  await product.app.inject({
    method: "POST",
    url: `/api/files?name=${encodeURIComponent(words)}`,
    headers: bearer(session),
    payload: words,
    remoteAddress: randomAddress(),
  });
  await db
    .insertInto("clip_jobs")
    .values(({ selectFrom }) => ({
      generation_id: selectFrom("generations").select("id").where("user_id", "=", user.id).limit(1),
      ...{ user_id: user.id, prompt: words },
    }))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const letter = { name: "Ada", category: "support", subject: "A question", message: words };
  const write = (headers: Record<string, string>, email: string) =>
    product.post(
      "/api/contact",
      { ...letter, email },
      { headers: { ...headers, "idempotency-key": randomUUID() }, remoteAddress: randomAddress() },
    );
  const sent = await write(bearer(session), user.email);
  expect(sent.statusCode).toBeLessThan(300);
  const did = { actor_id: user.id, at: now };
  const answer = { key: randomUUID(), subject: "Answer", body: words, mail_id: randomUUID() };
  // A team member had a message of another person's, too, which stays.
  const stranger = { name: "Eve", email: `stranger-${randomUUID()}@example.com`, language: "en", message: "Of a stranger" };
  const { id: others } = await db
    .insertInto("contact_messages")
    .values({
      ...stranger,
      category: "bug",
      idempotency_key: randomUUID(),
      content_hash: randomBytes(32),
      user_id: null,
      subject: null,
      created_at: now,
      owner_id: user.id,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("contact_events")
    .values([
      { ...did, message_id: sent.json().id, kind: "answered", ...answer },
      { ...did, message_id: others, kind: "owner", owner_id: user.id },
    ])
    .execute();
  // Without an account as well, from the same address.
  await write({}, user.email.toUpperCase());
  await product.post("/api/auth/recover", { email: user.email }, { remoteAddress: randomAddress() });
  const change = { name: randomUUID(), value: "1", version: 1, changed_at: now, changed_by: user.id, reason: "As one of the team" };
  await db.insertInto("settings").values(change).execute();
  const view = { list: "inbox", name: words.slice(0, 40), search: "status=open" };
  await db
    .insertInto("saved_views")
    .values({ ...view, user_id: user.id, created_at: now })
    .execute();
  const until = { offered_at: now, expires_at: now };
  await db
    .insertInto("transfer_offers")
    .values({ user_id: user.id, price_id: "enterprise_month", days_until_due: 14, ...until, order_id: null })
    .execute();
  await db
    .insertInto("checkouts")
    .values({ user_id: user.id, price_id: "x", stripe_session_id: null, url: null, expires_at: now, created_at: now })
    .execute();
  await db
    .insertInto("user_subscriptions")
    .values({
      ...{ user_id: user.id, plan_key: "starter", billing_interval: "month", status: "canceled", stripe_subscription_id: `sub_${user.id}` },
      ...{ current_period_start: now, current_period_end: now, grace_until: null, started_at: now, ended_at: now, updated_at: now },
    })
    .execute();
  await db
    .insertInto("spending_limits")
    .values({ user_id: user.id, daily_cap_credits: 100, ask_above_credits: 5, day: now, day_credits: 1 })
    .execute();
  const access = { asked_at: now, given_at: now, until: addMilliseconds(now, dayMs), ended_at: null };
  await db
    .insertInto("put_off_needs")
    .values([
      { kind: "holds", entry: uuidv7(), user_id: user.id, until: now, put_off_by: null, reason: words, created_at: now },
      { kind: "holds", entry: uuidv7(), user_id: null, until: now, put_off_by: user.id, reason: "Looked at it", created_at: now },
    ])
    .execute();
  await db
    .insertInto("support_access")
    .values({ user_id: user.id, ...access })
    .execute();
  await db
    .insertInto("refused_sends")
    .values({ user_id: user.id, refused_at: [now] })
    .execute();
  await db
    .insertInto("pending_sign_ins")
    .values({ id: uuidv7(), user_id: user.id, factor: "password", created_at: now, expires_at: now, used_at: null })
    .execute();
  const passkey = { credential_id: randomBytes(16), public_key: randomBytes(32), counter: 0, transports: [], backed_up: true };
  await db
    .insertInto("passkeys")
    .values({ ...passkey, user_id: user.id, device_type: "multiDevice", name: "Ada’s phone", created_at: now, last_used_at: null })
    .execute();
  await db
    .insertInto("factor_resets")
    .values({ id: uuidv7(), user_id: user.id, asked_at: now, due_at: now, mailed_at: null, ended_at: null, ending: null })
    .execute();
  await product.post("/api/billing/trial", {}, { headers: bearer(session) });
  await db
    .insertInto("google_answers")
    .values({ id: uuidv7(), subject: randomUUID(), email: user.email, user_id: user.id, created_at: now, expires_at: now, used_at: null })
    .execute();
  const { id: mailId } = await db.selectFrom("mails").select("id").where("recipient", "=", user.email).limit(1).executeTakeFirstOrThrow();
  const failure = {
    job: "send-mail",
    payload: JSON.stringify({ mailId }),
    error: `550 <${user.email}> unknown`,
    attempts: 1,
    replayed_at: null,
  };
  await db
    .insertInto("dead_letters")
    .values({ id: uuidv7(), ...failure })
    .execute();
  const act = { actor: null, subject: user.id, network: null, reason: words };
  await recordAct(db, { ...act, action: "role.taken", details: { role: "support" } });
  await product.asOwner(`insert into data_exports (user_id, asked_at) values ('${user.id}', now())`);
}

/** Pretends that the person deleted their account 14 days ago. */
const timeIsOver = ({ user }: Session) =>
  product.db
    .updateTable("users")
    .set({ delete_at: new Date(Date.now() - minuteMs) })
    .where("id", "=", user.id)
    .execute();

/** The same, and their exports were left alone. */
const leaveNow = async ({ user }: Session) => {
  const exports = await product.db.selectFrom("data_exports").selectAll().where("user_id", "=", user.id).execute();
  await remove();
  for (const { id, asked_at } of exports) await product.db.insertInto("data_exports").values({ id, user_id: user.id, asked_at }).execute();
  await timeIsOver({ user } as Session);
};

describe("after 14 days", () => {
  test("it can't be restored, and the password is wrong", async () => {
    await remove();
    const { answer, body } = await signInPending();
    await travel(deletionMs + minuteMs);
    expect(codeOf(await restore(body.token, answer))).toEqual([401, "sign_in_expired"]);
    expect(codeOf((await signIn(ada.user.email)).answer)).toEqual([401, "invalid_credentials"]);
  });

  test("nothing in any table leads to the person; ledger and receipts stay; the address begins a new account", async () => {
    const words = `the secret of ${randomUUID()}`;
    const files = await storedFiles();
    await live(ada, words);
    const tables = await tablesOfPeople();
    for (const { name, by } of tables) {
      const rows = await sql`select from ${sql.table(name)} where ${sql.ref(by)} = ${ada.user.id}`.execute(product.db);
      expect(rows.rows.length, `this test has to write a row of ${name} that names the person`).toBeGreaterThan(0);
    }
    const wallet = await sql<{ id: string }>`select id from wallets where billing_account_id = payer_of(${ada.user.id})`.execute(
      product.db,
    );
    const kept = async () => {
      const { rows } = await sql`select t.kind, e.amount from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
        where t.wallet_id = ${wallet.rows[0]?.id} order by t.id, e.line`.execute(product.db);
      return rows;
    };
    const before = await kept();
    expect(before.length).toBeGreaterThan(2);
    await leaveNow(ada);
    await runJobs();
    expect(await eraseAll()).toBeGreaterThan(0);
    await runJobs();
    // Those of the picture wait for their sweep.
    expect((await storedFiles()).filter((name) => !/^(small|large)-/.test(name) && !files.includes(name))).toEqual([]);

    expect(await placesOf(ada.user.id, ada.user.email, words)).toEqual([]);
    expect(await kept()).toEqual(before);
    const receipts = await sql<{
      user_id: string | null;
      charged: number;
      request_hash: Buffer;
    }>`select g.user_id, charged_credits as charged, request_hash
      from generations g join wallets w on w.billing_account_id = g.payer_id where w.id = ${wallet.rows[0]?.id}`.execute(product.db);
    expect(receipts.rows).toEqual([{ user_id: null, charged: 1, request_hash: Buffer.alloc(0) }]);
    expect(await findDisagreements(product.db)).toEqual([]);
    const last = await product.db.selectFrom("audit_events").selectAll().orderBy("id", "desc").limit(1).executeTakeFirst();
    expect(last).toMatchObject({ action: "account.deleted", actor: last?.subject });
    const again = await product.join(ada.user.email);
    expect(again.user.id).not.toBe(ada.user.id);
  });

  test("every table that names a person is emptied with them, or stays without them on purpose", async () => {
    const stay = (await tablesOfPeople()).filter(({ rule }) => rule !== "c");
    // account_erase deletes messages and mails and unlinks receipts; team members' acts stay; the worker deletes pictures' files and rows.
    expect(stay.map(({ name, rule }) => [name, rule])).toEqual(
      [
        "avatars",
        "contact_events",
        "contact_events",
        "contact_messages",
        "contact_messages",
        "generations",
        "mails",
        "put_off_needs",
        "settings",
      ].map((name) => [name, "n"]),
    );
    const { rows } =
      await sql`select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname in ('user_id', 'person_id')
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and not exists (
        select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confrelid = 'users'::regclass)`.execute(product.db);
    expect(rows).toEqual([]);
  });

  test("nobody is touched whose time is not over, or who has not deleted their account", async () => {
    const stays = await product.join();
    await remove();
    await travel(deletionMs - minuteMs);
    for (const { user } of [stays, ada]) expect(await eraseBatch(product.db, user.id, 100)).toBe(0);
    await eraseAll();
    const people = product.db.selectFrom("users").select("id").where("id", "in", [stays.user.id, ada.user.id]);
    expect(await people.execute()).toHaveLength(2);
  });

  test("a deletion that is broken off after any batch goes on where it was", async () => {
    await live(ada, "words");
    await leaveNow(ada);
    await runJobs();
    await forgetMailErrors(product.db, ada.user.id);
    let batches = 0;
    for (;;) {
      const done = await eraseBatch(product.db, ada.user.id, 1);
      batches += 1;
      expect(done).toBeLessThanOrEqual(20);
      if (done === 0) break;
    }
    expect(batches).toBeGreaterThan(12);
    expect(await placesOf(ada.user.id, ada.user.email)).toEqual([]);
  });
});

const size = full ? { messages: 10_000, files: 500 } : { messages: 600, files: 30 };

test(`an account with ${size.messages} messages and ${size.files} files is exported and deleted, no batch of more than a hundred rows`, async () => {
  const { db } = product;
  // One long conversation, many short ones, and answers beside them.
  await grant(ada, 10);
  await ask(served, personOf(ada), { prompt: "the last words" });
  await sql`insert into conversations (id, user_id, title, created_at, updated_at)
    select uuidv7(), ${ada.user.id}, 'one of many', now(), now() from generate_series(1, ${size.messages / 20})`.execute(db);
  await sql`insert into messages (conversation_id, role, content, created_at)
    select id, 'user', repeat(md5(i::text), 30), now() from conversations c cross join generate_series(1, 10) i where user_id = ${ada.user.id} and title = 'one of many'`.execute(
    db,
  );
  const { conversation_id: long } = await db
    .insertInto("messages")
    .values((e) => ({
      conversation_id: e
        .selectFrom("conversations")
        .select("id")
        .where("user_id", "=", ada.user.id)
        .where("title", "=", "one of many")
        .limit(1),
      parent_id: null,
      role: "user",
      generation_id: null,
      content: "first",
      created_at: new Date(),
    }))
    .returning("conversation_id")
    .executeTakeFirstOrThrow();
  // A chain, in which each message follows the one before.
  await sql`insert into messages (id, conversation_id, parent_id, role, content, created_at)
    select ids[i], ${long}, ids[i - 1], 'user', repeat(md5(i::text), 30), now()
      from (select array_agg(uuidv7(make_interval(secs => i))) as ids from generate_series(1, ${size.messages / 2}) i) as made,
        generate_series(1, ${size.messages / 2}) i`.execute(db);
  const contents = new Map<string, string>();
  for (let index = 0; index < size.files; index += 1) {
    const [kind, text] = [index % 2 === 0 ? "attachment" : "output", randomBytes(1_000 + index * 40).toString("hex")] as const;
    const { id: fileId, name } = await storeFile(product.deps, { userId: ada.user.id, kind, name: `file ${index}` }, Buffer.from(text));
    contents.set(`files/${fileId}-${name}`, text);
  }

  const { id } = await db
    .insertInto("data_exports")
    .values({ user_id: ada.user.id, asked_at: new Date() })
    .returning("id")
    .executeTakeFirstOrThrow();
  await makeExport(product.deps, id);
  const file = await product.app.inject({ method: "GET", url: `/api/account/exports/${id}/file`, headers: bearer(ada) });
  const exported = readZip(file.rawPayload);
  const messages: unknown[] = JSON.parse(exported.get("messages.json") ?? "[]");
  expect(messages.length).toBeGreaterThan(size.messages);
  const names = JSON.parse(exported.get("files.json") ?? "[]").map((row: { file: string }) => row.file);
  expect(names.toSorted()).toEqual([...contents.keys()].toSorted());
  for (const [name, text] of contents) expect(exported.get(name) === text, name).toBe(true);

  // Those of earlier tests.
  await runJobs();
  const before = (await storedFiles()).length;
  await remove();
  await runJobs();
  // The export went at once; the files go with the account.
  expect(before - (await storedFiles()).length).toBe(1);
  await timeIsOver(ada);
  const took: number[] = [];
  for (let done = 1; done > 0; ) {
    const startedAt = performance.now();
    done = await eraseBatch(product.db, ada.user.id, 100);
    took.push(performance.now() - startedAt);
    expect(done).toBeLessThanOrEqual(100);
  }
  // A batch ends while nobody has noticed it; the worker's batches begin with ten rows and shrink when one takes longer than 20 ms.
  const median = took.toSorted((one, other) => one - other)[Math.floor(took.length / 2)];
  if (full) expect(median).toBeLessThan(100);
  await runJobs();
  expect(before - (await storedFiles()).length).toBe(size.files + 1);
  expect(await placesOf(ada.user.id, ada.user.email, "the last words")).toEqual([]);
}, 120_000);
