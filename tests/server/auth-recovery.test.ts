import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { minuteMs } from "#domain/clock.ts";
import { ruleMessages } from "#domain/rules.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());
beforeEach(async () => {
  await product.db.deleteFrom("auth_attempts").execute();
});

const chosen = "a new secret 7";
const recover = (email: string, remoteAddress = randomAddress()) => product.post("/api/auth/recover", { email }, { remoteAddress });
const reset = (token: string, options: { secret?: string; headers?: { cookie: string } } = {}) =>
  product.post(
    "/api/auth/reset-password",
    { token, password: options.secret ?? chosen },
    { headers: options.headers ?? {}, remoteAddress: randomAddress() },
  );

/** The tokens of the links for a new password that were mailed to an address, oldest first. */
async function tokensTo(email: string): Promise<string[]> {
  const mails = await product.db
    .selectFrom("mails")
    .select("parameters")
    .where("recipient", "=", email)
    .where("template", "=", "password-reset")
    .orderBy("id")
    .execute();
  return mails.map((mail) => linkToken(product.config, String(mail.parameters.linkId)));
}

async function tokenTo(email: string): Promise<string> {
  await recover(email);
  return (await tokensTo(email)).at(-1) ?? "";
}

test("in the browser that asked, the mailed link and a new password sign in; every other sign-in ends and the owner is told", async () => {
  const email = "forgot@example.com";
  const before = await product.join(email);
  const asked = await recover(email);
  expect([asked.statusCode, asked.json()]).toEqual([202, { status: "check_email" }]);
  expect(asked.headers["set-cookie"]).toMatch(/^recovery=[\w.-]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Strict$/);
  const [token = ""] = await tokensTo(email);
  expect((await product.post("/api/auth/recovery-link", { token })).json()).toEqual({ email });

  const answer = await reset(token, { headers: cookiesOf(asked) });
  expect(answer.json().session.user).toMatchObject({ email });
  expect((await product.get("/api/account", answer.json().session.access_token)).statusCode).toBe(200);
  expect((await product.get("/api/account", before.access_token)).statusCode).toBe(401);
  expect((await product.post("/api/auth/refresh", { refresh_token: before.refresh_token })).json()).toMatchObject({
    code: "session_expired",
  });
  expect((await product.signIn(email)).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await product.signIn(email, chosen)).statusCode).toBe(200);
  expect(await product.templatesTo(email)).toEqual(["confirm-email", "password-reset", "password-changed"]);
  const acts = await product.db
    .selectFrom("audit_events")
    .innerJoin("audit_people", "audit_people.id", "audit_events.subject")
    .select(["action", "details"])
    .where("user_id", "=", before.user.id)
    .where("action", "in", ["password.changed", "sign_in.completed"])
    .orderBy("audit_events.id")
    .execute();
  expect(acts.slice(1, 3)).toEqual([
    { action: "password.changed", details: { proof: "mailed_link" } },
    { action: "sign_in.completed", details: { factor: "recovery_link" } },
  ]);
});

test("in any other browser the link sets the password but signs nobody in", async () => {
  const email = "elsewhere-reset@example.com";
  await product.join(email);
  const token = await tokenTo(email);
  // A cookie of another recovery, begun by somebody who knows nothing but an address.
  const strangers = cookiesOf(await recover("somebody-else@example.com"));
  const answer = await reset(token, { headers: strangers });
  expect([answer.statusCode, answer.json()]).toEqual([200, { session: null }]);
  const sessions = await product.db
    .selectFrom("auth_sessions")
    .innerJoin("identities", "identities.user_id", "auth_sessions.user_id")
    .select("revoked_at")
    .where("subject", "=", email)
    .where("revoked_at", "is", null)
    .execute();
  expect(sessions).toEqual([]);
  expect((await product.signIn(email, chosen)).statusCode).toBe(200);
});

