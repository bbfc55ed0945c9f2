/** Sign-in with Google, against the Google that the sandbox plays; what it does not send is changed on the way. */
import type { Emulator } from "emulate";
import { createEmulator } from "emulate";
import type { LightMyRequestResponse } from "fastify";
import type { JWTPayload } from "jose";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FactorNeeded, Session } from "#contract/auth/sign-in.ts";
import { stepUpMs } from "#domain/periods.ts";
import { freePort } from "#server/embedded/processes.ts";
import type { HttpProxy } from "#tests/support/http-proxy.ts";
import { startHttpProxy } from "#tests/support/http-proxy.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";
import { codeAt, codeMs, turnOn } from "./factor-support.ts";

const client = { id: "tessera-tests", secret: "a secret of the tests" };
const people = Array.from({ length: 60 }, (_, index) => `person-${index}@example.com`);
const unverified = "unverified@example.com";
let unused = 0;
function nextPerson(): string {
  const person = people[unused++];
  if (person === undefined) throw new Error("the Google of the tests has too few people");
  return person;
}

let google: Emulator;
let world: AuthApp;

const variablesFor = (issuer: string) => ({ GOOGLE_CLIENT_ID: client.id, GOOGLE_CLIENT_SECRET: client.secret, GOOGLE_ISSUER: issuer });

beforeAll(async () => {
  const users = [...people.map((email) => ({ email })), { email: unverified, email_verified: false }];
  const redirect_uris = ["http://tessera.test/api/auth/google/callback"];
  const oauth_clients = [
    { client_id: client.id, client_secret: client.secret, redirect_uris },
    { client_id: "somebody-else", client_secret: "theirs", redirect_uris },
  ];
  google = await createEmulator({ service: "google", port: await freePort(), seed: { google: { users, oauth_clients } } });
  world = await createAuthApp(variablesFor(google.url));
});

afterAll(async () => {
  await world.close();
  await google.close();
});

/** What the browser keeps: the newest cookies of all answers, without deleted ones. */
function browserAfter(...answers: LightMyRequestResponse[]): { cookie: string } {
  const pairs = cookiesOf(...answers)
    .cookie.split("; ")
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair] as const);
  return { cookie: [...new Map(pairs).values()].filter((pair) => !pair.endsWith("=")).join("; ") };
}

interface Begun {
  answer: LightMyRequestResponse;
  url: URL;
}

async function begin(app: AuthApp, body: object = {}): Promise<Begun> {
  const answer = await app.post("/api/auth/google", body);
  expect(answer.statusCode, answer.body).toBe(200);
  return { answer, url: new URL(answer.json<{ url: string }>().url) };
}

/** Picks the person on Google's page, with other hidden fields where `changes` has them. Returns the path Google sends the browser to. */
async function choose(url: URL, email: string, changes: Record<string, string> = {}): Promise<string> {
  const fields = new URLSearchParams({ ...Object.fromEntries(url.searchParams), email, ...changes });
  const chosen = await fetch(new URL("/o/oauth2/v2/auth/callback", google.url), { method: "POST", body: fields, redirect: "manual" });
  const back = new URL(chosen.headers.get("location") ?? "");
  return `${back.pathname}${back.search}`;
}

const open = (app: AuthApp, path: string, headers: object) => app.app.inject({ method: "GET", url: path, headers: { ...headers } });

interface Came {
  /** The page that the browser was sent to. */
  page: URL;
  browser: { cookie: string };
  begun: Begun;
  path: string;
}

/** The whole way to Google and back. */
async function come(app: AuthApp, email: string, given: { body?: object; changes?: Record<string, string> } = {}): Promise<Came> {
  const begun = await begin(app, given.body);
  const path = await choose(begun.url, email, given.changes);
  const back = await open(app, path, browserAfter(begun.answer));
  expect(back.statusCode, back.body).toBe(303);
  const page = new URL(String(back.headers.location), "http://tessera.test");
  return { page, browser: browserAfter(begun.answer, back), begun, path };
}

