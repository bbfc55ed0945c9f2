import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AttemptKey } from "#server/features/attempts/service.ts";
import { networkKeys, takeAttempt } from "#server/features/attempts/service.ts";
import { readDevice } from "#server/features/auth/browser.ts";
import { findPerson } from "#server/features/auth/queries.ts";
import { clientNetwork } from "#server/http/client-network.ts";
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

const guess = (email: string, remoteAddress = "10.0.0.1", secret = "wrong pass 1") =>
  product.post("/api/auth/sign-in", { email, password: secret }, { remoteAddress });

/**
 * Sends ten guesses at once until all are refused, or more than twenty would be checked; returns how many were checked. Guesses refused as
 * "busy" were not checked. On a busy machine one more round could begin after the wait.
 */
async function triesUntilRefused(attempt: () => Promise<LightMyRequestResponse>): Promise<number> {
  for (let tries = 0; ; ) {
    const codes = (await Promise.all(Array.from({ length: 10 }, attempt))).map((answer) => answer.json().code);
    tries += codes.filter((code) => code === "invalid_credentials").length;
    const refused = codes.filter((code) => code === "too_many_attempts").length;
    if (refused === codes.length || (refused > 0 && tries >= 20)) return tries;
  }
}

/** Inserts an attempt counter as if there had been that many failures in the last hour. */
async function countBefore(key: AttemptKey, failures: number): Promise<void> {
  const row = { key, failures, window_started_at: new Date(Date.now() - 60_000), blocked_until: null };
  await product.db.insertInto("auth_attempts").values(row).execute();
}

test("five wrong passwords block a network from that account, whether it exists or not; other networks are not blocked", async () => {
  await product.join("guessed@example.com");
  for (const email of ["guessed@example.com", "nobody@example.com"]) {
    for (let round = 0; round < 5; round += 1) expect((await guess(email)).json()).toMatchObject({ code: "invalid_credentials" });
    const refused = await guess(email, "10.0.0.1", password);
    const { retryAfterSeconds: wait, ...refusal } = refused.json();
    expect(refusal).toMatchObject({ status: 429, code: "too_many_attempts" });
    // 15 seconds from the fifth guess on.
    expect(wait).toBeLessThanOrEqual(15);
    expect(wait).toBeGreaterThan(0);
    expect(refused.headers["retry-after"]).toBe(String(wait));
    expect(refused.headers["ratelimit-policy"]).toBe('"guess";q=5;w=3600, "requests";q=600;w=60');
    expect(refused.headers.ratelimit).toMatch(new RegExp(`^"guess";r=0;t=${wait}, "requests";r=\\d+;t=\\d+$`));
  }
  expect((await guess("guessed@example.com", "10.0.0.2", password)).statusCode).toBe(200);
  await product.db
    .updateTable("auth_attempts")
    .set({ blocked_until: new Date(Date.now() - 1) })
    .execute();
  expect((await guess("guessed@example.com", "10.0.0.1", password)).statusCode).toBe(200);
  expect((await guess("guessed@example.com")).json()).toMatchObject({ code: "invalid_credentials" });
});

test("many networks together get twenty tries at an account, even all at once; a browser that signed in before can still sign in", async () => {
  await product.join("besieged@example.com");
  const known = cookiesOf(await product.signIn("besieged@example.com"));
  expect(known.cookie).toMatch(/^device=[\w.-]+$/);
  expect(await triesUntilRefused(() => guess("besieged@example.com", randomAddress()))).toBe(20);
  const signIn = (secret: string, headers = {}) =>
    product.post("/api/auth/sign-in", { email: "besieged@example.com", password: secret }, { headers, remoteAddress: "10.0.3.1" });
  expect((await signIn(password)).statusCode).toBe(429);
  expect((await signIn(password, known)).statusCode).toBe(200);

  // A known browser has its own counter for wrong passwords.
  for (let round = 0; round < 5; round += 1) expect((await signIn("wrong pass 1", known)).statusCode).toBe(401);
  expect((await signIn(password, known)).json()).toMatchObject({ code: "too_many_attempts", retryAfterSeconds: 15 });
  const keys = await product.db.selectFrom("auth_attempts").select("failures").where("key", "=", "email:besieged@example.com").execute();
  expect(keys).toEqual([{ failures: 20 }]);
});