test("a link works once even when opened five times at once, for 30 minutes, and only the newest one", async () => {
  const email = "links@example.com";
  await product.join(email);
  const first = await tokenTo(email);
  const second = await tokenTo(email);
  expect((await reset(first)).json()).toMatchObject({ status: 400, code: "link_invalid" });
  const secrets = ["secret choice 1", "secret choice 2", "secret choice 3", "secret choice 4", "secret choice 5"];
  const answers = await Promise.all(secrets.map((secret) => reset(second, { secret })));
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 400, 400, 400, 400]);
  const won = secrets[answers.findIndex((answer) => answer.statusCode === 200)] ?? "";
  expect((await product.signIn(email, won)).statusCode).toBe(200);

  const third = await tokenTo(email);
  await product.db
    .updateTable("email_links")
    .set({ expires_at: new Date(Date.now() - 1) })
    .where("purpose", "=", "recover")
    .where("used_at", "is", null)
    .execute();
  expect((await reset(third)).json()).toMatchObject({ code: "link_invalid" });
  expect((await product.post("/api/auth/recovery-link", { token: third })).json()).toMatchObject({ code: "link_invalid" });

  await recover(email);
  const row = await product.db.selectFrom("email_links").select(["expires_at", "created_at"]).where("purpose", "=", "recover");
  const { expires_at: expiresAt, created_at: createdAt } = await row.where("used_at", "is", null).executeTakeFirstOrThrow();
  expect(expiresAt.getTime() - createdAt.getTime()).toBe(30 * minuteMs);
});

test("of two recoveries asked for at once, only one link works", async () => {
  const email = "twice-at-once@example.com";
  await product.join(email);
  await Promise.all([recover(email), recover(email)]);
  const tokens = await tokensTo(email);
  expect(tokens).toHaveLength(2);
  const looks = await Promise.all(tokens.map((token) => product.post("/api/auth/recovery-link", { token })));
  expect(looks.map((answer) => answer.statusCode).sort()).toEqual([200, 400]);
});

test("known, unknown and banned addresses get the same answer to a recovery; only the known one gets a mail, in the person's language", async () => {
  const known = "known-recovery@example.com";
  const banned = "banned-recovery@example.com";
  const { user } = await product.join(known);
  await product.db.updateTable("users").set({ language: "ja" }).where("id", "=", user.id).execute();
  const { user: bannedUser } = await product.join(banned);
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", bannedUser.id).execute();
  const answers = await Promise.all([known, "nobody-recovery@example.com", banned].map((email) => recover(email)));
  const shown = answers.map(({ statusCode, body, headers }) => {
    const { date, "x-ratelimit-reset": reset, ...rest } = headers;
    return { statusCode, body, headers: { ...rest, "set-cookie": String(rest["set-cookie"]).replace(/=[^;]+/, "=…").length } };
  });
  expect(shown[1]).toEqual(shown[0]);
  expect(shown[2]).toEqual(shown[0]);
  const mails = await product.db.selectFrom("mails").select(["recipient", "language"]).where("template", "=", "password-reset").execute();
  const ofThese = mails.filter(({ recipient }) => /-recovery@/.test(recipient));
  expect(ofThese).toEqual([{ recipient: known, language: "ja" }]);
});

test("a recovery counts as a mail: five an hour to one mailbox by one network, without a word about it", async () => {
  const email = "flooded@example.com";
  await product.join(email);
  await product.db.deleteFrom("auth_attempts").execute();
  const address = randomAddress();
  for (let round = 0; round < 7; round += 1) expect((await recover(email, address)).statusCode).toBe(202);
  expect(await tokensTo(email)).toHaveLength(5);
  // The last link that was mailed still works.
  expect((await reset((await tokensTo(email)).at(-1) ?? "")).statusCode).toBe(200);
});

