/** A lost second factor: nothing comes of a request before 72 hours are over, and whoever has a session, a code or the mail ends it. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { FactorNeeded, Session } from "#contract/auth/sign-in.ts";
import { minuteMs } from "#domain/clock.ts";
import { factorResetLinkMs, factorResetWaitMs } from "#domain/periods.ts";
import { advanceFactorResets } from "#server/features/auth/factor-reset.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { LiveEvent } from "#server/http/live-events.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";
import { bearer, codeAt, codeMs, turnOn } from "./factor-support.ts";

let product: AuthApp;
/** The owner's, from before. */
let session: Session;
let email: string;
let secret: string;
let recoveryCodes: string[];

beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());
beforeEach(async () => {
  // In the middle of a period, so that no code ends within a test.
  vi.useFakeTimers({ toFake: ["Date"], now: Math.floor(Date.now() / codeMs) * codeMs + codeMs / 2 });
  email = `person-${randomUUID()}@example.com`;
  session = await product.join(email);
  ({ secret, recoveryCodes } = await turnOn(product, session));
  // Whoever comes by a factor or a passkey that is newer ends nothing (disowned-ways.test.ts).
  await product.asOwner(`update credentials set created_at = created_at - interval '8 days' where user_id = '${session.user.id}'`);
});
afterEach(() => {
  vi.useRealTimers();
});

const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];
const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const sweep = () => advanceFactorResets(product.deps, new Date());

interface Waiting {
  token: string;
  cookies: { cookie: string };
}

/** Shows the password in a browser of its own; the second factor is still asked for. */
async function begin(address = email): Promise<Waiting> {
  const answer = await product.post("/api/auth/sign-in", { email: address, password }, { remoteAddress: randomAddress() });
  return { token: answer.json<FactorNeeded>().token, cookies: cookiesOf(answer) };
}
const post = (path: string, body: object, { cookies }: Pick<Waiting, "cookies"> = { cookies: { cookie: "" } }) =>
  product.post(path, body, { headers: cookies, remoteAddress: randomAddress() });
const ask = (waiting: Waiting) => post("/api/auth/factor-reset", { token: waiting.token }, waiting);
const show = (waiting: Waiting, code: string) => post("/api/auth/factor", { token: waiting.token, code }, waiting);
const cancelByMail = (token: string) => post("/api/auth/factor-reset/cancel", { token });
const remove = (waiting: Waiting, link: string) => post("/api/auth/factor-reset/remove", { token: waiting.token, link }, waiting);

async function asked(): Promise<LightMyRequestResponse> {
  const answer = await ask(await begin());
  expect(answer.statusCode).toBe(202);
  return answer;
}

/** What the newest mail of this kind says. */
async function mailed(template: string, recipient = email) {
  const mails = await product.db
    .selectFrom("mails")
    .select("parameters")
    .where("recipient", "=", recipient)
    .where("template", "=", template)
    .orderBy("id")
    .execute();
  return mails.at(-1)?.parameters;
}
const tokenOf = (id: unknown) => linkToken(product.config, String(id));
const cancelToken = async () => tokenOf((await mailed("factor-reset-asked"))?.resetId);
const linkOf = async (recipient = email) => tokenOf((await mailed("factor-reset-link", recipient))?.linkId);
const hasFactor = async () =>
  (await product.db.selectFrom("credentials").select("kind").where("user_id", "=", session.user.id).execute()).some(
    ({ kind }) => kind === "totp",
  );
const linksHeld = () =>
  product.db
    .selectFrom("email_links")
    .select("id")
    .where("user_id", "=", session.user.id)
    .where("purpose", "=", "reset-factors")
    .where("used_at", "is", null)
    .execute();

/** A session of the owner's as it is when time has passed: the access token is new. */
async function freshSession(): Promise<Session> {
  session = (await product.post("/api/auth/refresh", { refresh_token: session.refresh_token })).json<Session>();
  return session;
}
const ofSession = async (method: "GET" | "DELETE", by?: Session) =>
  product.app.inject({ method, url: "/api/account/factor-reset", headers: bearer(by ?? (await freshSession())) });
const actions = async () =>
  (await product.get("/api/account/activity", (await freshSession()).access_token))
    .json<{ events: { action: string; details: object }[] }>()
    .events.map(({ action, details }) => ({ action, details }));

/** Asks, waits until the link has come, and returns it. */
async function linkAfterTheWait(): Promise<string> {
  await asked();
  pass(factorResetWaitMs);
  await sweep();
  return linkOf();
}

