/** People in the admin panel: how they are found, what the team sees of them, and what admins do for them. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { InvoiceRow } from "#contract/admin/invoices.ts";
import type { MailRow, PersonPage, PersonRow } from "#contract/admin/people.ts";
import type { AuditRow } from "#contract/admin/team.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { adjustments } from "#domain/adjustments.ts";
import { dayMs, hourMs } from "#domain/clock.ts";
import type { Role } from "#domain/team.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { byName } from "#server/features/admin/people-table.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson, subscribe } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
let admin: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(async () => {
  expect(await findDisagreements(product.db)).toEqual([]);
  await product.close();
});
beforeEach(async () => {
  [admin, person] = [await personAs("admin"), await createPerson(product, product.db)];
});

async function personAs(role: Role): Promise<TestPerson> {
  const one = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role }).where("id", "=", one.userId).execute();
  return one;
}
const headersOf = ({ token }: TestPerson) => ({ authorization: `Bearer ${token}` });
const get = (url: string, reader = admin) => product.app.inject({ url: `/api/admin/${url}`, headers: headersOf(reader) });
const act = (url: string, body: object = {}, clerk = admin) =>
  product.app.inject({
    method: "POST",
    url: `/api/admin/people/${person.userId}/${url}`,
    headers: headersOf(clerk),
    payload: { reason: "They wrote to us", ...body },
  });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.body && answer.json().code];
const pageOf = async (reader = admin) => (await get(`people/${person.userId}`, reader)).json<PersonPage>();
const balance = async () => (await pageOf()).wallet.balance;
const find = async (search: string) =>
  (await get(`people?search=${encodeURIComponent(search)}`)).json<{ rows: PersonRow[] }>().rows.map(({ id }) => id);
async function logged(): Promise<Partial<AuditRow>[]> {
  const { rows } = (await get(`audit?about=${encodeURIComponent(person.email)}`)).json<{ rows: AuditRow[] }>();
  return rows.map(({ action, details, reason, actorId }) => ({ action, details, ...(reason && { reason, actorId }) }));
}
const entry = (action: string, details: object = {}) => ({ action, details, reason: "They wrote to us", actorId: admin.userId });

test("a person is found by address, name, id and what Stripe calls their account, plan, invoice and checkout, and an invoice's number; wildcards are text", async () => {
  const { db } = product;
  await db
    .updateTable("users")
    .set({ name: `Ada_${person.userId} Lovelace` })
    .where("id", "=", person.userId)
    .execute();
  const payerId = await payerIdOf(db, person.userId);
  const customer = `cus_${person.userId.replaceAll("-", "")}`;
  await db.updateTable("billing_accounts").set({ stripe_customer_id: customer }).where("id", "=", payerId).execute();
  const former = `${customer}former`;
  await db
    .insertInto("former_customers")
    .values({ stripe_customer_id: former, billing_account_id: payerId, retired_at: new Date() })
    .execute();
  await subscribe(db, person.userId, "starter");
  const number = `N${person.userId.slice(-12).toUpperCase()}-0001`;
  const [now, session] = [new Date(), `cs_${payerId}`.replaceAll("-", "")];
  const figures = { total_cents: 1999, unpaid_cents: 0, refunded_cents: 0, status: "paid" as const, failed: false, needs_action: false };
  const sold = { plan_key: null, billing_interval: null, pack_key: null, period_start: null, period_end: null };
  await db
    .insertInto("invoices")
    .values({
      id: `in_${number}`,
      billing_account_id: payerId,
      number,
      stripe_subscription_id: null,
      ...figures,
      ...sold,
      issued_at: now,
      updated_at: now,
    })
    .execute();
  await db
    .insertInto("checkouts")
    .values({ user_id: person.userId, price_id: "x", stripe_session_id: session, url: null, expires_at: now, created_at: now })
    .execute();
  const billing = [customer, former, session, number, number.toLowerCase(), `${number}-CN-01`];
  for (const search of [person.email.slice(0, -3), person.email.toUpperCase(), `ada_${person.userId}`, person.userId, payerId, ...billing])
    expect([search, await find(search)]).toEqual([search, [person.userId]]);
  for (const search of ["%", `ada%${person.userId}`, randomUUID(), "cus_unknown", "in_unknown", "ch_unknown", "sub_unknown"])
    expect([search, await find(search)]).toEqual([search, []]);
});

test("a person is found by the beginning of any word of their name, also behind a hyphen, and by several words", async () => {
  const own = randomUUID().slice(0, 8);
  const named = async (name: string) => {
    const { userId } = await createPerson(product, product.db);
    await product.db.updateTable("users").set({ name }).where("id", "=", userId).execute();
    return userId;
  };
  const maria = await named(`Maria-José del ${own}ópez Vega${own} ${own}`);
  const other = await named(`Vega${own}`);
  for (const search of [`${own}óp`, `${own.toUpperCase()}óPE`, `josé del ${own}`, `${own}ópez Vega`, own])
    expect([search, await find(search)]).toEqual([search, [maria]]);
  // Each person is found once, however many of their words begin like this. The middle of a word does not count.
  expect((await find(`vega${own}`)).sort()).toEqual([maria, other].sort());
  expect(await find(`ega${own}`)).toEqual([]);
});

test("every word of a name is looked for by an index, in the order of the alphabet", async () => {
  const { rows } = await sql<{ definition: string }>`select pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = 'users'::regclass`.execute(product.db);
  const indexes = rows.map(({ definition }) => definition);
  for (const before of [1, 2, 3, 4, 5])
    expect(indexes.filter((each) => each.includes(`{${before}}`) && each.includes("text_pattern_ops"))).toHaveLength(1);
  await inTransaction(product.db, async (trx) => {
    await sql`set local enable_seqscan = off`.execute(trx);
    await sql`set local enable_bitmapscan = off`.execute(trx);
    const plan = await sql<{ "QUERY PLAN": string }>`explain ${byName("ma%", 250)}`.execute(trx);
    const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    for (const index of ["users_name ", ...[2, 3, 4, 5, 6].map((word) => `users_name_from_${word} `)]) expect(text).toContain(index);
    expect(text).not.toContain("Seq Scan");
  });
});

test("a search that more people match than are looked through says so", async () => {
  const start = `many${randomUUID().slice(0, 8)}`;
  await product.asOwner(`with made as (insert into users (created_at) select now() from generate_series(1, 251) returning id)
    insert into identities (user_id, kind, subject, verified_at, created_at)
    select id, 'email', '${start}' || row_number() over () || '@example.com', now(), now() from made`);
  const cut = async (search: string) => {
    const { rows, isCut } = (await get(`people?search=${search}&sort=email&order=asc&limit=100`)).json();
    return [rows.length, isCut];
  };
  expect(await cut(start)).toEqual([100, true]);
  expect(await cut(`${start}25`)).toEqual([3, false]);
  const { rows } = (await get(`people?search=${start}&sort=email&order=desc&limit=1`)).json();
  // The search sorts only those that it looks through, and they are the first by the alphabet.
  expect(rows[0].email).toBe(`${start}99@example.com`);
});

test("support sees the person without money; nobody sees what was written", async () => {
  await subscribe(product.db, person.userId, "starter");
  const page = await pageOf();
  expect(page).toMatchObject({
    person: { id: person.userId, email: person.email, plan: "starter", credits: 100 },
    wallet: { balance: 100, grants: [{ kind: "adjustment" }] },
    sessions: [{ current: false }],
    money: { leftToGive: adjustments.mostADay, invoices: [] },
  });
  const support = await personAs("support");
  expect(await pageOf(support)).toMatchObject({ person: { email: person.email }, money: null });
  const lines = async (query: string) => (await get(`people/${person.userId}/ledger${query}`, support)).json().lines;
  expect([await lines("?direction=in"), await lines("?direction=out")]).toMatchObject([[{ kind: "grant", credits: 100 }], []]);
  const [head, line, ...others] = (await get(`people/${person.userId}/ledger.csv?kind=grant`, support)).body.trim().split("\r\n");
  expect([head, line, others]).toEqual([expect.stringContaining("time,kind,grant"), expect.stringContaining(",grant,adjustment,"), []]);
  for (const url of ["ledger", "explanation", "answers", "mails"])
    expect((await get(`people/${person.userId}/${url}`, support)).statusCode).toBe(200);
  expect(codeOf(await get(`people/${randomUUID()}`))).toEqual([404, "not_found"]);
});

test("admins list all of a person's invoices, newest first, by state and as CSV, a page at a time; support sees none", async () => {
  const payer = await payerIdOf(product.db, person.userId);
  const states = {
    paid: { status: "paid" },
    refunded: { status: "paid", refunded_cents: 1_999 },
    open: { status: "open" },
    failed: { status: "open", failed: true },
    action: { status: "open", failed: true, needs_action: true },
    void: { status: "void" },
    uncollectible: { status: "uncollectible" },
  } as const;
  const row = (index: number, state: object) => ({
    ...{ id: `in_${randomUUID()}`, billing_account_id: payer, number: `T-${index}`, stripe_subscription_id: null },
    ...{ plan_key: "starter", billing_interval: "month" as const, pack_key: null, total_cents: 1_999, refunded_cents: 0, unpaid_cents: 0 },
    ...{ period_start: new Date(), period_end: new Date(), failed: false, needs_action: false, due_at: null, updated_at: new Date() },
    issued_at: new Date(Date.now() - index * dayMs),
    status: "paid" as const,
    ...state,
  });
  await product.db
    .insertInto("invoices")
    .values(Object.values(states).map((state, index) => row(index, state)))
    .execute();
  const list = async (query = "") =>
    (await get(`people/${person.userId}/invoices${query}`)).json<{ rows: InvoiceRow[]; nextCursor: string }>();
  const first = await list("?limit=4");
  const rest = await list(`?limit=4&cursor=${first.nextCursor}`);
  expect([...first.rows, ...rest.rows].map(({ state }) => state)).toEqual(Object.keys(states));
  expect([first.rows.length, rest.nextCursor]).toEqual([4, null]);
  expect(first.rows[0]).toMatchObject({
    number: "T-0",
    plan: "starter",
    interval: "month",
    packCredits: null,
    totalCents: 1_999,
    taxCents: null,
  });
  for (const state of Object.keys(states)) expect((await list(`?state=${state}`)).rows.map((found) => found.state)).toEqual([state]);
  const [head, ...lines] = (await get(`people/${person.userId}/invoices.csv?order=asc`)).body.trim().split("\r\n");
  expect(head).toContain("number,issuedAt,plan,interval,packCredits,totalCents,taxCents,refundedCents,state");
  expect(lines.map((line) => line.split(",")[1])).toEqual(Object.keys(states).map((_state, index) => `"T-${6 - index}"`));
  // The person's page has the latest.
  expect((await pageOf()).money?.invoices.map(({ number }) => number)).toEqual(["T-0", "T-1", "T-2", "T-3", "T-4"]);
  const support = await personAs("support");
  for (const url of ["invoices", "invoices.csv"]) expect((await get(`people/${person.userId}/${url}`, support)).statusCode).toBe(404);
});

test("credits are given once for a key, with a reason on the log, and up to a limit a day however many are given at once", async () => {
  const given = { credits: 500, days: 30, key: randomUUID() };
  const answers = await Promise.all([act("credits", given), act("credits", given)]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204]);
  expect(await balance()).toBe(600);
  expect(await logged()).toEqual([entry("credits.given", { credits: 500, days: 30 })]);
  for (const other of [{ credits: 501 }, { days: 90 }])
    expect(codeOf(await act("credits", { ...given, ...other }))).toEqual([409, "idempotency_conflict"]);
  expect(codeOf(await act("credits", { ...given, key: randomUUID(), credits: adjustments.mostAtOnce + 1 }))).toEqual([
    400,
    "validation_failed",
  ]);
  const most = () => act("credits", { credits: adjustments.mostAtOnce, days: 90, key: randomUUID() });
  const many = await Promise.all([most(), most(), most()]);
  expect(many.map(({ statusCode }) => statusCode).sort()).toEqual([204, 204, 403]);
  expect(many.flatMap((answer) => (answer.body ? [answer.json().code] : []))).toEqual(["adjustment_limit"]);
  expect(await balance()).toBe(20_600);
  expect((await pageOf()).money?.leftToGive).toBe(4_500);
  // Another admin has a day of their own.
  expect((await act("credits", { credits: 5_000, days: 365, key: randomUUID() }, await personAs("admin"))).statusCode).toBe(204);
});

test("what was given is taken back while it is unspent, once for a key, and never becomes a debt", async () => {
  await act("credits", { credits: 50, days: 30, key: randomUUID() });
  const grantId = (await pageOf()).wallet.grants.find(({ credits }) => credits === 50)?.id;
  const hold = {
    holdId: randomUUID(),
    userId: person.userId,
    credits: 40,
    kinds: ["adjustment" as const],
    holdMs: hourMs,
    now: new Date(),
  };
  await inTransaction(product.deps.db, (trx) => holdForSeveral(trx, hold));
  const take = (credits: number, body: object = {}) => act("credits/take", { grantId, credits, key: randomUUID(), ...body });
  expect((await take(11)).json()).toMatchObject({ code: "insufficient_credits", needed: 11, available: 10 });
  const key = randomUUID();
  expect((await take(6, { key })).statusCode).toBe(204);
  expect((await take(6, { key })).statusCode).toBe(204);
  // A second press with another number must not be answered as if that number had been taken.
  expect(codeOf(await take(2, { key }))).toEqual([409, "idempotency_conflict"]);
  expect(await balance()).toBe(144);
  expect((await take(4)).statusCode).toBe(204);
  expect(codeOf(await take(1))).toEqual([402, "insufficient_credits"]);
  expect((await logged()).slice(0, 2)).toEqual([entry("credits.taken", { credits: 4 }), entry("credits.taken", { credits: 6 })]);
  const stranger = await createPerson(product, product.db);
  const theirs = await product.db.selectFrom("grants").select("id").where("wallet_id", "=", stranger.walletId).executeTakeFirstOrThrow();
  expect(codeOf(await take(1, { grantId: theirs.id }))).toEqual([404, "not_found"]);
});

test("a ban ends the sign-ins and holds until it is lifted; the second of two admins is told; nobody bans themselves", async () => {
  const member = await product.join();
  person = { ...person, userId: member.user.id, email: member.user.email, token: member.access_token };
  expect(codeOf(await act("unban"))).toEqual([409, "conflict"]);
  expect((await act("ban")).statusCode).toBe(204);
  expect(codeOf(await act("ban"))).toEqual([409, "conflict"]);
  expect((await product.get("/api/account", person.token)).statusCode).toBe(401);
  expect((await product.signIn(person.email, password)).statusCode).toBe(401);
  expect((await get("people?state=banned")).json().rows.map(({ id }: PersonRow) => id)).toContain(person.userId);
  expect((await act("unban")).statusCode).toBe(204);
  expect((await product.signIn(person.email, password)).statusCode).toBe(200);
  expect((await act("sign-out")).statusCode).toBe(204);
  expect((await pageOf()).sessions).toEqual([]);
  const acts = (await logged()).filter(({ reason }) => reason);
  const ended = entry("session.ended", { reason: "by_operator", sessions: 1 });
  expect(acts).toEqual([ended, entry("account.unbanned"), entry("account.banned")]);
  person = admin;
  expect(codeOf(await act("ban"))).toEqual([409, "own_account"]);
});

test("an account that was taken over goes back to its earlier address, without what was added since a day; its owner chooses a new password", async () => {
  const [email, theirs] = [`owner-${randomUUID()}@example.com`, `thief-${randomUUID()}@example.com`];
  const { user } = await product.join(email);
  const thief = (await product.signIn(email)).json<Session>();
  const as = { headers: { authorization: `Bearer ${thief.access_token}` } };
  const [today, older] = [new Date(), new Date(Date.now() - 3 * dayMs)];
  const key = (name: string, at: Date) => ({
    ...passkey,
    user_id: user.id,
    name,
    created_at: at,
    credential_id: Buffer.from(randomUUID()),
  });
  const passkey = { public_key: Buffer.from("key"), counter: 0, transports: [], device_type: "singleDevice" as const, backed_up: false };
  const rows = [key("theirs", today), key("the owner's", older)].map((row) => ({ ...row, last_used_at: null }));
  await product.db.insertInto("passkeys").values(rows).execute();
  const google = {
    user_id: user.id,
    kind: "google" as const,
    subject: randomUUID(),
    shown_as: theirs,
    verified_at: today,
    created_at: today,
  };
  await product.db.insertInto("identities").values(google).execute();
  const asked = await product.post("/api/account/email", { email: theirs }, as);
  const tokenOf = async (to: string, template: string) => {
    const sent = product.db.selectFrom("mails").select("parameters").where("recipient", "=", to).where("template", "=", template);
    return linkToken(product.config, String((await sent.executeTakeFirst())?.parameters.linkId));
  };
  const here = { headers: cookiesOf(asked) };
  await product.post("/api/auth/confirm-email-change", { token: await tokenOf(theirs, "email-change-confirm") }, here);

  person = { ...person, userId: user.id, email };
  const page = (await pageOf()).takenOver;
  expect([page.earlierEmail, page.ways.map(({ kind }) => kind)]).toEqual([email, ["passkey", "google", "passkey"]]);
  const since = today.toISOString().slice(0, 10);
  expect((await act("give-back", { since })).statusCode).toBe(204);
  expect((await product.get("/api/account", thief.access_token)).statusCode).toBe(401);
  const left = await product.db.selectFrom("passkeys").select("name").where("user_id", "=", user.id).execute();
  expect([left, (await pageOf()).takenOver.earlierEmail]).toEqual([[{ name: "the owner's" }], null]);
  for (const address of [email, theirs]) expect(codeOf(await product.signIn(address))).toEqual([401, "invalid_credentials"]);
  const chosen = { token: await tokenOf(email, "account-given-back"), password: "owned again 1" };
  expect((await product.post("/api/auth/reset-password", chosen)).statusCode).toBe(200);
  expect((await product.signIn(email, chosen.password)).json<Session>().user).toMatchObject({ id: user.id, email });
  expect(await product.templatesTo(theirs)).not.toContain("account-given-back");
  const details = { sessions: 2, removed: 2, addressRestored: true };
  expect(await logged()).toContainEqual(entry("account.given_back", details));
});

test("giving back is for others' accounts that can sign in, is mailed a bounded number of times, and removes nothing without a day", async () => {
  const passkey = { public_key: Buffer.from("key"), counter: 0, transports: [], device_type: "singleDevice" as const, backed_up: false };
  const row = { ...passkey, user_id: person.userId, name: "kept", created_at: new Date(), last_used_at: null };
  await product.db
    .insertInto("passkeys")
    .values({ ...row, credential_id: Buffer.from(randomUUID()) })
    .execute();
  expect(codeOf(await act("give-back", { since: "yesterday" }))).toEqual([400, "validation_failed"]);
  for (let count = 0; count < 5; count += 1) expect((await act("give-back", { since: null })).statusCode).toBe(204);
  expect(codeOf(await act("give-back", { since: null }))).toEqual([429, "too_many_attempts"]);
  expect((await pageOf()).waysIn.passkeys).toBe(1);
  await act("ban");
  expect(codeOf(await act("give-back", { since: null }))).toEqual([409, "conflict"]);
  for (const clerk of [await personAs("support"), await personAs("user")])
    expect(codeOf(await act("give-back", { since: null }, clerk))).toEqual([404, "not_found"]);
  person = admin;
  expect(codeOf(await act("give-back", { since: null }))).toEqual([409, "own_account"]);
  person = { ...person, userId: randomUUID() };
  expect(codeOf(await act("give-back", { since: null }))).toEqual([404, "not_found"]);
});

test("every act asks for its reason, and for a factor that was shown a short while ago", async () => {
  for (const url of ["ban", "unban", "sign-out", "cancel", "resume", "check-payments"])
    expect([url, ...codeOf(await act(url, { reason: "" }))]).toEqual([url, 400, "validation_failed"]);
  expect(codeOf(await act("cancel"))).toEqual([409, "no_running_plan"]);
  expect((await act("check-payments")).json()).toEqual({ complete: true, items: [] });
  expect(await logged()).toEqual([entry("payments.checked")]);
  const proved = { proved_at: new Date(Date.now() - hourMs) };
  await product.db.updateTable("auth_sessions").set(proved).where("user_id", "=", admin.userId).execute();
  for (const url of ["ban", "unban", "sign-out", "give-back", "cancel", "resume", "check-payments", "credits", "credits/take"])
    expect([url, ...codeOf(await act(url))]).toEqual([url, 403, "step_up_required"]);
});

async function mailOf(template: string, parameters: object, to = person): Promise<string> {
  const row = { key: randomUUID(), user_id: to.userId, recipient: "old@example.com", template, language: "en" };
  const { id } = await product.db
    .insertInto("mails")
    .values({ ...row, parameters: JSON.stringify(parameters), created_at: new Date(), sent_at: null })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

test("a receipt is sent again, once for a key and to the address the person has now; links, what is not kept and what is over are not", async () => {
  const receipt = { plan: "starter", amountCents: 1999, credits: 300, priceCents: 1999, renewsAt: new Date().toISOString() };
  const id = await mailOf("plan-renewed", receipt);
  const others = {
    link: await mailOf("password-reset", { linkId: randomUUID() }),
    emptied: await mailOf("plan-renewed", {}),
    over: await mailOf("export-ready", { expiresAt: new Date().toISOString() }),
  };
  const shown = (await get(`people/${person.userId}/mails`)).json<{ rows: MailRow[] }>().rows;
  expect(shown.filter(({ canResend }) => canResend).map((mail) => mail.id)).toEqual([others.over, id]);
  const again = (mailId: string, key: string = randomUUID()) => act(`mails/${mailId}/again`, { key });
  const key = randomUUID();
  expect((await Promise.all([again(id, key), again(id, key)])).map(({ statusCode }) => statusCode)).toEqual([204, 204]);
  const sent = product.db.selectFrom("mails").selectAll().where("recipient", "=", person.email);
  expect(await sent.execute()).toMatchObject([{ template: "plan-renewed", parameters: receipt, sent_at: null }]);
  expect(await logged()).toEqual([entry("mail.sent_again", { template: "plan-renewed" })]);
  for (const mailId of Object.values(others)) expect(codeOf(await again(mailId))).toEqual([409, "conflict"]);
  const stranger = await createPerson(product, product.db);
  expect(codeOf(await again(await mailOf("plan-renewed", receipt, stranger)))).toEqual([404, "not_found"]);
  for (let more = 1; more < 5; more += 1) expect((await again(id)).statusCode).toBe(204);
  expect((await again(id)).json()).toMatchObject({ code: "too_many_attempts", retryAfterSeconds: expect.any(Number) });
  expect(await sent.execute()).toHaveLength(5);
});

test("the link of a waiting sign-up is mailed again and opens the account; an address without one is told so", async () => {
  const email = `waiting-${randomUUID()}@example.com`;
  const again = (to: string) =>
    product.post("/api/admin/sign-ups/again", { email: to, reason: "No mail came" }, { headers: headersOf(admin) });
  expect(codeOf(await again(email))).toEqual([404, "not_found"]);
  await product.post("/api/auth/sign-up", { email, password });
  expect((await again(email.toUpperCase())).statusCode).toBe(204);
  expect(await product.templatesTo(email)).toEqual(["confirm-email", "confirm-email"]);
  const [newest] = (await get("audit?action=confirmation.sent_again")).json<{ rows: AuditRow[] }>().rows;
  expect(newest).toMatchObject({ reason: "No mail came", actorId: admin.userId, details: {} });
  expect((await product.confirmLast(email)).statusCode).toBe(200);
  // Now it has an account.
  expect(codeOf(await again(email))).toEqual([404, "not_found"]);
});