test("one mailed link can be tried twenty times an hour and one network can try sixty, then both have to wait", async () => {
  const email = "tried@example.com";
  await product.join(email);
  const token = await tokenTo(email);
  for (let round = 0; round < 20; round += 1) expect((await reset(token, { secret: "short" })).statusCode).toBe(400);
  const refused = await reset(token);
  expect(refused.json()).toMatchObject({ status: 429, code: "too_many_attempts", retryAfterSeconds: 60 });
  const row = { key: "link-address:10.0.9.9", failures: 59, window_started_at: new Date(), blocked_until: null };
  await product.db.insertInto("auth_attempts").values(row).execute();
  const forged = () => product.post("/api/auth/reset-password", { token: "x.y", password: chosen }, { remoteAddress: "10.0.9.9" });
  expect((await forged()).json()).toMatchObject({ code: "link_invalid" });
  expect((await forged()).json()).toMatchObject({ code: "too_many_attempts" });
});

test("a link for one purpose opens nothing else", async () => {
  const email = "purposes@example.com";
  await product.join(email);
  const [confirmation = ""] = await product.mailedTokens(email);
  expect((await reset(confirmation)).json()).toMatchObject({ code: "link_invalid" });
  const token = await tokenTo(email);
  expect((await product.post("/api/auth/confirm", { token, password })).json()).toMatchObject({ code: "link_invalid" });
  expect((await product.post("/api/auth/link", { token })).json()).toMatchObject({ code: "link_invalid" });
});

test("an account without a password gets its first one by a recovery", async () => {
  const email = "passwordless@example.com";
  const { user } = await product.join(email);
  await product.asOwner(`delete from credentials where user_id = '${user.id}'`);
  expect((await reset(await tokenTo(email))).statusCode).toBe(200);
  expect((await product.signIn(email, chosen)).statusCode).toBe(200);
});

test("a person banned after the mail was sent can't use its link", async () => {
  const email = "banned-later@example.com";
  const { user } = await product.join(email);
  const token = await tokenTo(email);
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", user.id).execute();
  expect((await reset(token)).json()).toMatchObject({ code: "link_invalid" });
});

test("a new password must keep the rules, and a refused one leaves the link good", async () => {
  const email = "carefully7chosen@example.com";
  await product.join(email);
  const token = await tokenTo(email);
  const faults = {
    "short 1": ruleMessages.passwordShort,
    Password123: ruleMessages.passwordCommon,
    CAREFULLY7chosen: ruleMessages.passwordIsAddress,
    "carefully7chosen@example.com": ruleMessages.passwordIsAddress,
  };
  for (const [secret, message] of Object.entries(faults))
    expect((await reset(token, { secret })).json()).toMatchObject({ code: "validation_failed", fields: [{ field: "password", message }] });
  expect((await reset(token)).statusCode).toBe(200);
});

test("whoever chose a new password is not locked out by strangers' guesses", async () => {
  const email = "besieged-reset@example.com";
  await product.join(email);
  const answer = await reset(await tokenTo(email));
  const row = { key: `email:${email}`, failures: 20, window_started_at: new Date(), blocked_until: new Date(Date.now() + 60_000) };
  await product.db.insertInto("auth_attempts").values(row).execute();
  const signIn = (headers = {}) =>
    product.post("/api/auth/sign-in", { email, password: chosen }, { headers, remoteAddress: randomAddress() });
  expect((await signIn()).statusCode).toBe(429);
  expect((await signIn(cookiesOf(answer))).statusCode).toBe(200);
});

test("the cookie of a recovery can't be forged, and does not contain the mailed token", async () => {
  const email = `forged-${randomUUID()}@example.com`;
  await product.join(email);
  const { cookie } = cookiesOf(await recover(email));
  const [token = ""] = await tokensTo(email);
  const [id = "", signature = ""] = cookie.slice("recovery=".length).split(".");
  expect(token).toContain(id);
  expect(token).not.toContain(signature);
  const forged = { cookie: `recovery=${token}` };
  expect((await reset(token, { headers: forged })).json()).toEqual({ session: null });
});