const outcomeOf = ({ page }: Pick<Came, "page">) => page.searchParams.get("google");
const finish = (app: AuthApp, headers: object) => app.post("/api/auth/google/finish", { language: "de" }, { headers: { ...headers } });
const bearer = (session: Session, more: object = {}) => ({ ...more, authorization: `Bearer ${session.access_token}` });
const codeOf = (answer: LightMyRequestResponse) => answer.json<{ code: string }>().code;

async function enter(email: string): Promise<Session> {
  const { browser } = await come(world, email);
  const answer = await finish(world, browser);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<Session>();
}

const link = (session: Session, browser: object) =>
  world.app.inject({ method: "POST", url: "/api/account/google", payload: {}, headers: bearer(session, browser) });

const unlink = (session: Session) => world.app.inject({ method: "DELETE", url: "/api/account/google", headers: bearer(session) });

async function actsOn(userId: string): Promise<string[]> {
  const rows = await world.db
    .selectFrom("audit_events")
    .innerJoin("audit_people", "audit_people.id", "audit_events.subject")
    .select("action")
    .where("user_id", "=", userId)
    .orderBy("audit_events.id")
    .execute();
  return rows.map(({ action }) => action);
}

describe("a new person", () => {
  it("gets an account with a verified address, no password and a session; the next time the same account", async () => {
    const email = nextPerson();
    const first = await enter(email);
    expect(first.user.email).toBe(email);
    expect(await actsOn(first.user.id)).toEqual(["sign_up.confirmed", "google.linked", "sign_in.completed"]);
    const account = (await world.get("/api/account", first.access_token)).json<{ emailVerifiedAt: string }>();
    expect(account.emailVerifiedAt).toMatch(/^\d{4}-/);
    expect(await world.db.selectFrom("credentials").select("id").where("user_id", "=", first.user.id).execute()).toEqual([]);
    expect((await world.get("/api/credits/wallet", first.access_token)).statusCode).toBe(200);
    expect((await enter(email)).user.id).toBe(first.user.id);
  });

  it("never inherits the password of a stranger who signed up with the address; the stranger's link opens nothing", async () => {
    const email = nextPerson();
    const stranger = await world.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() });
    const [token = ""] = await world.mailedTokens(email);
    const { user } = await enter(email);
    expect((await world.signIn(email)).json()).toMatchObject({ code: "email_not_confirmed" });
    const confirmed = await world.post("/api/auth/confirm", { token }, { headers: cookiesOf(stranger) });
    expect(codeOf(confirmed)).toBe("link_invalid");
    expect(await world.db.selectFrom("credentials").select("id").where("user_id", "=", user.id).execute()).toEqual([]);
  });

  it("gets no second password by signing up with the address: the mail says that there is an account", async () => {
    const email = nextPerson();
    const { user } = await enter(email);
    const again = await world.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() });
    expect(again.statusCode).toBe(202);
    expect(await world.templatesTo(email)).toEqual(["account-exists"]);
    expect(await world.db.selectFrom("credentials").select("id").where("user_id", "=", user.id).execute()).toEqual([]);
  });

  it("gets one account when two windows finish at once, or while the mailed link is opened", async () => {
    const email = nextPerson();
    await world.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() });
    const windows = await Promise.all([come(world, email), come(world, email)]);
    const answers = await Promise.all([...windows.map(({ browser }) => finish(world, browser)), world.confirmLast(email)]);
    expect(answers.map(({ statusCode }) => statusCode).filter((status) => status >= 500)).toEqual([]);
    const owners = await world.db.selectFrom("identities").select("user_id").where("subject", "=", email).execute();
    expect(owners).toHaveLength(1);
  });
});

describe("while sign-ups are closed", () => {
  it("nobody gets an account by Google, and whoever has one comes in", async () => {
    const [owner, newcomer] = [nextPerson(), nextPerson()];
    await enter(owner);
    world.deps.settings.replace([{ name: "signUps", value: false }]);
    const { browser } = await come(world, newcomer);
    expect(codeOf(await finish(world, browser))).toBe("sign_ups_closed");
    await enter(owner);
    world.deps.settings.replace([]);
    // What Google said is still good.
    expect((await finish(world, browser)).statusCode).toBe(200);
  });
});

