import { readFileSync } from "node:fs";
import { hash } from "@node-rs/argon2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkPassword, ruleMessages } from "#domain/rules.ts";
import { checkNewPassword } from "#server/features/auth/password-rules.ts";
import { createUser } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

async function hashOf(userId: string): Promise<string> {
  const row = await product.db.selectFrom("credentials").select("data").where("user_id", "=", userId).executeTakeFirstOrThrow();
  return "hash" in row.data ? row.data.hash : "";
}

const today = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

test("a password hashed with other parameters is hashed again when its person signs in, and once", async () => {
  const passwordHash = await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
  const { userId, email } = await createUser(product.db, { passwordHash });
  expect((await product.signIn(email, "wrong pass 1")).statusCode).toBe(401);
  expect(await hashOf(userId)).toBe(passwordHash);
  const signedIn = await product.signIn(email);
  expect(signedIn.statusCode).toBe(200);
  const renewed = await hashOf(userId);
  expect(renewed).toMatch(today);
  // The device cookie belongs to the new hash, so the browser is known at the next sign-in.
  const again = await product.post("/api/auth/sign-in", { email, password: "wrong pass 1" }, { headers: cookiesOf(signedIn) });
  expect(again.statusCode).toBe(401);
  const own = await product.db.selectFrom("auth_attempts").select("key").where("key", "like", "device:%").execute();
  expect(own).toHaveLength(1);
  expect((await product.signIn(email)).statusCode).toBe(200);
  expect(await hashOf(userId)).toBe(renewed);
});

test("new passwords are hashed with today's parameters", async () => {
  const { user } = await product.join();
  expect(await hashOf(user.id)).toMatch(today);
});

test("each of the commonest passwords is refused in any letter case, and those in the list would pass the other rules", () => {
  const list = readFileSync(new URL("../../server/features/auth/common-passwords.txt", import.meta.url), "utf8");
  const passwords = list.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(passwords.length).toBeGreaterThan(5_000);
  expect(new Set(passwords).size).toBe(passwords.length);
  for (const each of passwords) {
    expect(checkPassword(each, "ada@example.com"), each).toBeUndefined();
    expect(checkNewPassword(each.toUpperCase(), "ada@example.com"), each).toBe(ruleMessages.passwordCommon);
  }
});

test.each([
  ["ada.lovelace1815@example.com", "the address"],
  ["Ada.Lovelace1815", "what stands before its @"],
  [" ADA.LOVELACE1815 ", "the same in capitals and spaces"],
])("a new password %s is refused at sign-up: it is %s", async (secret) => {
  const answer = await product.post("/api/auth/sign-up", { email: "Ada.Lovelace1815@example.com", password: secret });
  expect(answer.json()).toMatchObject({ fields: [{ field: "password", message: ruleMessages.passwordIsAddress }] });
});

test.each(["tessera1", "Tessera2026!", "  4TESSERA4", "my-tessera-1", "Ｔessera2026"])(
  "the product's name is no password: %j",
  (secret) => {
    expect(checkNewPassword(secret, "ada@example.com")).toBe(ruleMessages.passwordCommon);
  },
);

test("a password may contain the product's name", () => {
  expect(checkNewPassword("a tessera 4 two", "ada@example.com")).toBeUndefined();
});

test("an account whose password is refused today still signs in with it", async () => {
  const { email } = await createUser(product.db, { email: "early7adopter@example.com", passwordHash: await hash("early7adopter") });
  expect((await product.signIn(email, "early7adopter")).statusCode).toBe(200);
});
