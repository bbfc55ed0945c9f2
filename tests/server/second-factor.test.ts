/** A second factor: no session without its code by any way in, each code once, and nothing readable at rest. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import type { FactorNeeded, Session } from "#contract/auth/sign-in.ts";
import { minuteMs } from "#domain/clock.ts";
import { factorWaitMs, stepUpMs } from "#domain/periods.ts";
import { hashRecoveryCode } from "#server/features/auth/recovery-codes.ts";
import { answerFactor } from "#server/features/auth/second-factor.ts";
import type { SignIn } from "#server/features/auth/sessions.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { plantTrigger } from "../support/planted-bugs.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";
import { bearer, codeMs, codeAt as totpAt, turnOn } from "./factor-support.ts";

let product: AuthApp;
let session: Session;
let email: string;
/** In base32, as the app keeps it. */
let secret: string;
let recoveryCodes: string[];

beforeAll(async () => {
  product = await createAuthApp({ ENCRYPTION_KEY: "the first encryption key of the tests" });
});
afterAll(() => product.close());

const codeAt = (milliseconds: number) => totpAt(secret, milliseconds);
/** Codes of the three periods that count now. The first one was used to turn the factor on. */
const codeNow = () => codeAt(Date.now());
const codeNext = () => codeAt(Date.now() + codeMs);
const wrongCode = () =>
  ["111111", "222222", "333333", "444444"].find((code) => ![-1, 0, 1].some((off) => codeAt(Date.now() + off * codeMs) === code)) ?? "";

const change = (method: "POST" | "DELETE", url: string, payload: object = {}, by = session) =>
  product.app.inject({ method, url, headers: bearer(by), ...(method === "POST" ? { payload } : {}) });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];

interface Waiting {
  token: string;
  answer: LightMyRequestResponse;
}

async function begin(remoteAddress = randomAddress(), cookies: { cookie: string } = { cookie: "" }): Promise<Waiting> {
  const answer = await product.post("/api/auth/sign-in", { email, password }, { remoteAddress, headers: cookies });
  expect(answer.statusCode).toBe(200);
  return { token: answer.json<FactorNeeded>().token, answer };
}
const show = ({ token, answer }: Waiting, code: string, remoteAddress = randomAddress(), cookies = cookiesOf(answer)) =>
  product.post("/api/auth/factor", { token, code }, { headers: cookies, remoteAddress });

async function sessionsHeld(): Promise<number> {
  return (await product.db.selectFrom("auth_sessions").select("id").where("user_id", "=", session.user.id).execute()).length;
}

beforeEach(async () => {
  // In the middle of a period, so that none ends within a test.
  vi.useFakeTimers({ toFake: ["Date"], now: Math.floor(Date.now() / codeMs) * codeMs + codeMs / 2 });
  email = `person-${randomUUID()}@example.com`;
  session = await product.join(email);
  ({ secret, recoveryCodes } = await turnOn(product, session));
});
afterEach(() => {
  vi.useRealTimers();
});