describe("an address that has an account", () => {
  it("is not opened by Google: its owner signs in in their own way, then Google is linked, once, and opens it the next time", async () => {
    const email = nextPerson();
    const { user } = await world.join(email);
    const { browser } = await come(world, email);
    const asked = await finish(world, browser);
    expect(asked.json()).toEqual({ status: "own_way_first", email });
    const session = (await world.signIn(email)).json<Session>();
    const linked = await link(session, browser);
    expect(linked.json()).toMatchObject({ email });
    expect(codeOf(await link(session, browser))).toBe("google_expired");
    expect((await enter(email)).user.id).toBe(user.id);
    expect(await actsOn(user.id)).toContain("google.linked");
    expect(await world.templatesTo(email)).toContain("google-linked");
    expect((await world.get("/api/account/ways-in", session.access_token)).json()).toMatchObject({ password: true, google: { email } });
  });

  it("is linked by a sign-in that followed Google's answer alone, in the same browser, by nobody else", async () => {
    const email = nextPerson();
    const before = await world.join(email);
    const { browser } = await come(world, email);
    await finish(world, browser);
    expect(codeOf(await link(before, browser))).toBe("google_expired");
    const another = await world.join();
    expect(codeOf(await link(another, browser))).toBe("google_expired");
    const session = (await world.signIn(email)).json<Session>();
    expect(codeOf(await link(session, {}))).toBe("google_expired");
    expect(await actsOn(before.user.id)).not.toContain("google.linked");
  });

  it("is linked once when two windows link at the same moment", async () => {
    const email = nextPerson();
    await world.join(email);
    const windows = await Promise.all([come(world, email), come(world, email)]);
    const session = (await world.signIn(email)).json<Session>();
    const answers = await Promise.all(windows.map(({ browser }) => link(session, browser)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect((await actsOn(session.user.id)).filter((action) => action === "google.linked")).toHaveLength(1);
  });
});

describe("a person with a second factor", () => {
  it("gets no session for Google's answer alone, and one for the answer and a code, in the same browser", async () => {
    const email = nextPerson();
    const { user, ...first } = await enter(email);
    const { secret } = await turnOn(world, { user, ...first });
    const { browser, begun } = await come(world, email);
    const asked = await finish(world, browser);
    expect(asked.json()).toEqual({ status: "factor_needed", token: expect.any(String), methods: ["totp", "recovery_code"] });
    expect(cookiesOf(asked).cookie).not.toContain("device=");
    const input = { token: asked.json<FactorNeeded>().token, code: codeAt(secret, Date.now() + codeMs) };
    expect(codeOf(await world.post("/api/auth/factor", input))).toBe("sign_in_expired");
    const shown = await world.post("/api/auth/factor", input, { headers: browserAfter(begun.answer, asked) });
    expect(shown.json<Session>().user.id).toBe(user.id);
    expect(codeOf(await finish(world, browser))).toBe("google_expired");
  });
});

describe("from the account", () => {
  async function beginLinking(session: Session): Promise<Begun> {
    const answer = await world.app.inject({ method: "POST", url: "/api/account/google/begin", payload: {}, headers: bearer(session) });
    return { answer, url: new URL(answer.json<{ url: string }>().url) };
  }

  async function linkFromAccount(session: Session, email: string): Promise<LightMyRequestResponse> {
    const begun = await beginLinking(session);
    const back = await open(world, await choose(begun.url, email), browserAfter(begun.answer));
    expect(back.headers.location).toBe("/profile/security?google=link");
    return link(session, browserAfter(begun.answer, back));
  }

  it("a Google account with another address is linked, and unlinked", async () => {
    const session = await world.join();
    const email = nextPerson();
    expect((await linkFromAccount(session, email)).json()).toMatchObject({ email });
    expect((await enter(email)).user.id).toBe(session.user.id);
    expect((await unlink(session)).statusCode).toBe(204);
    expect(await world.templatesTo(session.user.email)).toEqual(expect.arrayContaining(["google-linked", "google-unlinked"]));
    expect(await actsOn(session.user.id)).toContain("google.unlinked");
    expect((await enter(email)).user.id).not.toBe(session.user.id);
  });

  it("another person's Google account, and one with another person's address, is refused", async () => {
    const email = nextPerson();
    await enter(email);
    const session = await world.join();
    expect(codeOf(await linkFromAccount(session, email))).toBe("google_taken");
    const addressOfAnother = nextPerson();
    await world.join(addressOfAnother);
    expect(codeOf(await linkFromAccount(session, addressOfAnother))).toBe("google_taken");
  });

  it("a second Google account is refused while one is linked", async () => {
    const session = await world.join();
    await linkFromAccount(session, nextPerson());
    expect(codeOf(await linkFromAccount(session, nextPerson()))).toBe("google_linked_already");
  });

  it("what one person began in a browser another can't finish there", async () => {
    const [one, two] = [await world.join(), await world.join()];
    const begun = await beginLinking(one);
    const back = await open(world, await choose(begun.url, nextPerson()), browserAfter(begun.answer));
    const browser = browserAfter(begun.answer, back);
    expect(codeOf(await link(two, browser))).toBe("google_expired");
    expect(codeOf(await finish(world, browser))).toBe("google_expired");
  });

  it("the last way in can't be removed", async () => {
    const session = await enter(nextPerson());
    const refused = await unlink(session);
    expect(codeOf(refused)).toBe("last_way_in");
    expect((await world.get("/api/account/ways-in", session.access_token)).json()).toMatchObject({ password: false, google: {} });
  });

  it("linking and unlinking need a factor that was shown lately", async () => {
    const session = await world.join();
    await world.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(0) })
      .where("user_id", "=", session.user.id)
      .execute();
    const calls = [
      { method: "POST", url: "/api/account/google/begin", payload: {} },
      { method: "POST", url: "/api/account/google", payload: {} },
      { method: "DELETE", url: "/api/account/google" },
    ] as const;
    for (const call of calls) expect(codeOf(await world.app.inject({ ...call, headers: bearer(session) }))).toBe("step_up_required");
  });
});

