/** What admins change without a deploy: within limits, told to every process, and nothing of the rest is secret. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { AuditRow } from "#contract/admin/team.ts";
import type { Setting, SettingsPage } from "#contract/settings.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import type { SettingName } from "#domain/settings.ts";
import { settingNames, settings } from "#domain/settings.ts";
import type { Role } from "#domain/team.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { describeVariables } from "#server/config-variables.ts";
import type { Deps } from "#server/deps.ts";
import { createDeps } from "#server/deps.ts";
import { followSettings } from "#server/features/settings/follow.ts";
import { createSettings } from "#server/settings.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { startWorker } from "../../worker/worker.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
let admin: TestPerson;
/** Another process, which hears of changes by the database's notifications. */
let other: Deps & { close(): Promise<void> };
let stopOther: () => void;

beforeAll(async () => {
  product = await createAuthApp();
  admin = await personAs("admin");
  other = createDeps(product.config, "other");
  stopOther = await followSettings(other);
});
afterEach(async () => {
  await product.db.updateTable("settings").set({ value: null }).execute();
  product.deps.settings.replace([]);
});
afterAll(async () => {
  stopOther();
  await other.close();
  await product.close();
});

async function personAs(role: Role, options: Parameters<typeof createPerson>[2] = {}): Promise<TestPerson> {
  const person = await createPerson(product, product.db, options);
  await product.db.updateTable("users").set({ role }).where("id", "=", person.userId).execute();
  return person;
}

const as = ({ token }: TestPerson) => ({ authorization: `Bearer ${token}` });
const call = (method: "GET" | "POST" | "PUT", url: string, by: TestPerson, payload?: object) =>
  product.app.inject({ method, url, headers: as(by), ...(payload && { payload }) });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.body && answer.json().code];
const pageOf = async (by = admin) => (await call("GET", "/api/admin/settings", by)).json<SettingsPage>();
const settingOf = async (name: SettingName) => (await pageOf()).settings.find((setting) => setting.name === name) as Setting;
const put = (name: SettingName, version: number, value: unknown, by = admin) =>
  call("PUT", `/api/admin/settings/${name}`, by, { version, value, reason: "A storm of sign-ups" });
/** Sets it, whatever its version is. */
async function set(name: SettingName, value: unknown): Promise<Setting> {
  const answer = await put(name, (await settingOf(name)).version, value);
  expect([name, answer.statusCode]).toEqual([name, 200]);
  return answer.json<Setting>();
}
const noticeUntil = (until: Date, texts: object = { en: "Payments are late today" }) => ({
  tone: "warning",
  texts,
  until: until.toISOString(),
});
const soon = () => addMilliseconds(product.deps.clock.now(), hourMs);

test("a change is kept with who, when and why, is on the audit log, and is taken back to the default", async () => {
  expect(await settingOf("requestsPerMinute")).toEqual({
    name: "requestsPerMinute",
    ...{ value: 600, default: 600, isDefault: true, isOutside: false },
    ...{ version: 0, changedAt: null, changedBy: null, reason: null },
  });
  const changed = (await put("requestsPerMinute", 0, 900)).json<Setting>();
  const why = { changedBy: admin.email, reason: "A storm of sign-ups" };
  expect(changed).toMatchObject({ value: 900, default: 600, isDefault: false, version: 1, ...why });
  expect(Date.now() - Date.parse(String(changed.changedAt))).toBeLessThan(hourMs);
  expect(await settingOf("requestsPerMinute")).toEqual(changed);
  expect((await put("requestsPerMinute", 1, null)).json()).toMatchObject({ value: 600, isDefault: true, version: 2, ...why });
  const log = (await call("GET", "/api/admin/audit?action=setting.changed", admin)).json<{ rows: AuditRow[] }>().rows;
  expect(log).toMatchObject([
    { actorEmail: admin.email, reason: "A storm of sign-ups", details: { setting: "requestsPerMinute", was: 900, now: null } },
    { details: { setting: "requestsPerMinute", was: null, now: 900 } },
  ]);
});

