/** The team: who may open the admin panel and as what, and that every change of it has a reason on the audit log. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRow, TeamMember } from "#contract/admin/team.ts";
import { hourMs } from "#domain/clock.ts";
import type { Role } from "#domain/team.ts";
import { buildApp } from "#server/app.ts";
import { recordAct } from "#server/db/audit.ts";
import type { OpenApi } from "#tests/support/fuzz-requests.ts";
import { routesOf } from "#tests/support/fuzz-requests.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

async function personAs(role: Role): Promise<TestPerson> {
  const person = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role }).where("id", "=", person.userId).execute();
  return person;
}
const roleOf = async ({ userId }: TestPerson) =>
  (await product.db.selectFrom("users").select("role").where("id", "=", userId).executeTakeFirstOrThrow()).role;
const call = (method: "GET" | "POST" | "PUT", url: string, { token }: TestPerson, payload?: object) =>
  product.app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) });
const setRole = (clerk: TestPerson, person: { email: string }, was: Role, role: Role) =>
  call("PUT", "/api/admin/team", clerk, { email: person.email, was, role, reason: "They joined on Monday" });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.body && answer.json().code];

/** The methods and addresses of the panel. */
function panelRoutes(): { method: "GET" | "POST" | "PUT"; url: string }[] {
  return routesOf(product.app.swagger() as unknown as OpenApi)
    .filter(({ path }) => path.startsWith("/api/admin/"))
    .map(({ method, path }) => ({ method: method as "GET", url: path.replaceAll(/\{\w+\}/g, "00000000-0000-7000-8000-000000000000") }));
}

test("every address of the panel is not found for a person, and 401 without signing in", async () => {
  const person = await createPerson(product, product.db);
  const routes = panelRoutes();
  expect(routes.length).toBeGreaterThan(8);
  for (const { method, url } of routes) {
    const body = method === "GET" ? {} : { payload: {} };
    const [theirs, visitors] = [await call(method, url, person, body.payload), await product.app.inject({ method, url, ...body })];
    expect([url, ...codeOf(theirs)]).toEqual([url, 404, "not_found"]);
    expect([url, visitors.statusCode]).toEqual([url, 401]);
  }
});

test("support reads, and every act but those on messages, on their own views of lists and on what people let them read is not found for them", async () => {
  const support = await personAs("support");
  expect((await call("GET", "/api/admin/me", support)).json()).toEqual({ role: "support" });
  expect((await call("GET", "/api/admin/audit", support)).statusCode).toBe(200);
  const own = /^\/api\/admin\/(inbox\/|views|people\/[^/]+\/(support-access|answers\/[^/]+\/read)$)/;
  for (const { method, url } of panelRoutes().filter((route) => route.method !== "GET" && !own.test(route.url)))
    expect([url, ...codeOf(await call(method, url, support, {}))]).toEqual([url, 404, "not_found"]);
});

/** What support reads: nothing about money but the credits of one person, and no work of the product. */
const readBySupport = [
  ...["me", "team", "team.csv", "audit", "audit.csv", "views", "people", "people.csv", "people/{userId}"],
  ...["people/{userId}/ledger", "people/{userId}/ledger.csv", "people/{userId}/explanation"],
  ...["people/{userId}/answers", "people/{userId}/answers.csv", "people/{userId}/mails", "people/{userId}/mails.csv"],
  ...["inbox", "inbox.csv", "inbox/{messageId}", "inbox/{messageId}/neighbours"],
  ...["models", "models.csv", "models/{modelId}/price-preview"],
].map((path) => `/api/admin/${path}`);

/** One of each thing that an address names by its id. */
async function somethingToRead(): Promise<Record<string, string>> {
  const now = new Date();
  const message = { name: "Ivo", email: "ivo@example.com", category: "bug", subject: null, message: "Hi", language: "en" } as const;
  const letterId = randomUUID();
  await product.db
    .insertInto("dead_letters")
    .values({ id: letterId, job: "delete-file", payload: "{}", error: "EBUSY", attempts: 10, replayed_at: null })
    .execute();
  const [{ id: messageId }, { id: campaignId }, { id: eventId }] = await Promise.all([
    product.db
      .insertInto("contact_messages")
      .values({ ...message, idempotency_key: randomUUID(), content_hash: Buffer.from("read"), user_id: null, created_at: now })
      .returning("id")
      .executeTakeFirstOrThrow(),
    product.db
      .insertInto("discount_campaigns")
      .values({ percent: 15, starts_at: now, ends_at: new Date(now.getTime() + hourMs), created_at: now })
      .returning("id")
      .executeTakeFirstOrThrow(),
    product.db
      .insertInto("stripe_events")
      .values({
        id: "evt_read",
        type: "invoice.paid",
        object_id: "in_1",
        livemode: false,
        payload: "{}",
        status: "processed",
        created_at: now,
      })
      .returning("id")
      .executeTakeFirstOrThrow(),
  ]);
  return { messageId, campaignId, eventId, letterId };
}

