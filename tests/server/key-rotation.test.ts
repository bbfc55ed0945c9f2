/** Replacing SECRET_KEY: the new key signs, the old one still verifies, and what only a dropped key has signed is worth nothing. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { addDevice, readBegun, readDevice, writeBegun } from "#server/features/auth/browser.ts";
import * as google from "#server/features/auth/google-cookies.ts";
import { linkToken, readLinkToken } from "#server/features/notifications/links.ts";
import { payToken, readPayToken } from "#server/features/notifications/pay-links.ts";
import type { KeyHolder } from "#server/http/secret-keys.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password } from "./auth-support.ts";

const oldKey = "the key of the tests before the rotation";
const newKey = "the key of the tests after the rotation";

/** Each has the keys of one step of a rotation, on one database. */
interface Process {
  app: Awaited<ReturnType<typeof buildApp>>;
  deps: ReturnType<typeof createDeps>;
}

let before: AuthApp;
let prepared: Process;
let rotated: Process;
let after: Process;

async function start(keys: { SECRET_KEY: string; SECRET_KEY_PREVIOUS?: string }): Promise<Process> {
  const database = { applicationUrl: before.config.databaseUrl };
  const deps = createDeps(readConfig(testEnvironment(database, { PUBLIC_URL: "http://tessera.test", ...keys })), "test");
  const app = await buildApp(deps);
  await app.ready();
  return { app, deps };
}

beforeAll(async () => {
  before = await createAuthApp({ SECRET_KEY: oldKey });
  prepared = await start({ SECRET_KEY: oldKey, SECRET_KEY_PREVIOUS: newKey });
  rotated = await start({ SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey });
  after = await start({ SECRET_KEY: newKey });
});
afterAll(async () => {
  for (const { app, deps } of [prepared, rotated, after]) {
    await app.close();
    await deps.close();
  }
  await before.close();
});

const post = ({ app }: Pick<Process, "app">, url: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: "POST", url, payload, headers });
const refresh = (process: Pick<Process, "app">, session: Session) =>
  post(process, "/api/auth/refresh", { refresh_token: session.refresh_token });
const account = ({ app }: Pick<Process, "app">, session: Session) =>
  app.inject({ method: "GET", url: "/api/account", headers: { authorization: `Bearer ${session.access_token}` } });

describe("a session opened before the rotation", () => {
  test("goes on: its access token is valid, and its refresh token gets a successor that outlives the old key", async () => {
    const session = await before.join();
    expect((await account(rotated, session)).statusCode).toBe(200);
    const next = (await refresh(rotated, session)).json<Session>();
    expect((await account(after, next)).statusCode).toBe(200);
    expect((await refresh(after, next)).statusCode).toBe(200);
  });

  test("goes on if the response of its last refresh was lost on the way", async () => {
    const session = await before.join();
    const lost = (await refresh(before, session)).json<Session>();
    const repeated = (await refresh(rotated, session)).json<Session>();
    expect(repeated.refresh_token).not.toBe(lost.refresh_token);
    expect((await refresh(rotated, repeated)).statusCode).toBe(200);
    expect((await refresh(rotated, lost)).statusCode).toBe(200);
  });

  test("has ended for a process that does not know its key any more", async () => {
    const session = await before.join();
    expect((await account(after, session)).json()).toMatchObject({ status: 401, code: "unauthenticated" });
    expect((await refresh(after, session)).json()).toMatchObject({ status: 401, code: "session_expired" });
  });

  test("still ends when a refresh token is used again after its grace", async () => {
    const session = await before.join();
    const next = (await refresh(rotated, session)).json<Session>();
    expect((await account(rotated, next)).statusCode).toBe(200);
    const rotatedAt = new Date(Date.now() - 46_000);
    await before.db.updateTable("auth_sessions").set({ rotated_at: rotatedAt }).where("user_id", "=", session.user.id).execute();
    expect((await refresh(rotated, session)).json()).toMatchObject({ code: "session_expired" });
    expect((await refresh(rotated, next)).json()).toMatchObject({ code: "session_expired" });
  });
});

test("a process that already knows the coming key accepts what the others sign with it", async () => {
  const next = (await refresh(rotated, await before.join())).json<Session>();
  expect((await account(prepared, next)).statusCode).toBe(200);
  expect((await refresh(prepared, next)).statusCode).toBe(200);
  expect((await refresh(before, next)).json()).toMatchObject({ code: "session_expired" });
});