test("nothing beyond a setting's limits is taken, and nothing of another kind", async () => {
  const tooMuch: [SettingName, unknown][] = [];
  for (const name of settingNames) {
    const setting = settings[name];
    if (setting.kind === "amount") tooMuch.push([name, setting.lowest - 1], [name, setting.highest + 1], [name, true], [name, "600"]);
    if (setting.kind === "switch") tooMuch.push([name, 1], [name, "false"]);
    if (setting.kind === "choice") tooMuch.push([name, "silent"], [name, 3]);
  }
  const { notice } = { notice: noticeUntil(soon()) };
  tooMuch.push(
    ["notice", noticeUntil(addMilliseconds(product.deps.clock.now(), 31 * dayMs))],
    ["notice", noticeUntil(addMilliseconds(product.deps.clock.now(), -1_000))],
    ["notice", { ...notice, texts: { de: "Zahlungen dauern heute" } }],
    ["notice", { ...notice, texts: { en: " " } }],
    ["notice", { ...notice, texts: { en: "x".repeat(301) } }],
    ["notice", { ...notice, texts: { ...notice.texts, xx: "?" } }],
    ["notice", { ...notice, tone: "loud" }],
    ["notice", true],
  );
  for (const [name, value] of tooMuch)
    expect([name, value, ...codeOf(await put(name, 0, value))]).toEqual([name, value, 400, "validation_failed"]);
  expect(codeOf(await call("PUT", "/api/admin/settings/prices", admin, { version: 0, value: 1, reason: "Because" }))[0]).toBe(400);
  expect((await pageOf()).settings.every(({ isDefault }) => isDefault)).toBe(true);
});

test("of two admins at once the second is told, and the first one's change holds", async () => {
  const colleague = await personAs("admin");
  for (const version of [0, 1]) {
    const both = await Promise.all([put("creditsPerDay", version, 5), put("creditsPerDay", version, 7, colleague)]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    const first = both.find(({ statusCode }) => statusCode === 200)?.json<Setting>();
    expect(codeOf(both.find(({ statusCode }) => statusCode === 409) as LightMyRequestResponse)).toEqual([409, "conflict"]);
    expect(await settingOf("creditsPerDay")).toEqual(first);
  }
});

test("another process hears of a change at once, and learns of it as well if it did not hear", async () => {
  await set("answers", false);
  await expect.poll(() => other.settings.current.answers, { timeout: 4_000 }).toBe(false);
  const warnings: string[] = [];
  const log = { level: "silent", warn: (_details: object, message: string) => warnings.push(message) } as unknown as Deps["log"];
  const deaf = { ...other, log, settings: createSettings({ logLevel: "silent" }), live: { ...other.live, subscribe: () => () => {} } };
  const stop = await followSettings(deaf, 20);
  expect(deaf.settings.current.answers).toBe(false);
  await product.db.updateTable("settings").set({ value: "true" }).where("name", "=", "answers").execute();
  await expect.poll(() => deaf.settings.current.answers).toBe(true);
  // While the settings can't be read the last known ones hold.
  await set("answers", false);
  await expect.poll(() => deaf.settings.current.answers).toBe(false);
  await product.asOwner("alter table settings rename to settings_away");
  await expect.poll(() => warnings).toEqual([expect.stringContaining("the last known ones hold")]);
  expect(deaf.settings.current.answers).toBe(false);
  await product.asOwner("alter table settings_away rename to settings");
  stop();
});

test("what this release does not allow any more, or does not know, does not hold, and the page says so", async () => {
  const row = { version: 3, changed_at: new Date(), changed_by: admin.userId, reason: "In the release before" };
  for (const [name, value] of Object.entries({ mailsPerMinute: 1, logLevel: "loud", notice: { tone: "info" }, bygone: 5 }))
    await product.db
      .insertInto("settings")
      .values({ ...row, name, value: JSON.stringify(value) })
      .execute();
  const stop = await followSettings(product.deps);
  expect(product.deps.settings.current).toEqual(product.deps.settings.defaults);
  for (const name of ["mailsPerMinute", "logLevel", "notice"] as const)
    expect(await settingOf(name)).toMatchObject({ isOutside: true, isDefault: true, version: 3, reason: row.reason });
  expect(await settingOf("mailsPerMinute")).toMatchObject({ value: 120 });
  expect((await put("mailsPerMinute", 3, 60)).json()).toMatchObject({ isOutside: false, value: 60, version: 4 });
  stop();
});

test("support and everybody else find no settings; a change wants a factor shown a short while ago", async () => {
  for (const role of ["support", "user"] as const) {
    const person = await personAs(role);
    expect(codeOf(await call("GET", "/api/admin/settings", person))).toEqual([404, "not_found"]);
    expect(codeOf(await put("answers", 0, false, person))).toEqual([404, "not_found"]);
  }
  const late = await personAs("admin");
  const proved = { proved_at: new Date(Date.now() - hourMs) };
  await product.db.updateTable("auth_sessions").set(proved).where("user_id", "=", late.userId).execute();
  expect(codeOf(await put("answers", 0, false, late))).toEqual([403, "step_up_required"]);
  // Who has left is named no more.
  await set("trials", false);
  await product.asOwner("update settings set changed_by = null");
  expect(await settingOf("trials")).toMatchObject({ value: false, changedBy: null, reason: "A storm of sign-ups" });
});

test("closed sign-ups refuse every new address alike, and what was begun before is finished", async () => {
  const [begun, taken] = [`${randomUUID()}@example.com`, (await product.join()).user.email];
  const signUp = (email: string) => product.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() });
  await signUp(begun);
  await set("signUps", false);
  for (const email of [`${randomUUID()}@example.com`, taken, begun]) expect(codeOf(await signUp(email))).toEqual([403, "sign_ups_closed"]);
  expect((await product.confirmLast(begun)).statusCode).toBe(200);
  expect((await product.signIn(taken)).statusCode).toBe(200);
});

