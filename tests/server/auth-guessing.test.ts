import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { addressKey, takeAttempt } from "#server/features/auth/attempts.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

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

test("after five wrong passwords an account waits, from any address, whether it exists or not; the right password frees it", async () => {
  await product.join("guessed@example.com");
  for (const email of ["guessed@example.com", "nobody@example.com"]) {
    for (let round = 0; round < 5; round += 1) expect((await guess(email)).json()).toMatchObject({ code: "invalid_credentials" });
    const refused = await guess(email, "10.0.0.2", password);
    expect(refused.json()).toMatchObject({ status: 429, code: "too_many_attempts", retryAfterSeconds: 15 });
    expect(refused.headers["retry-after"]).toBe("15");
  }
  await product.db
    .updateTable("auth_attempts")
    .set({ blocked_until: new Date(Date.now() - 1) })
    .execute();
  expect((await guess("guessed@example.com", "10.0.0.2", password)).statusCode).toBe(200);
  expect((await guess("guessed@example.com")).json()).toMatchObject({ code: "invalid_credentials" });
});

test("thirty guesses at once get no more tries than five one after another", async () => {
  await product.join("rushed@example.com");
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => guess("rushed@example.com", `10.0.1.${index}`)));
  expect(answers.filter((answer) => answer.json().code === "invalid_credentials")).toHaveLength(5);
  expect(answers.filter((answer) => answer.json().code === "too_many_attempts")).toHaveLength(25);
});

test("one network address that guesses over many accounts waits; others go on, and so does it with rightful sign-ins before", async () => {
  await product.join("neighbour@example.com");
  for (let round = 0; round < 50; round += 1) await guess(`account-${round}@example.com`, "10.0.2.1");
  expect((await guess("neighbour@example.com", "10.0.2.1", password)).json()).toMatchObject({ code: "too_many_attempts" });
  expect((await guess("neighbour@example.com", "10.0.2.2", password)).statusCode).toBe(200);
});

test("waits double up to a quarter of an hour, and an hour of peace forgets", async () => {
  const key = `email:${randomUUID()}` as const;
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

test("an IPv6 subscriber is one address however many they own, and IPv4 is itself however it is written", () => {
  expect(addressKey("2001:db8:1:2:aaaa::1")).toBe(addressKey("2001:db8:1:2:bbbb:cccc:dddd:eeee"));
  expect(addressKey("2001:db8:1:2::1")).not.toBe(addressKey("2001:db8:1:3::1"));
  expect(addressKey("fe80::1%eth0")).toBe(addressKey("fe80::2"));
  expect(addressKey("::1")).toBe("address:0:0:0:0::/64");
  expect(addressKey("::ffff:10.0.0.1")).toBe(addressKey("10.0.0.1"));
});