describe("a sign-up begun before the rotation", () => {
  const mailed = async (process: Pick<Process, "deps">, email: string) => {
    const where = before.db.selectFrom("mails").select("parameters").where("recipient", "=", email);
    const { parameters } = await where.where("template", "=", "confirm-email").executeTakeFirstOrThrow();
    return linkToken(process.deps.config, String(parameters.linkId));
  };

  test.each([
    ["before", () => before],
    ["after", () => rotated],
  ])("opens with the link of a mail written %s it, in the browser that began it", async (_, writer) => {
    const email = `person-${randomUUID()}@example.com`;
    const begun = await before.post("/api/auth/sign-up", { email, password });
    const confirmed = await post(rotated, "/api/auth/confirm", { token: await mailed(writer(), email) }, cookiesOf(begun));
    expect(confirmed.json()).toMatchObject({ user: { email } });
  });

  test("is told at sign-in to confirm the address", async () => {
    const email = `person-${randomUUID()}@example.com`;
    await before.post("/api/auth/sign-up", { email, password });
    const signIn = (process: Process, typed: string) => post(process, "/api/auth/sign-in", { email, password: typed });
    expect((await signIn(rotated, password)).json()).toMatchObject({ code: "email_not_confirmed" });
    expect((await signIn(rotated, "another 1 that is wrong")).json()).toMatchObject({ code: "invalid_credentials" });
    expect((await signIn(after, password)).json()).toMatchObject({ code: "invalid_credentials" });
  });

  test("can't be confirmed with a link whose key is gone", async () => {
    const email = `person-${randomUUID()}@example.com`;
    const begun = await before.post("/api/auth/sign-up", { email, password });
    const confirmed = await post(after, "/api/auth/confirm", { token: await mailed(before, email) }, cookiesOf(begun));
    expect(confirmed.json()).toMatchObject({ code: "link_invalid" });
  });
});

describe("a signature of the old key", () => {
  const id = randomUUID();
  const person = { id, password_hash: "a hash" };
  const now = new Date();
  const begun = { state: "a state", purpose: "sign-in", returnTo: null, userId: null, at: now.getTime() } as const;
  const signed: [string, (keys: KeyHolder) => string, (keys: KeyHolder, text: string) => unknown][] = [
    ["a mailed link", (keys) => linkToken(keys, id), readLinkToken],
    ["a link to pay", (keys) => payToken(keys, "in_1"), readPayToken],
    ["the cookie of a sign-up", (keys) => writeBegun(keys, "sign-up", [id]), (keys, text) => readBegun(keys, "sign-up", text)[0]],
    ["the cookie of a recovery", (keys) => writeBegun(keys, "recovery", [id]), (keys, text) => readBegun(keys, "recovery", text)[0]],
    [
      "the cookie of another address",
      (keys) => writeBegun(keys, "email-change", [id]),
      (keys, text) => readBegun(keys, "email-change", text)[0],
    ],
    ["the cookie of a device", (keys) => addDevice(keys, undefined, person, now), (keys, text) => readDevice(keys, text, person, now)],
    ["the cookie of a sign-in with Google", (keys) => google.writeBegun(keys, begun), (keys, text) => google.readBegun(keys, text, now)],
    [
      "the nonce of a sign-in with Google",
      (keys) => google.noncesOf(keys, "a state")[0],
      (keys, text) => google.noncesOf(keys, "a state").find((nonce) => nonce === text),
    ],
  ];

  test.each(signed)("on %s is valid while the key is the previous one, and not after that", (_, write, read) => {
    const text = write({ secretKeys: [oldKey] });
    expect(read({ secretKeys: [newKey, oldKey] }, text)).toBeDefined();
    expect(read({ secretKeys: [newKey] }, text)).toBeUndefined();
    expect(read({ secretKeys: [newKey] }, write({ secretKeys: [newKey, oldKey] }))).toBeDefined();
  });

  test("on a link that switches off a kind of mails is valid while the key is the previous one", async () => {
    const { unsubscribe, unsubscribeToken } = await import("#server/features/notifications/choices.ts");
    const email = `person-${randomUUID()}@example.com`;
    const { user } = await before.join(email);
    const mail = { template: "trial-ending", userId: user.id, recipient: email };
    const token = await unsubscribeToken(before.db, before.config, mail);
    await expect(unsubscribe(after.deps, token ?? "")).rejects.toMatchObject({ code: "link_invalid" });
    await expect(unsubscribe(rotated.deps, token ?? "")).resolves.toEqual({ kind: "trial" });
  });
});