describe("refused is", () => {
  it("an address that Google has not verified", async () => {
    expect(outcomeOf(await come(world, unverified))).toBe("google_unverified");
  });

  it("a wrong state, and an answer that comes to another browser", async () => {
    const begun = await begin(world);
    const path = await choose(begun.url, nextPerson(), { state: "of-somebody-else" });
    const back = await open(world, path, browserAfter(begun.answer));
    expect(back.headers.location).toBe("/auth?google=google_expired");
    const stranger = await open(world, await choose(begun.url, "person-0@example.com"), {});
    expect(stranger.headers.location).toBe("/auth?google=google_expired");
  });

  it("a code that was used before, even with the cookies of then", async () => {
    const { begun, path } = await come(world, nextPerson());
    const again = await open(world, path, browserAfter(begun.answer));
    expect(again.headers.location).toBe("/auth?google=google_refused");
  });

  it("a code without the browser's PKCE verifier", async () => {
    const begun = await begin(world);
    const path = await choose(begun.url, "person-0@example.com", { code_challenge: "of-somebody-else" });
    expect((await open(world, path, browserAfter(begun.answer))).headers.location).toBe("/auth?google=google_refused");
  });

  it("a token with another nonce, or for another audience", async () => {
    expect(outcomeOf(await come(world, "person-0@example.com", { changes: { nonce: "of-somebody-else" } }))).toBe("google_refused");
    expect(outcomeOf(await come(world, "person-0@example.com", { changes: { client_id: "somebody-else" } }))).toBe("google_refused");
  });

  it("an answer that was used, and one that nobody gave", async () => {
    const { browser } = await come(world, nextPerson());
    expect((await finish(world, browser)).statusCode).toBe(200);
    expect(codeOf(await finish(world, browser))).toBe("google_expired");
    expect(codeOf(await finish(world, {}))).toBe("google_expired");
    const [name = ""] = /google-answer=[^;]+/.exec(browser.cookie) ?? [];
    expect(codeOf(await finish(world, { cookie: `${name.slice(0, -2)}AA` }))).toBe("google_expired");
  });

  it("a person who said no at Google", async () => {
    const begun = await begin(world);
    const path = `/api/auth/google/callback?error=access_denied&state=${begun.url.searchParams.get("state")}`;
    expect((await open(world, path, browserAfter(begun.answer))).headers.location).toBe("/auth?google=google_denied");
  });
});