test("a device cookie counts only if the server signed it, for its own account, for a year, and until the password changes", async () => {
  const session = await product.join("devices@example.com");
  await product.join("elsewhere@example.com");
  const signIn = (email: string, headers = {}) =>
    product.post("/api/auth/sign-in", { email, password }, { headers, remoteAddress: randomAddress() });
  const first = await signIn("devices@example.com");
  expect(first.headers["set-cookie"]).toMatch(/^device=[\w.-]{80,120}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Strict$/);
  const second = await signIn("elsewhere@example.com", cookiesOf(first));
  const { cookie } = cookiesOf(second);
  const [others = "", own = ""] = cookie.slice("device=".length).split("~");
  const account = await findPerson(product.db, session.user.id);
  if (!account) throw new Error("the account is missing");
  const now = new Date();
  const known = (entries: string, user = account, at = now) => readDevice(product.config, entries, user, at) !== undefined;
  expect(known(`${others}~${own}`)).toBe(true);
  expect(known(own)).toBe(true);
  const [person = "", since = "", id = "", signature = ""] = own.split(".");
  const forged = {
    others,
    cut: own.slice(0, -1),
    otherId: [person, since, `${id.slice(1)}A`, signature].join("."),
    later: [person, "zzzzzzz", id, signature].join("."),
    noDate: [person, "", id, signature].join("."),
    unsigned: [person, since, id, ""].join("."),
    nothing: "",
    odd: "~~.~...",
  };
  for (const [name, entries] of Object.entries(forged)) expect([name, known(entries)]).toEqual([name, false]);
  expect(known(own, account, new Date(now.getTime() + 364 * 86_400_000))).toBe(true);
  expect(known(own, account, new Date(now.getTime() + 366 * 86_400_000))).toBe(false);
  expect(known(own, { ...account, password_hash: "another" })).toBe(false);
  // A session from before device cookies existed gets one at its next refresh, and only once. Signing out keeps the cookie.
  const refresh = (token: string, headers = {}) => product.post("/api/auth/refresh", { refresh_token: token }, { headers });
  const remembered = await refresh(session.refresh_token);
  expect(known(cookiesOf(remembered).cookie.slice("device=".length))).toBe(true);
  const again = await refresh(remembered.json().refresh_token, cookiesOf(remembered));
  expect(again.headers["set-cookie"]).toBeUndefined();
  expect((await product.post("/api/auth/sign-out", { refresh_token: again.json().refresh_token })).headers["set-cookie"]).toBeUndefined();
});

test("one network gets fifty tries over all accounts, even all at once", async () => {
  await product.join("neighbour@example.com");
  await countBefore("address:10.0.2.1", 43);
  expect(await triesUntilRefused(() => guess(`account-${randomUUID()}@example.com`, "10.0.2.1"))).toBe(7);
  expect((await guess("neighbour@example.com", "10.0.2.1", password)).json()).toMatchObject({ code: "too_many_attempts" });
  // X-Forwarded-For from a caller that is no trusted proxy is ignored.
  const dressed = { headers: { "x-forwarded-for": "10.7.7.7" }, remoteAddress: "10.0.2.1" };
  expect((await product.post("/api/auth/sign-in", { email: "neighbour@example.com", password }, dressed)).statusCode).toBe(429);
  expect((await guess("neighbour@example.com", "10.0.2.2", password)).statusCode).toBe(200);
});

test("successful sign-ins don't use up an address's tries, even when one of them is the fiftieth", async () => {
  await product.join("office@example.com");
  await countBefore("address:10.0.4.1", 49);
  for (let round = 0; round < 3; round += 1) expect((await guess("office@example.com", "10.0.4.1", password)).statusCode).toBe(200);
  expect((await guess("office@example.com", "10.0.4.1")).statusCode).toBe(401);
  expect((await guess("office@example.com", "10.0.4.1", password)).statusCode).toBe(429);
});

test("of forty requests at once from one network thirty get a 429 with Retry-After, and those are not counted", async () => {
  const ask = (index: number) =>
    product.post("/api/auth/resend-confirmation", { email: `rush-${index}@example.com` }, { remoteAddress: "10.0.5.1" });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index)));
  const refused = answers.filter((answer) => answer.statusCode === 429);
  expect(refused).toHaveLength(30);
  for (const answer of refused) expect([answer.json().code, answer.headers["retry-after"]]).toEqual(["rate_limited", "1"]);
  const counted = await product.db.selectFrom("auth_attempts").select("failures").where("key", "=", "mail-address:10.0.5.1").execute();
  expect(counted).toEqual([{ failures: 10 }]);
});