test("of what the panel reads, support gets what is listed, and everything else that an admin gets is not found for them", async () => {
  const [admin, support, person] = [await personAs("admin"), await personAs("support"), await createPerson(product, product.db)];
  // Every id is one that exists, so that only the role can be why something is not found.
  const ids: Record<string, string> = { userId: person.userId, modelId: "gpt-5-mini", ...(await somethingToRead()) };
  const queries: Record<string, string> = {
    "/api/admin/views": "?list=people",
    "/api/admin/figures": "?range=30d",
    "/api/admin/figures.csv": "?range=30d",
    "/api/admin/models/{modelId}/price-preview": "?credits=5",
  };
  const paths = routesOf(product.app.swagger() as unknown as OpenApi)
    .filter(({ method, path }) => method === "GET" && path.startsWith("/api/admin/"))
    .map(({ path }) => path);
  const [read, refused]: [string[], unknown[]] = [[], []];
  for (const path of paths) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name) + (queries[path] ?? "");
    const [theirs, admins] = [await call("GET", url, support), await call("GET", url, admin)];
    if (theirs.statusCode === 200) read.push(path);
    else refused.push([path, admins.statusCode, ...codeOf(theirs)]);
  }
  const others = paths.filter((path) => !readBySupport.includes(path));
  expect([read.sort(), refused]).toEqual([readBySupport.toSorted(), others.map((path) => [path, 200, 404, "not_found"])]);
  expect(paths.length).toBeGreaterThan(read.length);
});

test("support reads on the audit log what was done about money, and neither sums nor invoices", async () => {
  const [admin, support, person] = [await personAs("admin"), await personAs("support"), await createPerson(product, product.db)];
  const about = { actor: admin.userId, subject: person.userId, network: null, reason: "They were charged twice" };
  await recordAct(product.db, { ...about, action: "refund.asked", details: { invoiceId: "in_secret", amountCents: 1999 } });
  await recordAct(product.db, { ...about, action: "plan.cancelled", details: {} });
  await recordAct(product.db, { ...about, action: "finding.closed", details: { kind: "missing_grant", subject: "in_secret" } });
  await recordAct(product.db, { ...about, action: "setting.changed", details: { setting: "creditsPerDay", was: 1999, now: null } });
  const read = async (file: string, by: TestPerson) => (await call("GET", `/api/admin/${file}?about=${person.email}`, by)).body;
  for (const file of ["audit", "audit.csv"]) {
    expect(await read(file, admin)).toMatch(/in_secret[\s\S]*1999|1999[\s\S]*in_secret/);
    expect(await read(file, support)).not.toMatch(/in_secret|1999/);
    expect(await read(file, support)).toContain("refund.asked");
  }
});

test("a role is given and taken with the next call, both on the audit log with their reason", async () => {
  const [admin, colleague] = [await personAs("admin"), await createPerson(product, product.db)];
  expect((await setRole(admin, colleague, "user", "support")).statusCode).toBe(204);
  expect((await call("GET", "/api/admin/me", colleague)).json()).toEqual({ role: "support" });
  const members = (await call("GET", "/api/admin/team", admin)).json<{ rows: TeamMember[] }>().rows;
  expect(members.find(({ id }) => id === colleague.userId)).toMatchObject({ role: "support", hasSecondFactor: false, isNamed: false });
  const [newest] = (await call("GET", "/api/admin/team?sort=lastSignIn&order=asc&role=support", admin)).json().rows;
  expect(newest).toMatchObject({ role: "support" });
  const page = (await call("GET", "/api/admin/team?sort=lastSignIn&limit=1", admin)).json();
  const next = (await call("GET", `/api/admin/team?sort=lastSignIn&limit=1&cursor=${page.nextCursor}`, admin)).json();
  expect([page.rows.length, next.rows.length, page.rows[0].id === next.rows[0].id]).toEqual([1, 1, false]);
  expect((await setRole(admin, colleague, "support", "user")).statusCode).toBe(204);
  expect(codeOf(await call("GET", "/api/admin/me", colleague))).toEqual([404, "not_found"]);
  const log = await call("GET", `/api/admin/audit?about=${encodeURIComponent(colleague.email.toUpperCase())}`, admin);
  const event = { actorEmail: admin.email, subjectEmail: colleague.email, reason: "They joined on Monday" };
  expect(log.json<{ rows: AuditRow[] }>().rows).toMatchObject([
    { ...event, action: "role.taken", details: { role: "support" } },
    { ...event, action: "role.granted", details: { role: "support", because: "by_admin" } },
  ]);
});