describe("the page to return to", () => {
  it("is kept", async () => {
    const { page } = await come(world, nextPerson(), { body: { return: "/pricing?plan=basic" } });
    expect(page.searchParams.get("return")).toBe("/pricing?plan=basic");
    expect(page.pathname).toBe("/auth");
  });

  it.each(["https://evil.test", "//evil.test", "/\\evil.test", "javascript:alert(1)", "/\t/evil.test", "evil"])(
    "is dropped if it is not a path of ours: %s",
    async (given) => {
      const { page } = await come(world, "person-0@example.com", { body: { return: given } });
      expect(page.href).toBe("http://tessera.test/auth?google=sign-in");
    },
  );
});

it("no address has a token, and Google's cookies can't be read by scripts", async () => {
  const { page, begun } = await come(world, nextPerson());
  expect([...page.searchParams.keys()]).toEqual(["google"]);
  const set = [begun.answer.headers["set-cookie"] ?? []].flat();
  expect(set.length).toBeGreaterThan(0);
  for (const cookie of set) {
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);
  }
});

it("without Google's credentials the calls are not there, and the environment says so", async () => {
  const plain = await createAuthApp();
  try {
    expect((await plain.post("/api/auth/google", {})).statusCode).toBe(404);
    expect((await open(plain, "/api/auth/google/callback?code=x", {})).statusCode).toBe(404);
    expect((await plain.get("/api/environment")).json()).toMatchObject({ google: false });
    expect((await world.get("/api/environment")).json()).toMatchObject({ google: true });
  } finally {
    await plain.close();
  }
});

