import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { ruleMessages } from "#domain/rules.ts";
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
const change = ({ access_token: token }: Session, currentPassword = password, secret = chosen) =>
  product.post(
    "/api/account/password",
    { currentPassword, password: secret },
    { headers: { authorization: `Bearer ${token}` }, remoteAddress: randomAddress() },
  );

test("another password ends every session but this one, leaves the browser known, is told by mail and recorded", async () => {
  const email = "changes@example.com";
  const session = await product.join(email);
  const other = (await product.signIn(email)).json<Session>();
  const answer = await change(session);
  expect(answer.statusCode).toBe(204);
  expect((await product.get("/api/account", session.access_token)).statusCode).toBe(200);
  expect((await product.get("/api/account", other.access_token)).statusCode).toBe(401);
  expect((await product.signIn(email)).json()).toMatchObject({ code: "invalid_credentials" });
  const blocked = { key: `email:${email}`, failures: 20, window_started_at: new Date(), blocked_until: new Date(Date.now() + 60_000) };
  await product.db.deleteFrom("auth_attempts").execute();
  await product.db.insertInto("auth_attempts").values(blocked).execute();
  const signIn = (headers = {}) =>
    product.post("/api/auth/sign-in", { email, password: chosen }, { headers, remoteAddress: randomAddress() });
  expect((await signIn()).statusCode).toBe(429);
  expect((await signIn(cookiesOf(answer))).statusCode).toBe(200);
  expect(await product.templatesTo(email)).toEqual(["confirm-email", "password-changed"]);
  const act = await product.db.selectFrom("audit_events").select("details").where("action", "=", "password.changed").executeTakeFirst();
  expect(act?.details).toEqual({ proof: "current_password" });
});

test("the current password is needed, and can be guessed five times in a session", async () => {
  const session = await product.join();
  for (let round = 0; round < 5; round += 1)
    expect((await change(session, "wrong pass 1")).json()).toMatchObject({ code: "wrong_password" });
  const refused = await change(session);
  expect(refused.json()).toMatchObject({ code: "too_many_attempts", retryAfterSeconds: 15 });
  expect((await product.signIn(session.user.email)).statusCode).toBe(200);
});

test("a new password must keep the rules, and is judged before the current one is looked at", async () => {
  const session = await product.join("rules4password@example.com");
  for (const [secret, message] of [
    ["short 1", ruleMessages.passwordShort],
    ["password123", ruleMessages.passwordCommon],
    ["Rules4Password", ruleMessages.passwordIsAddress],
  ] as const)
    expect((await change(session, "wrong pass 1", secret)).json()).toMatchObject({ fields: [{ field: "password", message }] });
  expect(await product.db.selectFrom("auth_attempts").select("key").where("key", "like", "step-up:%").execute()).toEqual([]);
});

test("of two changes at once with the same current password, one succeeds", async () => {
  const session = await product.join();
  const answers = await Promise.all([change(session, password, "secret choice 1"), change(session, password, "secret choice 2")]);
  expect(answers.filter((answer) => answer.statusCode === 204)).toHaveLength(1);
});

test("a mailed link for a new password stops working once the password was changed", async () => {
  const email = "both-ways@example.com";
  const session = await product.join(email);
  await product.post("/api/auth/recover", { email }, { remoteAddress: randomAddress() });
  const links = () => product.db.selectFrom("email_links").select("id").where("user_id", "=", session.user.id).where("used_at", "is", null);
  expect(await links().execute()).toHaveLength(1);
  expect((await change(session)).statusCode).toBe(204);
  expect(await links().execute()).toEqual([]);
});

test("a password can't be changed without being signed in", async () => {
  const answer = await product.post("/api/account/password", { currentPassword: password, password: chosen });
  expect(answer.json()).toMatchObject({ code: "unauthenticated" });
});