test("the last admin stays, one of ADMIN_EMAILS too, and of two changes at once the second is refused", async () => {
  await product.db.updateTable("users").set({ role: "user" }).where("role", "=", "admin").execute();
  const [one, other] = [await personAs("admin"), await personAs("admin")];
  const both = await Promise.all([setRole(one, other, "admin", "user"), setRole(other, one, "admin", "user")]);
  // Whoever was first has taken the other's role, who then takes nobody's: by the scope, or because one admin is left.
  expect(both.map(({ statusCode }) => statusCode).sort()).not.toEqual([204, 204]);
  const left = (await roleOf(one)) === "admin" ? one : other;
  expect(codeOf(await setRole(left, left, "admin", "support"))).toEqual([409, "last_admin"]);
  const named = await product.join("owner@example.com");
  const again = { email: named.user.email };
  expect(codeOf(await setRole(left, again, "admin", "user"))).toEqual([409, "named_admin"]);
  const colleague = await createPerson(product, product.db);
  await setRole(left, colleague, "user", "support");
  expect(codeOf(await setRole(left, colleague, "user", "admin"))).toEqual([409, "conflict"]);
  expect(await roleOf(colleague)).toBe("support");
  expect(codeOf(await setRole(left, { email: "nobody@example.com" }, "user", "support"))).toEqual([404, "not_found"]);
});

test("an act asks for a factor that was shown a while ago", async () => {
  const admin = await personAs("admin");
  const proved = { proved_at: new Date(Date.now() - hourMs) };
  await product.db.updateTable("auth_sessions").set(proved).where("user_id", "=", admin.userId).execute();
  expect(codeOf(await setRole(admin, await createPerson(product, product.db), "user", "support"))).toEqual([403, "step_up_required"]);
});

test("in production nobody opens it with a password alone", async () => {
  const admin = await personAs("admin");
  const { config } = product.deps;
  const app = await buildApp({ ...product.deps, config: { ...config, production: true } });
  await app.ready();
  const headers = { authorization: `Bearer ${admin.token}` };
  const me = () => app.inject({ url: "/api/admin/me", headers });
  expect(codeOf(await me())).toEqual([403, "second_factor_needed"]);
  const totp = { user_id: admin.userId, kind: "totp" as const, name: null, data: "{}", created_at: new Date(), last_used_at: null };
  await product.db.insertInto("credentials").values(totp).execute();
  expect((await me()).json()).toEqual({ role: "admin" });
  await app.close();
});

test("the log is read in pages that meet, either way round, and as a file in which nothing runs as a formula", async () => {
  const [admin, colleague] = [await personAs("admin"), await createPerson(product, product.db)];
  for (const [was, role] of [
    ["user", "support"],
    ["support", "admin"],
    ["admin", "user"],
  ] as const)
    await call("PUT", "/api/admin/team", admin, { email: colleague.email, was, role, reason: `=1+1, "${role}"` });
  const about = `about=${encodeURIComponent(colleague.email)}`;
  const read = async (query: string) => (await call("GET", `/api/admin/audit?${about}&${query}`, admin)).json();
  const whole = (await read("limit=100")).rows.map(({ id }: AuditRow) => id);
  expect(whole).toHaveLength(4);
  for (const [order, expected] of [
    ["desc", whole],
    ["asc", whole.toReversed()],
  ]) {
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(`limit=3&order=${order}${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.rows.map(({ id }: AuditRow) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    expect(seen).toEqual(expected);
  }
  const { nextCursor } = await read("limit=3&order=desc");
  for (const query of [`order=asc&cursor=${nextCursor}`, "cursor=nonsense", "sort=email", "cursor=WyJ0aW1lIl0"])
    expect([query, ...codeOf(await call("GET", `/api/admin/audit?${query}`, admin))]).toEqual([query, 400, "validation_failed"]);
  const file = await call("GET", `/api/admin/audit.csv?${about}`, admin);
  expect(file.headers["content-type"]).toBe("text/csv; charset=utf-8");
  const [head, first, ...others] = file.body.trim().split("\r\n");
  expect(head).toContain("id,at,action,actorId,actorEmail");
  expect(first).toContain(`"'=1+1, ""user""" `.trim());
  expect(others).toHaveLength(3);
  const empty = await call("GET", "/api/admin/audit.csv?action=no.such_act", admin);
  expect(empty.body.trim()).toBe(head);
});
