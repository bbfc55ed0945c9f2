import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

const emailOf = (length: number) => `${"a".repeat(length - "@example.com".length)}@example.com`;
const invalidEmail = "Invalid email address";

test.each<[string, string, string | undefined]>([
  ["nothing", "", invalidEmail],
  ["one character", "a", invalidEmail],
  ["spaces", "   ", invalidEmail],
  ["255 characters", emailOf(255), undefined],
  ["256 characters", emailOf(256), "Email must be less than 255 characters"],
  ["255 characters in spaces", `  ${emailOf(255)}\n`, undefined],
  ["no dot", "a@b", invalidEmail],
  ["a space inside", "a b@example.com", invalidEmail],
  ["a line break and a header", "a@example.com\r\nBcc: b@example.com", invalidEmail],
  ["two addresses", "a@example.com,b@example.com", invalidEmail],
  ["a display name", "A <a@example.com>", invalidEmail],
  ["emoji", "😀@example.com", invalidEmail],
  ["right-to-left marks", "a\u200f\u202eb@example.com", invalidEmail],
  ["letters beyond ASCII", "jürgen@bücher.example", undefined],
  ["a letter that changes its length in lower case", "İstanbul@example.com", invalidEmail],
  ["capitals that fold", "ΟΔΟΣ@EXAMPLE.COM", undefined],
  ["an accent typed as two characters", "rene\u0301@example.com", undefined],
])("an email address of %s is accepted or refused as specified", async (_name, email, message) => {
  const answer = await product.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() });
  if (message === undefined) expect([answer.statusCode, answer.json()]).toEqual([202, { status: "check_email" }]);
  else
    expect(answer.json()).toMatchObject({ status: 400, code: "validation_failed", detail: message, fields: [{ field: "email", message }] });
});

test.each<[string, string, string | undefined]>([
  ["nothing", "", "Password must be at least 8 characters"],
  ["one character", "a", "Password must be at least 8 characters"],
  ["7 characters", "abcdef1", "Password must be at least 8 characters"],
  ["8 characters", "xkcdef17", undefined],
  ["128 characters", `7${"ab".repeat(63)}c`, undefined],
  ["129 characters", `7${"ab".repeat(64)}`, "Password must be less than 128 characters"],
  ["128 characters outside the basic plane", `a7${"😀".repeat(126)}`, undefined],
  ["only letters", "abcdefghij", "Password must contain at least one letter and one number"],
  ["only digits", "1234567890", "Password must contain at least one letter and one number"],
  ["only spaces", " ".repeat(12), "Password must contain at least one letter and one number"],
  ["letters and digits of another script", "пароль٣٤٥٦", undefined],
  ["spaces around it, which count", "  abc7  ", undefined],
  ["right-to-left marks", "\u200fabc\u202e1234", undefined],
  ["one of the most common ones", "Password123", "This password is too common. Choose another one"],
])("a password of %s is accepted or refused as specified", async (name, secret, message) => {
  const email = `${name.replace(/\W/g, "-")}@passwords.example`;
  const answer = await product.post("/api/auth/sign-up", { email, password: secret }, { remoteAddress: randomAddress() });
  if (message !== undefined) {
    expect(answer.json()).toMatchObject({
      status: 400,
      code: "validation_failed",
      error: message,
      fields: [{ field: "password", message }],
    });
    return;
  }
  expect(answer.statusCode).toBe(202);
  expect((await product.confirmLast(email, secret)).statusCode).toBe(200);
  expect((await product.signIn(email, secret)).statusCode).toBe(200);
});

const routes = {
  "/api/auth/sign-up": ["email", "password"],
  "/api/auth/sign-in": ["email", "password"],
  "/api/auth/confirm": ["token", "password"],
  "/api/auth/link": ["token"],
  "/api/auth/disown": ["token"],
  "/api/auth/recover": ["email"],
  "/api/auth/recovery-link": ["token"],
  "/api/auth/reset-password": ["token", "password"],
  "/api/auth/resend-confirmation": ["email"],
  "/api/auth/refresh": ["refresh_token"],
  "/api/auth/sign-out": ["refresh_token"],
  "/api/functions/verify-admin": [],
} as const;

const values: unknown[] = [
  "",
  "x",
  " ",
  "\u0000",
  "a\u0000@example.com",
  "\ud800",
  "😀",
  "\u202e\u200f",
  "x".repeat(200),
  "x".repeat(201),
  "x".repeat(500),
  "x".repeat(501),
  "x".repeat(2_001),
  "x".repeat(1_000_000),
  "..",
  "AAAAAAAAAAAAAAAAAAAAAA.0.AAAA",
  "AAAAAAAAAAAAAAAAAAAAAA.99999999999999999999.AAAA",
  "__proto__",
  "' or 1=1 --",
  0,
  -1,
  1e308,
  true,
  null,
  [],
  {},
  ["a@example.com"],
];

test("hostile field values get a problem document or the usual answer, and nothing is written", async () => {
  await product.asOwner("delete from sign_ups");
  const valid: Record<string, string> = { email: "plain@example.com", password, token: "x", refresh_token: "x" };
  for (const [path, fields] of Object.entries(routes)) {
    for (const field of fields) {
      for (const value of values) {
        const body = { ...Object.fromEntries(fields.map((name) => [name, valid[name]])), [field]: value };
        const answer = await product.post(path, body, { remoteAddress: randomAddress() });
        const seen = `${path} ${field}=${JSON.stringify(value)?.slice(0, 40)} → ${answer.statusCode} ${answer.body.slice(0, 200)}`;
        expect(answer.statusCode, seen).toBeLessThan(500);
        if (answer.statusCode >= 400) expect(answer.json(), seen).toMatchObject({ code: expect.any(String), status: answer.statusCode });
        expect(answer.body, seen).not.toMatch(/node_modules|\.ts:\d|argon2|select /);
      }
    }
  }
  const people = await product.db.selectFrom("sign_ups").select("email").execute();
  // Any password of 8 to 128 characters with a letter and a digit is valid; every other sign-up above must have been refused.
  expect(people.every((person) => person.email === "plain@example.com")).toBe(true);
});

test("a body that is no JSON object, is too large, has another content type or has unknown fields is refused", async () => {
  const send =
    (payload: string, contentType = "application/json") =>
    (path: string) =>
      product.app.inject({ method: "POST", url: path, payload, headers: { "content-type": contentType } });
  for (const path of Object.keys(routes)) {
    for (const [status, request] of [
      [400, send("{")],
      [400, send("[]")],
      [400, send('"text"')],
      [400, send('{"email":"a@example.com","password":"abcdefg1","token":"x","refresh_token":"x","more":1}')],
      [400, send('{"__proto__":{"email":"a@example.com"}}')],
      [413, send(JSON.stringify({ email: "x".repeat(1_100_000) }))],
      [415, send("<a/>", "application/xml")],
    ] as const) {
      const answer = await request(path);
      expect([path, answer.statusCode], answer.body).toEqual([path, status]);
      expect(answer.headers["content-type"]).toContain("application/problem+json");
    }
  }
});