describe("signing in with a second factor", () => {
  async function expectNoSessionWithoutCode(): Promise<void> {
    const before = await sessionsHeld();
    const waiting = await begin();
    expect(waiting.answer.json()).toEqual({ status: "factor_needed", token: expect.any(String), methods: ["totp", "recovery_code"] });
    expect(await sessionsHeld()).toBe(before);
    const shown = await show(waiting, codeNext());
    expect(shown.statusCode).toBe(200);
    expect((await product.get("/api/account", shown.json<Session>().access_token)).statusCode).toBe(200);
    const events = await product.get("/api/account/activity", shown.json<Session>().access_token);
    expect(events.json().events[0]).toMatchObject({ action: "sign_in.completed", details: { factor: "password", second: "totp" } });
  }

  test("gives no session for the password alone, and one for password and code", expectNoSessionWithoutCode);

  test("which is noticed: a planted bug opens a session while the sign-in waits", async () => {
    const open = `insert into auth_sessions (id, user_id, token_hash, rotated_at, expires_at, created_at)
        values (new.id, new.user_id, sha256(new.id::text::bytea), now(), new.expires_at, now()); return new;`;
    const repair = await plantTrigger(product, "after insert", "pending_sign_ins", open);
    await expect(expectNoSessionWithoutCode()).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
  });

  test("makes a browser known only once the code was right", async () => {
    const waiting = await begin();
    expect(cookiesOf(waiting.answer).cookie).not.toContain("device=");
    expect(cookiesOf(await show(waiting, codeNext())).cookie).toContain("device=");
  });

  test("waits with a token that is no access token and no refresh token", async () => {
    const { token } = await begin();
    expect((await product.get("/api/account", token)).statusCode).toBe(401);
    expect((await product.post("/api/auth/refresh", { refresh_token: token })).statusCode).toBe(401);
  });

  test("waits in the browser that showed the password, and in no other", async () => {
    const waiting = await begin();
    for (const cookie of ["", `pending=${"a".repeat(22)}`])
      expect(codeOf(await show(waiting, codeNext(), randomAddress(), { cookie }))).toEqual([401, "sign_in_expired"]);
    expect((await show(waiting, codeNext())).statusCode).toBe(200);
  });

  async function expectOnceInTime(): Promise<void> {
    const late = await begin();
    const used = await begin();
    expect((await show(used, codeNext())).statusCode).toBe(200);
    expect(codeOf(await show(used, recoveryCodes[0] ?? ""))).toEqual([401, "sign_in_expired"]);
    vi.setSystemTime(Date.now() + factorWaitMs + 1);
    expect(codeOf(await show(late, codeNow()))).toEqual([401, "sign_in_expired"]);
  }

  test("waits ten minutes and works once", expectOnceInTime);

  test.each([
    ["works again", "before update", "return null;"],
    ["never ends", "before insert", "new.expires_at := new.expires_at + interval '1 day'; return new;"],
  ])("which is noticed: with a planted bug the sign-in that waits %s", async (_name, moment, body) => {
    const repair = await plantTrigger(product, moment, "pending_sign_ins", body);
    await expect(expectOnceInTime()).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
  });

  test("does not go on with a password that was replaced meanwhile", async () => {
    const waiting = await begin();
    await product.db
      .updateTable("credentials")
      .set({ data: JSON.stringify({ hash: "another" }) })
      .where("kind", "=", "password")
      .where("user_id", "=", session.user.id)
      .execute();
    expect(codeOf(await show(waiting, codeNext()))).toEqual([401, "sign_in_expired"]);
  });

  test("is needed after a new password by a mailed link too, which makes no browser known", async () => {
    const asked = await product.post("/api/auth/recover", { email });
    const mail = await product.db
      .selectFrom("mails")
      .select("parameters")
      .where("recipient", "=", email)
      .where("template", "=", "password-reset")
      .executeTakeFirstOrThrow();
    const token = linkToken(product.config, String(mail.parameters.linkId));
    const answer = await product.post(
      "/api/auth/reset-password",
      { token, password: "another tessera 4 two" },
      { headers: cookiesOf(asked) },
    );
    const { session: outcome } = answer.json<{ session: FactorNeeded }>();
    expect(outcome).toEqual({ status: "factor_needed", token: expect.any(String), methods: ["totp", "recovery_code"] });
    expect(cookiesOf(answer).cookie).not.toContain("device=");
    const open = await product.db
      .selectFrom("auth_sessions")
      .select("id")
      .where("user_id", "=", session.user.id)
      .where("revoked_at", "is", null)
      .execute();
    expect(open).toEqual([]);
    expect((await show({ token: outcome.token, answer }, codeNext())).statusCode).toBe(200);
  });

  test("refuses tokens that are not ours", async () => {
    const waiting = await begin();
    for (const token of ["", "a.b", `${waiting.token}x`, `${waiting.token}.x`, session.refresh_token])
      expect(codeOf(await show({ ...waiting, token }, codeNext()))).toEqual([401, "sign_in_expired"]);
  });
});