test("paused trials, purchases and answers are refused with nothing lost, and go on afterwards", async () => {
  const person = await personAs("user", { plan: "starter" });
  const newcomer = await personAs("user");
  const quotedCredits = 1;
  const acts = {
    trials: () => call("POST", "/api/billing/trial", newcomer, {}),
    purchases: () => call("POST", "/api/billing/order/preview", person, { priceId: "pack_100" }),
    answers: () =>
      product.app.inject({
        method: "POST",
        url: "/api/generations",
        headers: { ...as(person), "idempotency-key": randomUUID() },
        payload: { model: "gpt-5-mini", prompt: "Hello", quotedCredits },
      }),
  };
  const refused = { trials: [409, "trials_paused"], purchases: [409, "purchases_paused"], answers: [503, "answers_paused"] };
  for (const name of ["trials", "purchases", "answers"] as const) {
    await set(name, false);
    expect([name, ...codeOf(await acts[name]())]).toEqual([name, ...refused[name]]);
    await set(name, true);
    expect(codeOf(await acts[name]())).not.toEqual(refused[name]);
  }
});

test("limits hold with the next request: of a network, of mails, of credits that an admin gives; and the log level everywhere", async () => {
  await set("requestsPerMinute", 240);
  expect((await product.get("/api/models")).headers["x-ratelimit-limit"]).toBe("240");
  await set("mailsPerMinute", 30);
  const counted = { key: "mails:all", failures: 29, window_started_at: new Date(), blocked_until: null };
  await product.db
    .insertInto("auth_attempts")
    .values(counted)
    .onConflict((known) => known.column("key").doUpdateSet(counted))
    .execute();
  const resend = () => product.post("/api/auth/resend-confirmation", { email: "a@example.com" }, { remoteAddress: randomAddress() });
  expect([(await resend()).statusCode, ...codeOf(await resend())]).toEqual([202, 429, "too_many_attempts"]);
  await set("creditsPerDay", 10);
  const give = (credits: number) =>
    call("POST", `/api/admin/people/${admin.userId}/credits`, admin, { credits, days: 90, key: randomUUID(), reason: "They wrote to us" });
  expect([codeOf(await give(11)), (await give(10)).statusCode]).toEqual([[403, "adjustment_limit"], 204]);
  await set("logLevel", "error");
  await expect.poll(() => other.log.level, { timeout: 4_000 }).toBe("error");
});