describe("asking for a lost factor to be removed", () => {
  test("gives a date and nothing else; the owner is told by mail, in every open page and in the activity", async () => {
    const heard: LiveEvent[] = [];
    const stop = product.deps.live.subscribe((event) => event !== "resync" && heard.push(event));
    const at = Date.now();
    const answer = await asked();
    const until = new Date(at + factorResetWaitMs).toISOString();
    expect(answer.json()).toEqual({ status: "waiting", askedAt: new Date(at).toISOString(), until });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(await hasFactor()).toBe(true);
    expect(await linksHeld()).toEqual([]);
    expect(await mailed("factor-reset-asked")).toMatchObject({ expiresAt: until });
    await expect.poll(() => heard).toContainEqual({ userId: session.user.id, table: "factor_resets" });
    stop();
    expect((await ofSession("GET")).json()).toEqual({ reset: answer.json() });
    expect((await actions())[0]).toEqual({ action: "factor_reset.asked", details: {} });
  });

  test("needs the password, in the browser that showed it, and a second factor", async () => {
    const waiting = await begin();
    expect(codeOf(await ask({ ...waiting, token: "a.b" }))).toEqual([401, "sign_in_expired"]);
    expect(codeOf(await ask({ ...waiting, cookies: { cookie: "" } }))).toEqual([401, "sign_in_expired"]);
    await product.app.inject({ method: "DELETE", url: "/api/account/factors/totp", headers: bearer(session) });
    expect(codeOf(await ask(waiting))).toEqual([401, "sign_in_expired"]);
    expect(await mailed("factor-reset-asked")).toBeUndefined();
  });

  test("again neither shortens nor prolongs it, also at the same time, and mails nothing more", async () => {
    const waiting = [await begin(), await begin()];
    const [first, second] = await Promise.all(waiting.map((each) => ask(each)));
    expect(second?.json()).toEqual(first?.json());
    pass(71 * 60 * minuteMs);
    expect((await asked()).json()).toEqual(first?.json());
    expect((await product.templatesTo(email)).filter((name) => name === "factor-reset-asked")).toHaveLength(1);
    pass(60 * minuteMs);
    await sweep();
    expect((await asked()).json()).toMatchObject({ status: "link_sent", askedAt: first?.json().askedAt });
    expect((await product.templatesTo(email)).filter((name) => name === "factor-reset-link")).toHaveLength(1);
  });

  test("is limited for one person, wherever it is asked from", async () => {
    for (let count = 0; count < 3; count += 1) {
      await asked();
      expect((await ofSession("DELETE")).statusCode).toBe(204);
    }
    expect(codeOf(await ask(await begin()))).toEqual([429, "too_many_attempts"]);
  });
});

describe("before 72 hours are over", () => {
  test("no token opens anything: no link exists, and the mail's own token only cancels", async () => {
    await asked();
    const { resetId } = (await mailed("factor-reset-asked")) ?? {};
    pass(factorResetWaitMs - 1);
    await sweep();
    const waiting = await begin();
    expect(await mailed("factor-reset-link")).toBeUndefined();
    for (const token of [tokenOf(resetId), tokenOf(randomUUID()), "", waiting.token])
      expect(codeOf(await remove(waiting, token))).toEqual([400, "link_invalid"]);
    expect(await hasFactor()).toBe(true);
    expect((await ofSession("GET")).json().reset).toMatchObject({ status: "waiting" });
  });

  test("the database itself notes no link as mailed", async () => {
    await asked();
    const early = product.db
      .updateTable("factor_resets")
      .set({ mailed_at: new Date(Date.now() + factorResetWaitMs - 1_000) })
      .where("user_id", "=", session.user.id)
      .execute();
    await expect(early).rejects.toThrow(/factor_resets/);
  });
});

const stepUpByCode = async (code: string) =>
  product.post("/api/account/step-up", { code }, { headers: bearer(await freshSession()), remoteAddress: randomAddress() });
const turnOff = async () => {
  const fresh = await freshSession();
  await product.db.updateTable("auth_sessions").set({ proved_at: new Date() }).where("user_id", "=", fresh.user.id).execute();
  return product.app.inject({ method: "DELETE", url: "/api/account/factors/totp", headers: bearer(fresh) });
};

/** Every way to end a request, with what the activity says of it. */
const endings: Readonly<Record<string, { end: () => Promise<LightMyRequestResponse>; by: string }>> = {
  "the link in the mail": { end: async () => cancelByMail(await cancelToken()), by: "mailed_link" },
  "any open session": { end: () => ofSession("DELETE"), by: "session" },
  "a sign-in with a code": { end: async () => show(await begin(), codeAt(secret, Date.now() + codeMs)), by: "code" },
  "a sign-in with a recovery code": { end: async () => show(await begin(), recoveryCodes[0] ?? ""), by: "code" },
  "a code shown before a dangerous act": { end: () => stepUpByCode(codeAt(secret, Date.now() + codeMs)), by: "code" },
  "switching the second factor off": { end: turnOff, by: "second_factor_off" },
};

describe.each(Object.entries(endings))("%s", (_name, { end, by }) => {
  test("ends a request that waits: no link is ever mailed", async () => {
    await asked();
    expect((await end()).statusCode).toBeLessThan(300);
    expect((await ofSession("GET")).json()).toEqual({ reset: null });
    expect(await actions()).toContainEqual({ action: "factor_reset.cancelled", details: { by } });
    pass(factorResetWaitMs + minuteMs);
    await sweep();
    expect(await mailed("factor-reset-link")).toBeUndefined();
  });

  test("ends a request whose link was mailed: the link is refused", async () => {
    const link = await linkAfterTheWait();
    const waiting = await begin();
    expect((await end()).statusCode).toBeLessThan(300);
    expect(await linksHeld()).toEqual([]);
    expect((await remove(waiting, link)).statusCode).toBeGreaterThanOrEqual(400);
    expect((await ofSession("GET")).json()).toEqual({ reset: null });
  });
});