describe("a code of the app", () => {
  test("works once, also when it comes twice at the same time", async () => {
    const waiting = [await begin(), await begin(), await begin()];
    const shown = await Promise.all(waiting.map((each) => show(each, codeNext())));
    expect(shown.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 403, 403]);
    expect(codeOf(await show(await begin(), codeNext()))).toEqual([403, "wrong_code"]);
  });

  test("that turned the factor on does not sign in, nor does an older one after a newer", async () => {
    expect(codeOf(await show(await begin(), codeNow()))).toEqual([403, "wrong_code"]);
    expect((await show(await begin(), codeNext())).statusCode).toBe(200);
    expect(codeOf(await show(await begin(), codeNow()))).toEqual([403, "wrong_code"]);
  });

  test("is accepted from a phone half a minute off, and from none further off", async () => {
    const later = Date.now() + 10 * minuteMs;
    vi.setSystemTime(later);
    expect(codeOf(await show(await begin(), codeAt(later - 2 * codeMs)))).toEqual([403, "wrong_code"]);
    expect(codeOf(await show(await begin(), codeAt(later + 2 * codeMs)))).toEqual([403, "wrong_code"]);
    expect((await show(await begin(), codeAt(later - codeMs))).statusCode).toBe(200);
    expect((await show(await begin(), codeAt(later + codeMs))).statusCode).toBe(200);
  });

  test("is read with spaces and in full-width digits", async () => {
    const typed = codeNext().replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
    expect((await show(await begin(), ` ${typed.slice(0, 3)} ${typed.slice(3)}`)).statusCode).toBe(200);
  });
});

describe("guessing codes", () => {
  test("has to wait after five, and then the right one waits too", async () => {
    const remoteAddress = randomAddress();
    const waiting = await begin(remoteAddress);
    for (let count = 0; count < 5; count += 1) expect(codeOf(await show(waiting, wrongCode(), remoteAddress))).toEqual([403, "wrong_code"]);
    const blocked = await show(waiting, codeNext(), remoteAddress);
    expect(codeOf(blocked)).toEqual([429, "too_many_attempts"]);
    expect(blocked.headers["retry-after"]).toBeDefined();
  });

  test("from many networks has to wait, and its owner's browser goes on", async () => {
    const own = await show(await begin(), codeNext());
    const device = cookiesOf(own);
    const waiting = await begin();
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1) statuses.push((await show(waiting, wrongCode())).statusCode);
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 403));
    expect(statuses[20]).toBe(429);
    const known = await begin(randomAddress(), device);
    const both = { cookie: `${device.cookie}; ${cookiesOf(known.answer).cookie}` };
    expect((await show(known, recoveryCodes[0] ?? "", randomAddress(), both)).statusCode).toBe(200);
  });

  test("in a rush counts every guess before it is checked", async () => {
    const remoteAddress = randomAddress();
    const waiting = await begin(remoteAddress);
    const shown = await Promise.all(Array.from({ length: 9 }, () => show(waiting, wrongCode(), remoteAddress)));
    expect(shown.filter(({ statusCode }) => statusCode === 403).length).toBeLessThanOrEqual(5);
  });
});

describe("a recovery code", () => {
  test("signs in once, however it was typed, and its owner is told", async () => {
    const [code = "", other = ""] = recoveryCodes;
    expect(recoveryCodes).toHaveLength(10);
    expect((await show(await begin(), code.toUpperCase().replaceAll("-", " ").replaceAll("0", "O"))).statusCode).toBe(200);
    expect(codeOf(await show(await begin(), code))).toEqual([403, "wrong_code"]);
    const shown = await Promise.all([show(await begin(), other), show(await begin(), other)]);
    expect(shown.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 403]);
    expect((await product.templatesTo(email)).filter((name) => name === "recovery-code-used")).toHaveLength(2);
    expect((await product.get("/api/account/factors", session.access_token)).json().recoveryCodesLeft).toBe(8);
  });

  test("has 24 characters of 5 random bits each, and no two are alike", () => {
    for (const code of recoveryCodes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(new Set(recoveryCodes).size).toBe(10);
  });

  test("of sixteen characters, as they were given out before, signs in once", async () => {
    const code = "7k3m-9x2p-c4vt-0b1h";
    const data = JSON.stringify({ hash: hashRecoveryCode(session.user.id, code.replaceAll("-", "")) });
    const credential = { user_id: session.user.id, kind: "recovery_code", data, created_at: new Date() } as const;
    await product.db.insertInto("credentials").values(credential).execute();
    expect((await show(await begin(), code)).statusCode).toBe(200);
    expect(codeOf(await show(await begin(), code))).toEqual([403, "wrong_code"]);
  });

  test("of another person does not work", async () => {
    const others = recoveryCodes;
    email = `person-${randomUUID()}@example.com`;
    session = await product.join(email);
    ({ secret } = await turnOn(product, session));
    expect(codeOf(await show(await begin(), others[0] ?? ""))).toEqual([403, "wrong_code"]);
  });

  test("no longer works once new ones were made", async () => {
    const renewed = await change("POST", "/api/account/factors/recovery-codes");
    const codes = renewed.json<{ recoveryCodes: string[] }>().recoveryCodes;
    expect(codeOf(await show(await begin(), recoveryCodes[0] ?? ""))).toEqual([403, "wrong_code"]);
    expect((await show(await begin(), codes[0] ?? "")).statusCode).toBe(200);
  });
});