describe("a token changed on the way", () => {
  let proxy: HttpProxy;
  let tampered: AuthApp;
  let change: (claims: JWTPayload) => JWTPayload = (claims) => claims;
  let outage = false;
  let foreignKey = false;

  beforeAll(async () => {
    const [own, foreign] = [await generateKeyPair("RS256"), await generateKeyPair("RS256")];
    const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: "of-the-tests", use: "sig", alg: "RS256" }] };
    proxy = await startHttpProxy(google.url, async ({ path }, text) => {
      if (path === "/oauth2/v3/certs") return JSON.stringify(keys);
      if (path !== "/oauth2/token") return text;
      if (outage) return undefined;
      const answer = JSON.parse(text) as { id_token: string };
      const claims = change({ ...decodeJwt(answer.id_token), iss: proxy.url.origin });
      const signer = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "of-the-tests" });
      return JSON.stringify({ ...answer, id_token: await signer.sign((foreignKey ? foreign : own).privateKey) });
    });
    tampered = await createAuthApp(variablesFor(proxy.url.origin));
  });

  afterAll(async () => {
    await tampered.close();
    await proxy.close();
  });

  it("is accepted while nothing in it is wrong", async () => {
    expect(outcomeOf(await come(tampered, "person-0@example.com"))).toBe("sign-in");
  });

  const past = Math.floor(Date.now() / 1_000) - 600;
  it.each<[string, Record<string, unknown>]>([
    ["an expired one", { exp: past }],
    ["one of another issuer", { iss: "https://accounts.google.com.evil.test" }],
    ["one for two audiences", { aud: [client.id, "somebody-else"] }],
    ["one without a nonce", { nonce: undefined }],
    ["one without a subject", { sub: undefined }],
  ])("is refused: %s", async (_name, changes) => {
    change = (claims) => ({ ...claims, ...changes });
    expect(outcomeOf(await come(tampered, "person-0@example.com"))).toBe("google_refused");
    change = (claims) => claims;
  });

  describe("by which somebody without a password shows that it is they", () => {
    const now = () => Math.floor(Date.now() / 1_000);
    const act = (url: string, session: Session, browser: object = {}, payload: object = {}) =>
      tampered.app.inject({ method: "POST", url, payload, headers: bearer(session, browser) });

    const show = (session: Session, browser: object) => act("/api/account/step-up", session, browser, { google: true });
    const waysOf = async (session: Session) => (await tampered.get("/api/account/step-up", session.access_token)).json();

    /** Joins by Google, and lets the sign-in grow old. */
    async function joinLongAgo(email: string): Promise<Session> {
      const { browser } = await come(tampered, email);
      const session = (await finish(tampered, browser)).json<Session>();
      await tampered.db
        .updateTable("auth_sessions")
        .set({ proved_at: new Date(0) })
        .where("user_id", "=", session.user.id)
        .execute();
      return session;
    }

    /** Goes to Google and back, as somebody who signed in there at `authTime`. */
    async function prove(session: Session, email: string, authTime: unknown, page = "/profile/data") {
      const answer = await act("/api/account/step-up/google", session, {}, { return: page });
      const url = new URL(answer.json<{ url: string }>().url);
      change = (claims) => ({ ...claims, auth_time: authTime });
      const back = await open(tampered, await choose(url, email), browserAfter(answer));
      change = (claims) => claims;
      const browser = browserAfter(answer, back);
      return { url, page: back.headers.location, browser, shown: await show(session, browser) };
    }

    it("counts if they signed in at Google just now, with the linked account, and brings them back to their page", async () => {
      const email = nextPerson();
      const session = await joinLongAgo(email);
      expect(await waysOf(session)).toEqual({ ways: ["google"] });
      const { url, page, shown, browser } = await prove(session, email, now());
      expect(url.searchParams.get("max_age")).toBe("0");
      expect(JSON.parse(url.searchParams.get("claims") ?? "")).toEqual({ id_token: { auth_time: { essential: true } } });
      expect(page).toBe("/profile/data?google=step-up");
      expect(shown.statusCode).toBe(204);
      expect(codeOf(await show(session, browser))).toBe("google_expired");
      expect((await act("/api/account/google/begin", session)).statusCode).toBe(200);
      const events = (await tampered.get("/api/account/activity", session.access_token)).json<{ events: unknown[] }>().events;
      expect(events[0]).toMatchObject({ action: "step_up.completed", details: { factor: "google" } });
    });

    it.each([
      ["long ago", () => now() - stepUpMs / 1_000 - 60],
      ["at a time that Google does not say", () => undefined],
    ])("shows nothing if they signed in %s", async (_when, authTime) => {
      const email = nextPerson();
      const session = await joinLongAgo(email);
      expect(codeOf((await prove(session, email, authTime())).shown)).toBe("google_not_fresh");
      expect(codeOf(await act("/api/account/google/begin", session))).toBe("step_up_required");
    });

    it("shows nothing with another Google account, which is not linked by it either", async () => {
      const session = await joinLongAgo(nextPerson());
      const { shown, browser } = await prove(session, nextPerson(), now());
      expect(codeOf(shown)).toBe("google_other_account");
      expect(codeOf(await act("/api/account/google", session, browser))).toBe("step_up_required");
    });

    it("shows nothing of another person in the same browser, and needs a linked account", async () => {
      const email = nextPerson();
      const { browser } = await prove(await joinLongAgo(email), email, undefined);
      expect(codeOf(await show(await tampered.join(), browser))).toBe("google_expired");
      expect((await act("/api/account/step-up/google", await tampered.join(), {}, { return: "/" })).statusCode).toBe(404);
    });
  });

  it("is refused if another key signed it", async () => {
    foreignKey = true;
    expect(outcomeOf(await come(tampered, "person-0@example.com"))).toBe("google_refused");
    foreignKey = false;
  });

  it("and a Google that does not answer is told apart from a refusal", async () => {
    outage = true;
    expect(outcomeOf(await come(tampered, "person-0@example.com"))).toBe("google_unavailable");
    outage = false;
  });
});

it("a banned person is refused", async () => {
  const email = nextPerson();
  const { user } = await enter(email);
  await world.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", user.id).execute();
  const { browser } = await come(world, email);
  expect(codeOf(await finish(world, browser))).toBe("google_refused");
});