test("a notice is told to everybody until its end, and not after it", async () => {
  const told = async () => (await product.get("/api/environment")).json().notice;
  expect(await told()).toBe(null);
  const texts = { en: " Payments are late today ", de: "Zahlungen dauern heute länger" };
  await set("notice", noticeUntil(soon(), texts));
  expect(await told()).toEqual({
    tone: "warning",
    texts: { en: "Payments are late today", de: texts.de },
    until: expect.any(String),
  });
  const { now } = product.deps.clock;
  product.deps.clock.now = () => addMilliseconds(now(), hourMs);
  expect(await told()).toBe(null);
  product.deps.clock.now = now;
});

test("no secret of the environment is on the page: only whether it is set; the rest is shown with where it comes from", async () => {
  const planted = "planted0secret0planted0secret0planted";
  const secrets = {
    ...{ SECRET_KEY: planted, SECRET_KEY_PREVIOUS: planted, ENCRYPTION_KEY: planted, ENCRYPTION_KEY_PREVIOUS: planted },
    ...{ STRIPE_SECRET_KEY: `sk_test_${planted}`, STRIPE_WEBHOOK_SECRET: planted, STRIPE_WEBHOOK_SECRET_PREVIOUS: planted },
    ...{ GOOGLE_CLIENT_SECRET: planted, SANDBOX_TOKEN: planted },
    ...{ STORAGE_S3_ACCESS_KEY_ID: planted, STORAGE_S3_SECRET_ACCESS_KEY: planted },
    ...Object.fromEntries(
      ["OPENAI", "ANTHROPIC", "GOOGLE", "MISTRAL", "DEEPSEEK", "PERPLEXITY", "XAI"].map((name) => [`${name}_API_KEY`, planted]),
    ),
  };
  const address = (protocol: string) => `${protocol}://user:${planted}@host.example:1234/${planted}?key=${planted}`;
  const addresses = {
    ...{ DATABASE_URL: address("postgres"), REDIS_URL: address("rediss"), SMTP_URL: address("smtps"), OPENAI_BASE_URL: address("https") },
    ...{ STRIPE_API_URL: address("https"), GOOGLE_ISSUER: address("https"), STORAGE_S3_ENDPOINT: address("https") },
    ...{ SANDBOX_URL: address("http") },
  };
  const others = { GOOGLE_CLIENT_ID: "client", STORAGE_S3_BUCKET: "bucket", PORT: "4321" };
  const variables = describeVariables(readConfig(testEnvironment({ applicationUrl: "" }, { ...addresses, ...secrets, ...others })));
  expect(JSON.stringify(variables)).not.toMatch(/planted|user:/);
  const of = (name: string) => variables.find((variable) => variable.name === name);
  for (const name of Object.keys(secrets)) expect(of(name)).toEqual({ name, isSet: true, isSecret: true, value: null });
  for (const name of Object.keys(addresses))
    expect([name, of(name)?.value]).toEqual([name, expect.stringMatching(/^\w+:\/\/host\.example:1234$/)]);
  expect(of("PORT")).toEqual({ name: "PORT", isSet: true, isSecret: false, value: "4321" });
  expect(of("DATABASE_POOL_SIZE")).toEqual({ name: "DATABASE_POOL_SIZE", isSet: false, isSecret: false, value: "11" });

  const page = await call("GET", "/api/admin/settings", admin);
  expect(page.json<SettingsPage>().variables).toEqual(describeVariables(product.config));
  const { secretKeys, stripe, databaseUrl } = product.config;
  for (const secret of [...secretKeys, stripe.secretKey, ...stripe.webhookSecrets, new URL(databaseUrl).password])
    expect(page.body).not.toContain(secret);
});

test("a worker follows the settings as well, until it ends", async () => {
  const deps = createDeps(product.config, "worker");
  const worker = startWorker(deps);
  await set("logLevel", "error");
  await expect.poll(() => deps.log.level, { timeout: 4_000 }).toBe("error");
  deps.endStripeCalls();
  await worker.close();
  await deps.close();
});

test("a process that is started later knows the settings before its first request", async () => {
  await set("signUps", false);
  const deps = createDeps(product.config, "later");
  const app = await buildApp(deps);
  expect(deps.settings.current.signUps).toBe(false);
  await app.close();
  await deps.close();
});