describe("turning the second factor on and off", () => {
  const changes = [
    ["POST", "/api/account/factors/totp"],
    ["POST", "/api/account/factors/totp/confirm"],
    ["DELETE", "/api/account/factors/totp"],
    ["POST", "/api/account/factors/recovery-codes"],
  ] as const;
  test.each(changes)("%s %s needs a factor shown a short while ago", async (method, url) => {
    const old = new Date(Date.now() - stepUpMs - 1_000);
    await product.db.updateTable("auth_sessions").set({ proved_at: old }).where("user_id", "=", session.user.id).execute();
    expect(codeOf(await change(method, url, { setUp: "x", code: "1" }))).toEqual([403, "step_up_required"]);
  });

  test("asks for the app's first code, within ten minutes, by the person who began", async () => {
    const other = await product.join();
    const begun = (await change("POST", "/api/account/factors/totp", {}, other)).json<TotpSetUp>();
    secret = begun.secret;
    expect(decodeURIComponent(begun.uri)).toContain(`otpauth://totp/Tessera:${other.user.email}?`);
    const confirm = (code: string, by = other) => change("POST", "/api/account/factors/totp/confirm", { setUp: begun.setUp, code }, by);
    expect(codeOf(await confirm(wrongCode()))).toEqual([403, "wrong_code"]);
    expect(codeOf(await confirm(codeNow(), session))).toEqual([409, "set_up_expired"]);
    expect((await product.get("/api/account/factors", other.access_token)).json()).toEqual({ totp: null, recoveryCodesLeft: 0 });
    vi.setSystemTime(Date.now() + factorWaitMs + 1);
    const fresh = (await product.signIn(other.user.email)).json<Session>();
    await product.db.updateTable("auth_sessions").set({ proved_at: new Date() }).where("user_id", "=", other.user.id).execute();
    expect(codeOf(await confirm(codeNow(), fresh))).toEqual([409, "set_up_expired"]);
  });

  test("happens once: a second app is refused, also at the same time", async () => {
    expect(codeOf(await change("POST", "/api/account/factors/totp"))).toEqual([409, "conflict"]);
    const other = await product.join();
    const begun = (await change("POST", "/api/account/factors/totp", {}, other)).json<TotpSetUp>();
    secret = begun.secret;
    const confirm = () => change("POST", "/api/account/factors/totp/confirm", { setUp: begun.setUp, code: codeNow() }, other);
    const confirmed = await Promise.all([confirm(), confirm()]);
    expect(confirmed.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409]);
    expect((await product.get("/api/account/factors", other.access_token)).json().recoveryCodesLeft).toBe(10);
  });

  test("off leaves no secret and no code behind, keeps the password, and its owner is told of both", async () => {
    expect((await change("DELETE", "/api/account/factors/totp")).statusCode).toBe(204);
    const left = await product.db.selectFrom("credentials").select("kind").where("user_id", "=", session.user.id).execute();
    expect(left).toEqual([{ kind: "password" }]);
    expect((await product.signIn(email)).json<Session>().access_token).toBeDefined();
    expect(codeOf(await change("DELETE", "/api/account/factors/totp"))).toEqual([404, "not_found"]);
    expect(await product.templatesTo(email)).toEqual(["confirm-email", "second-factor-on", "second-factor-off"]);
  });

  test("takes away nothing but second factors", async () => {
    await product.deps.pool.query("select factors_remove($1, array['password', 'totp'])", [session.user.id]);
    const left = await product.db.selectFrom("credentials").select("kind").where("user_id", "=", session.user.id).execute();
    expect(left.filter(({ kind }) => kind === "password")).toHaveLength(1);
    expect(left.filter(({ kind }) => kind === "totp")).toHaveLength(0);
    await expect(product.deps.pool.query("delete from credentials")).rejects.toThrow(/permission denied/);
  });
});

