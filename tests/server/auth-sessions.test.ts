import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { deriveKey } from "#server/http/secret-keys.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterEach(() => vi.useRealTimers());
afterAll(() => product.close());

const refresh = (token: string) => product.post("/api/auth/refresh", { refresh_token: token });
const sessionExpired = { status: 401, code: "session_expired" };

/** Moves the last rotation into the past, so that its grace period is over. */
async function passGrace(session: Session): Promise<void> {
  await product.db
    .updateTable("auth_sessions")
    .set({ rotated_at: new Date(Date.now() - 46_000) })
    .where("user_id", "=", session.user.id)
    .execute();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Signs a JWT with the server's own key, so that only its content is wrong. */
function forge(
  claims: object,
  header: object = { alg: "HS256", typ: "JWT" },
  key = deriveKey(product.config.secretKeys[0], "access-token"),
): string {
  const body = `${encode(header)}.${encode(claims)}`;
  return `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
}

test("a refresh token is exchanged for a new one, which works in turn", async () => {
  let session = await product.join();
  for (let round = 0; round < 4; round += 1) {
    const answer = await refresh(session.refresh_token);
    expect(answer.statusCode).toBe(200);
    expect(answer.json().refresh_token).not.toBe(session.refresh_token);
    session = answer.json();
    expect((await product.get("/api/account", session.access_token)).statusCode).toBe(200);
  }
});

test("five tabs that refresh at once all get the same new token and stay signed in", async () => {
  const first = await product.join();
  const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(first.refresh_token)));
  expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 200]);
  const successors = new Set(answers.map((answer) => answer.json<Session>().refresh_token));
  expect(successors.size).toBe(1);
  expect((await refresh([...successors][0] ?? "")).statusCode).toBe(200);
});

test("whoever did not receive the response of a refresh stays signed in, however long they were away", async () => {
  const first = await product.join();
  expect((await product.get("/api/account", first.access_token)).statusCode).toBe(200);
  const lost = (await refresh(first.refresh_token)).json<Session>();
  await passGrace(first);
  const again = (await refresh(first.refresh_token)).json<Session>();
  expect(again.refresh_token).toBe(lost.refresh_token);
  // The access token of before is still good for a while, and shows nothing of what was received.
  expect((await product.get("/api/account", first.access_token)).statusCode).toBe(200);
  expect((await refresh(first.refresh_token)).statusCode).toBe(200);
  expect((await product.get("/api/account", again.access_token)).statusCode).toBe(200);
  expect((await refresh(first.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await product.get("/api/account", again.access_token)).statusCode).toBe(401);
});

test("a session whose row is locked keeps nobody waiting, and that its tokens are in use is noted afterwards", async () => {
  const [first, other] = [await product.join(), await product.join()];
  const renewed = (await refresh(first.refresh_token)).json<Session>();
  const ask = async ({ access_token }: Session) => (await product.get("/api/account", access_token)).statusCode;
  await product.db.transaction().execute(async (trx) => {
    await trx.selectFrom("auth_sessions").select("id").where("user_id", "=", first.user.id).forUpdate().execute();
    expect(await Promise.all([ask(renewed), ask(other)])).toEqual([200, 200]);
  });
  expect(await ask(renewed)).toBe(200);
  await passGrace(first);
  expect((await refresh(first.refresh_token)).json()).toMatchObject(sessionExpired);
});

test("reusing a refresh token whose successor is in use ends the session after the grace period, its access tokens included", async () => {
  const first = await product.join();
  const second = (await refresh(first.refresh_token)).json<Session>();
  expect((await product.get("/api/account", second.access_token)).statusCode).toBe(200);
  await passGrace(first);
  expect((await refresh(first.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await refresh(second.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await product.get("/api/account", second.access_token)).statusCode).toBe(401);
});

test("reusing a token that was replaced twice ends the session even within the grace period", async () => {
  const first = await product.join();
  const second = (await refresh(first.refresh_token)).json<Session>();
  const third = (await refresh(second.refresh_token)).json<Session>();
  expect((await refresh(first.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await refresh(third.refresh_token)).json()).toMatchObject(sessionExpired);
});

test("signing out ends one session and leaves the person's others", async () => {
  const first = await product.join("two-devices@example.com");
  const other = (await product.signIn("two-devices@example.com")).json<Session>();
  expect((await product.post("/api/auth/sign-out", { refresh_token: first.refresh_token })).statusCode).toBe(204);
  expect((await product.get("/api/account", first.access_token)).json()).toMatchObject({ status: 401, code: "unauthenticated" });
  expect((await refresh(first.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await product.get("/api/account", other.access_token)).statusCode).toBe(200);
  for (const token of [first.refresh_token, "", "x", `${other.refresh_token}x`])
    expect((await product.post("/api/auth/sign-out", { refresh_token: token })).statusCode).toBe(204);
  expect((await refresh(other.refresh_token)).statusCode).toBe(200);
});

test("forged and misused tokens are refused: alg none, another algorithm, audience or key, expired, a refresh token as access token", async () => {
  const session = await product.join();
  const [, payload = ""] = session.access_token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
  expect((await product.get("/api/account", forge(claims))).statusCode).toBe(200);
  const bad = {
    none: `${encode({ alg: "none", typ: "JWT" })}.${payload}.`,
    noneSigned: forge(claims, { alg: "none", typ: "JWT" }),
    otherAlgorithm: forge(claims, { alg: "HS512", typ: "JWT" }),
    asymmetric: forge(claims, { alg: "RS256", typ: "JWT" }),
    otherAudience: forge({ ...claims, aud: "another" }),
    noAudience: forge(without("aud")),
    otherIssuer: forge({ ...claims, iss: "another" }),
    noExpiry: forge(without("exp")),
    expired: forge({ ...claims, iat: claims.iat - 1_000, exp: claims.iat - 400 }),
    otherPerson: forge({ ...claims, sub: (await product.join()).user.id }),
    noSession: forge(without("sid")),
    oddSession: forge({ ...claims, sid: "' or 1=1" }),
    numericSession: forge({ ...claims, sid: 7 }),
    rawKey: forge(claims, undefined, Buffer.from(product.config.secretKeys[0])),
    refreshKey: forge(claims, undefined, deriveKey(product.config.secretKeys[0], "refresh-token")),
    refreshAsAccess: session.refresh_token,
    cut: session.access_token.slice(0, -1),
    nothing: "",
  };
  for (const [name, token] of Object.entries(bad)) {
    const answer = await product.get("/api/account", token);
    expect([name, answer.statusCode, answer.json().code]).toEqual([name, 401, "unauthenticated"]);
  }
  expect((await refresh(session.access_token)).json()).toMatchObject(sessionExpired);
  const [family = "", , signature = ""] = session.refresh_token.split(".");
  for (const token of [`${family}.1.${signature}`, `${family}.00.${signature}`, `${family}.0.${signature}.0`, `${family}.-1.${signature}`])
    expect((await refresh(token)).json()).toMatchObject(sessionExpired);
  expect((await refresh(session.refresh_token)).statusCode).toBe(200);
});

test("a ban takes effect at the next call, and a session unused for 30 days has ended", async () => {
  const banned = await product.join("banned@example.com");
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", banned.user.id).execute();
  expect((await product.get("/api/account", banned.access_token)).statusCode).toBe(401);
  expect((await refresh(banned.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await product.signIn("banned@example.com")).json()).toMatchObject({ code: "invalid_credentials" });

  const old = await product.join();
  const expiry = () =>
    product.db
      .selectFrom("auth_sessions")
      .select(["expires_at", "rotated_at"])
      .where("user_id", "=", old.user.id)
      .executeTakeFirstOrThrow();
  const { expires_at, rotated_at } = await expiry();
  expect(expires_at.getTime() - rotated_at.getTime()).toBe(30 * 86_400_000);
  await product.db
    .updateTable("auth_sessions")
    .set({ expires_at: new Date(Date.now() - 1) })
    .where("user_id", "=", old.user.id)
    .execute();
  expect((await refresh(old.refresh_token)).json()).toMatchObject(sessionExpired);
  expect((await product.get("/api/account", old.access_token)).statusCode).toBe(401);
});

test("a session ends after 180 days, however often it is used", async () => {
  const session = await product.join();
  const sessions = () => product.db.updateTable("auth_sessions").where("user_id", "=", session.user.id);
  const opened = new Date(Date.now() - 179 * 86_400_000);
  await sessions().set({ created_at: opened }).execute();
  expect((await refresh(session.refresh_token)).statusCode).toBe(200);
  const { expires_at } = await product.db
    .selectFrom("auth_sessions")
    .select("expires_at")
    .where("user_id", "=", session.user.id)
    .executeTakeFirstOrThrow();
  expect(expires_at.getTime() - opened.getTime()).toBe(180 * 86_400_000);
});

test("an access token is valid for ten minutes", async () => {
  const session = await product.join();
  const { sub, sid, iat, exp } = product.app.jwt.verify<{ sub: string; sid: string; iat: number; exp: number }>(session.access_token);
  expect([exp - iat, session.expires_in]).toEqual([600, 600]);
  expect(Math.abs(session.expires_at - exp)).toBeLessThanOrEqual(1);
  /** An access token as the server would have signed it that many seconds ago. */
  const signedAgo = (seconds: number) => {
    const claims = { sub, sid, iat: Math.floor(Date.now() / 1_000) - seconds };
    return product.app.jwt.sign(claims);
  };
  expect((await product.get("/api/account", signedAgo(590))).statusCode).toBe(200);
  expect((await product.get("/api/account", signedAgo(601))).json()).toMatchObject({ status: 401, code: "unauthenticated" });
  // One that was accepted before is refused, too, once its time is over, and no other signature is taken for it.
  const token = session.access_token;
  expect((await product.get("/api/account", token)).statusCode).toBe(200);
  const altered = `${token.slice(0, -4)}${token.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
  expect((await product.get("/api/account", altered)).statusCode).toBe(401);
  expect((await product.get("/api/account", token)).statusCode).toBe(200);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
  expect((await product.get("/api/account", token)).json()).toMatchObject({ status: 401, code: "unauthenticated" });
  vi.useRealTimers();
  // The refresh token still works after the access token has expired.
  expect((await refresh(session.refresh_token)).statusCode).toBe(200);
});