describe("cancelling", () => {
  test("by mail works again and again, and not with any other token; another request is not touched", async () => {
    await asked();
    const token = await cancelToken();
    expect((await cancelByMail(token)).statusCode).toBe(204);
    const next = await asked();
    expect((await cancelByMail(token)).statusCode).toBe(204);
    expect((await ofSession("GET")).json()).toEqual({ reset: next.json() });
    for (const other of ["", "a.b", tokenOf(randomUUID()), `${token}x`])
      expect(codeOf(await cancelByMail(other))).toEqual([400, "link_invalid"]);
  });

  test("tells every open page, and is no fault when there is nothing to cancel", async () => {
    await asked();
    const heard: LiveEvent[] = [];
    const stop = product.deps.live.subscribe((event) => event !== "resync" && heard.push(event));
    expect((await ofSession("DELETE")).statusCode).toBe(204);
    await expect.poll(() => heard).toContainEqual({ userId: session.user.id, table: "factor_resets" });
    stop();
    expect((await ofSession("DELETE")).statusCode).toBe(204);
  });

  test("is for the person's own request alone", async () => {
    const answer = await asked();
    const stranger = await product.join();
    expect((await ofSession("DELETE", stranger)).statusCode).toBe(204);
    expect((await ofSession("GET", stranger)).json()).toEqual({ reset: null });
    expect((await ofSession("GET")).json()).toEqual({ reset: answer.json() });
  });
});

describe("after 72 hours", () => {
  test("a link is mailed once, however many sweeps run", async () => {
    await asked();
    pass(factorResetWaitMs);
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    expect((await product.templatesTo(email)).filter((name) => name === "factor-reset-link")).toHaveLength(1);
    expect(await linksHeld()).toHaveLength(1);
    expect((await actions())[0]).toEqual({ action: "factor_reset.mailed", details: {} });
    expect((await ofSession("GET")).json().reset).toMatchObject({
      status: "link_sent",
      until: new Date(Date.now() + factorResetLinkMs).toISOString(),
    });
  });

  test("the link and the password remove the factor, sign in, end all sessions and tell the owner", async () => {
    const link = await linkAfterTheWait();
    const waiting = await begin();
    const answer = await remove(waiting, link);
    expect(answer.statusCode).toBe(200);
    expect((await product.get("/api/account", answer.json<Session>().access_token)).statusCode).toBe(200);
    expect((await product.post("/api/auth/refresh", { refresh_token: session.refresh_token })).statusCode).toBe(401);
    const left = await product.db.selectFrom("credentials").select("kind").where("user_id", "=", session.user.id).execute();
    expect(left).toEqual([{ kind: "password" }]);
    expect((await product.templatesTo(email)).at(-1)).toBe("second-factor-off");
    session = answer.json<Session>();
    expect(await actions()).toContainEqual({ action: "second_factor.disabled", details: { proof: "mailed_link" } });
    expect((await product.signIn(email)).json<Session>().access_token).toBeDefined();
  });

  test("the link alone is worth nothing, nor is the link of another person", async () => {
    const link = await linkAfterTheWait();
    expect(codeOf(await remove({ token: "a.b", cookies: { cookie: "" } }, link))).toEqual([401, "sign_in_expired"]);
    const other = `other-${randomUUID()}@example.com`;
    const stranger = await product.join(other);
    await turnOn(product, stranger);
    expect(codeOf(await remove(await begin(other), link))).toEqual([400, "link_invalid"]);
    for (const path of ["/api/auth/reset-password", "/api/auth/confirm"])
      expect(codeOf(await post(path, { token: link, password: "another tessera 4 two" }))).toEqual([400, "link_invalid"]);
    expect(await hasFactor()).toBe(true);
  });

  test("the link works once, also when it comes twice at the same time", async () => {
    const link = await linkAfterTheWait();
    const waiting = [await begin(), await begin()];
    const answers = await Promise.all(waiting.map((each) => remove(each, link)));
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 400]);
    session = answers.find(({ statusCode }) => statusCode === 200)?.json<Session>() as Session;
    await turnOn(product, session);
    expect(codeOf(await remove(await begin(), link))).toEqual([400, "link_invalid"]);
  });

  test("the link has an end, and then the next request waits 72 hours again", async () => {
    const link = await linkAfterTheWait();
    pass(factorResetLinkMs);
    expect(codeOf(await remove(await begin(), link))).toEqual([400, "link_invalid"]);
    expect((await ofSession("GET")).json()).toEqual({ reset: null });
    await sweep();
    const next = await asked();
    expect(next.json()).toMatchObject({ status: "waiting", until: new Date(Date.now() + factorResetWaitMs).toISOString() });
    expect(codeOf(await remove(await begin(), link))).toEqual([400, "link_invalid"]);
  });
});