describe("a dangerous act", () => {
  test("is allowed after a code too, and a wrong one counts as a wrong password does", async () => {
    const old = new Date(Date.now() - stepUpMs - 1_000);
    await product.db.updateTable("auth_sessions").set({ proved_at: old }).where("user_id", "=", session.user.id).execute();
    const prove = (code: string) => change("POST", "/api/account/step-up", { code });
    expect((await product.get("/api/account/step-up", session.access_token)).json()).toEqual({ ways: ["password", "code"] });
    expect(codeOf(await prove(wrongCode()))).toEqual([403, "wrong_code"]);
    expect((await prove(codeNext())).statusCode).toBe(204);
    expect((await change("POST", "/api/account/factors/recovery-codes")).statusCode).toBe(200);
    for (let count = 0; count < 5; count += 1) expect(codeOf(await prove(wrongCode()))).toEqual([403, "wrong_code"]);
    expect(codeOf(await change("POST", "/api/account/step-up", { password }))).toEqual([429, "too_many_attempts"]);
  });
});

describe("at rest", () => {
  const rows = () => product.db.selectFrom("credentials").selectAll().where("user_id", "=", session.user.id).execute();

  test("neither the secret nor a recovery code can be read", async () => {
    const text = JSON.stringify(await rows());
    expect(text).not.toContain(secret);
    for (const code of recoveryCodes) {
      expect(text).not.toContain(code);
      expect(text).not.toContain(code.replaceAll("-", ""));
    }
  });

  /** Shows a code to the same database under other keys. */
  async function showUnder(encryptionKeys: [string, ...string[]], code: string) {
    const { token, answer } = await begin();
    const browser = /pending=([\w-]+)/.exec(cookiesOf(answer).cookie)?.[1] ?? "";
    const caller = { network: randomAddress(), userAgent: undefined, timeZone: null, signUps: [], devices: undefined, browser };
    const deps = { ...product.deps, config: { ...product.config, encryptionKeys } };
    return (await answerFactor(deps, { token, code }, caller as never)) as SignIn;
  }

  test("a secret opens with the old key during a rotation, and with the new one alone after its next use", async () => {
    const [old] = product.config.encryptionKeys;
    const fresh = "the second encryption key of the tests";
    await expect(showUnder([fresh], codeNext())).rejects.toThrow("ENCRYPTION_KEY");
    expect((await showUnder([fresh, old], codeNext())).user.id).toBe(session.user.id);
    vi.setSystemTime(Date.now() + 10 * minuteMs);
    await expect(showUnder([old], codeNow())).rejects.toThrow("ENCRYPTION_KEY");
    expect((await showUnder([fresh], codeNow())).user.id).toBe(session.user.id);
  });

  test("a secret copied to another person's row opens nothing", async () => {
    const [totp] = (await rows()).filter(({ kind }) => kind === "totp");
    email = `person-${randomUUID()}@example.com`;
    session = await product.join(email);
    ({ secret } = await turnOn(product, session));
    const waiting = await begin();
    await product.db
      .updateTable("credentials")
      .set({ data: JSON.stringify(totp?.data) })
      .where("user_id", "=", session.user.id)
      .where("kind", "=", "totp")
      .execute();
    expect((await show(waiting, codeNext())).statusCode).toBe(500);
  });
});