test("one network can trigger forty mails and everybody together 120 a minute; further requests get a 429", async () => {
  const ask = (index: number, remoteAddress: string) =>
    product.post("/api/auth/resend-confirmation", { email: `asked-${index}@example.com` }, { remoteAddress });
  const statuses: number[] = [];
  for (let wave = 0; wave < 5; wave += 1)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 9 }, (_, index) => ask(wave * 9 + index, "10.0.6.1")))).map(
        ({ statusCode }) => statusCode,
      ),
    );
  expect(statuses.filter((status) => status === 202)).toHaveLength(40);
  const refused = await product.post("/api/auth/sign-up", { email: "fresh@example.com", password }, { remoteAddress: "10.0.6.1" });
  expect(refused.json()).toMatchObject({ code: "too_many_attempts", retryAfterSeconds: 60 });
  expect(
    (await product.post("/api/auth/sign-up", { email: "fresh@example.com", password }, { remoteAddress: "10.0.6.2" })).statusCode,
  ).toBe(202);
  const all = await Promise.all(Array.from({ length: 90 }, (_, index) => ask(100 + index, randomAddress())));
  expect(all.filter(({ statusCode }) => statusCode === 202)).toHaveLength(79);
  expect(all.find(({ statusCode }) => statusCode === 429)?.json()).toMatchObject({ code: "too_many_attempts" });
});

test("the password for a mailed link can be guessed five times, from however many networks", async () => {
  await product.post("/api/auth/sign-up", { email: "mailed@example.com", password }, { remoteAddress: randomAddress() });
  const [token = ""] = await product.mailedTokens("mailed@example.com");
  const open = (secret: string) => product.post("/api/auth/confirm", { token, password: secret }, { remoteAddress: randomAddress() });
  expect(await triesUntilRefused(() => open("wrong pass 1"))).toBe(5);
  expect((await open(password)).json()).toMatchObject({ code: "too_many_attempts" });
});

test("the wait doubles up to 15 minutes and starts again after an hour without tries", async () => {
  const key = `guess:${randomUUID()}` as const;
  let now = new Date("2026-11-20T10:00:00Z");
  const waits: number[] = [];
  for (let round = 0; round < 13; round += 1) {
    expect(await takeAttempt(product.db, key, now)).toBeNull();
    const wait = await takeAttempt(product.db, key, now);
    if (wait === null) continue;
    waits.push(wait);
    expect(await takeAttempt(product.db, key, new Date(now.getTime() + wait * 1_000 - 1))).not.toBeNull();
    now = new Date(now.getTime() + wait * 1_000);
  }
  expect(waits.slice(0, 8)).toEqual([15, 30, 60, 120, 240, 480, 900, 900]);
  now = new Date(now.getTime() + 3_600_000);
  for (let round = 0; round < 5; round += 1) expect(await takeAttempt(product.db, key, now)).toBeNull();
  expect(await takeAttempt(product.db, key, now)).toBe(15);
});

test("a whole IPv6 /64 counts as one address, and an IPv4 address written as IPv6 counts as itself", () => {
  const keysOf = (ip: string) => networkKeys("address", clientNetwork(ip));
  expect(keysOf("2001:db8:1:2:aaaa::1")).toEqual(keysOf("2001:db8:1:2:bbbb:cccc:dddd:eeee"));
  expect(keysOf("2001:db8:1:2::1")).toEqual(["address:2001:db8:1:2::/64", "address:2001:db8:1::/48"]);
  expect(keysOf("2001:db8:1:3::1")).toEqual(["address:2001:db8:1:3::/64", "address:2001:db8:1::/48"]);
  expect(keysOf("fe80::1%eth0")).toEqual(keysOf("fe80::2"));
  expect(keysOf("::1")).toEqual(["address:0:0:0:0::/64", "address:0:0:0::/48"]);
  expect(keysOf("::ffff:10.0.0.1")).toEqual(["address:10.0.0.1"]);
});

test("all networks in an IPv6 /48 together have four times the tries of one network", async () => {
  await product.join("site@example.com");
  await countBefore("address:2001:db8:7::/48", 196);
  let network = 0;
  const fromNextNetwork = () => {
    network += 1;
    return guess(`account-${randomUUID()}@example.com`, `2001:db8:7:${network.toString(16)}::1`);
  };
  expect(await triesUntilRefused(fromNextNetwork)).toBe(4);
  expect((await guess("site@example.com", "2001:db8:7:ffff::1", password)).json()).toMatchObject({ code: "too_many_attempts" });
  expect((await guess("site@example.com", "2001:db8:8:1::1", password)).statusCode).toBe(200);
});
