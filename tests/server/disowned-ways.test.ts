/** Somebody with a stolen password, and nothing else, adds ways to sign in. Whatever they do, and in which order, one mailed link ends it. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RegistrationOptions, SignInOptions } from "#contract/auth/passkeys.ts";
import type { FactorNeeded, Session } from "#contract/auth/sign-in.ts";
import { dayMs } from "#domain/clock.ts";
import { disownMs, factorResetWaitMs, googleMs } from "#domain/periods.ts";
import { advanceFactorResets } from "#server/features/auth/factor-reset.ts";
import { linkGoogle } from "#server/features/auth/google-link.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { SoftPasskey } from "#tests/support/authenticator.ts";
import { createPasskey } from "#tests/support/authenticator.ts";
import { daily, full } from "#tests/support/full.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";
import { bearer, codeAt, turnOn } from "./factor-support.ts";

const origin = "https://tessera.test";
const chosen = "owned again 1";
let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp({ PUBLIC_URL: origin });
});
afterAll(() => product.close());
beforeEach(() => product.asOwner("delete from auth_attempts"));

const addressOf = (name: string) => `${name}-${randomUUID().slice(0, 8)}@example.com`;
const elsewhere = () => ({ remoteAddress: randomAddress() });
const as = (session: Session, more: object = {}) => ({ headers: { ...bearer(session), ...more }, remoteAddress: randomAddress() });
const codeOf = (answer: LightMyRequestResponse) => answer.json<{ code?: string }>().code;
const disown = (token: string) => product.post("/api/auth/disown-way", { token }, elsewhere());
const undo = (token: string) => product.post("/api/auth/undo-email-change", { token }, elsewhere());
const reset = (token: string, secret = chosen) => product.post("/api/auth/reset-password", { token, password: secret }, elsewhere());

interface Mailed {
  template: string;
  token: string;
}

/** The links that mails brought to an address, oldest first. */
async function linksTo(email: string): Promise<Mailed[]> {
  const mails = await product.db
    .selectFrom("mails")
    .select(["template", "parameters"])
    .where("recipient", "=", email)
    .orderBy("id")
    .execute();
  return mails
    .filter(({ parameters }) => parameters.linkId !== undefined)
    .map(({ template, parameters }) => ({ template, token: linkToken(product.config, String(parameters.linkId)) }));
}
const told = ["passkey-added", "second-factor-on", "google-linked"];
const disownTokens = async (email: string) =>
  (await linksTo(email)).filter(({ template }) => told.includes(template)).map(({ token }) => token);

/** Somebody who signed up and has a password alone, and a thief who knows it. */
interface Thief {
  email: string;
  userId: string;
  theirs: string;
  session: Session;
  secret: string;
  passkey: SoftPasskey;
  totp: string | undefined;
}

async function robbed(): Promise<Thief> {
  const email = addressOf("victim");
  const { user } = await product.join(email);
  const session = (await product.signIn(email)).json<Session>();
  return {
    email,
    userId: user.id,
    theirs: addressOf("thief"),
    session,
    secret: password,
    passkey: createPasskey({ origin }),
    totp: undefined,
  };
}

async function addPasskey(session: Session, passkey: SoftPasskey): Promise<LightMyRequestResponse> {
  const options = (await product.post("/api/account/passkeys/options", {}, as(session))).json<RegistrationOptions>();
  return product.post("/api/account/passkeys", { registration: passkey.register(options), name: "A laptop" }, as(session));
}
async function signInByPasskey(passkey: SoftPasskey): Promise<LightMyRequestResponse> {
  const options = (await product.post("/api/auth/passkey/options", {}, elsewhere())).json<SignInOptions>();
  return product.post("/api/auth/passkey", { assertion: passkey.sign(options) }, elsewhere());
}
/** Pretends that the person came back from Google with an account of theirs. */
async function link(session: Session): Promise<void> {
  const [id, now] = [randomUUID(), new Date()];
  const times = { created_at: now, expires_at: new Date(now.getTime() + googleMs), authenticated_at: now, used_at: null };
  const answer = { id, subject: randomUUID(), email: addressOf("at-google"), user_id: session.user.id, ...times };
  await product.db.insertInto("google_answers").values(answer).execute();
  const { id: sessionId } = await product.db
    .selectFrom("auth_sessions")
    .select("id")
    .where("user_id", "=", session.user.id)
    .where("revoked_at", "is", null)
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
  const viewer = { userId: session.user.id, sessionId, provedAt: now, role: "user" as const, entitling: {} as never };
  await linkGoogle(product.deps, { ...viewer, network: "10.0.0.1" }, id);
}
async function moveTo(session: Session, email: string): Promise<void> {
  const asked = await product.post("/api/account/email", { email }, as(session));
  const token = (await linksTo(email)).at(-1)?.token ?? "";
  const here = { headers: cookiesOf(asked), remoteAddress: randomAddress() };
  expect((await product.post("/api/auth/confirm-email-change", { token }, here)).statusCode).toBe(200);
}

const acts = {
  passkey: async (thief: Thief) => expect((await addPasskey(thief.session, thief.passkey)).statusCode).toBe(200),
  app: async (thief: Thief) => {
    thief.totp = (await turnOn(product, thief.session)).secret;
  },
  google: async (thief: Thief) => link(thief.session),
  address: async (thief: Thief) => moveTo(thief.session, thief.theirs),
  password: async (thief: Thief) => {
    const change = { currentPassword: thief.secret, password: "a thief's own 1" };
    expect((await product.post("/api/account/password", change, as(thief.session))).statusCode).toBe(204);
    thief.secret = change.password;
  },
} as const;
type Act = keyof typeof acts;

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}
const orders: Act[][] = ordersOf(Object.keys(acts) as Act[]);

async function waysOf(userId: string): Promise<string[]> {
  const credentials = await product.db.selectFrom("credentials").select("kind").where("user_id", "=", userId).execute();
  const identities = await product.db.selectFrom("identities").select("kind").where("user_id", "=", userId).execute();
  const passkeys = await product.db.selectFrom("passkeys").select("name").where("user_id", "=", userId).execute();
  return [...credentials.map(({ kind }) => kind), ...identities.map(({ kind }) => kind), ...passkeys.map(() => "passkey")].toSorted();
}

/** Nothing that the thief had, knew or was mailed opens anything. */
async function expectOwned({ email, userId, theirs, session, secret, passkey }: Thief): Promise<void> {
  expect(await waysOf(userId)).toEqual(["email", "password"]);
  expect((await product.get("/api/account", session.access_token)).statusCode).toBe(401);
  expect(codeOf(await product.post("/api/auth/refresh", { refresh_token: session.refresh_token }))).toBe("session_expired");
  expect(codeOf(await signInByPasskey(passkey))).toBe("passkey_refused");
  for (const address of [email, theirs])
    for (const known of new Set([password, secret]))
      expect(codeOf(await product.signIn(address, known)), address).toBe("invalid_credentials");
  for (const { token, template } of await linksTo(theirs))
    for (const answer of [await disown(token), await undo(token), await reset(token, "a thief's own 2")])
      expect(codeOf(answer), template).toBe("link_invalid");
  const before = (await linksTo(theirs)).length;
  await product.post("/api/auth/recover", { email: theirs }, elsewhere());
  expect(await linksTo(theirs)).toHaveLength(before);
  const back = (await product.signIn(email, chosen)).json<Session>();
  expect(back.user).toMatchObject({ id: userId, email });
}

describe.each(full ? orders : daily(orders, 4))("a thief who does %s, %s, %s, %s, %s", (...order: Act[]) => {
  test("loses everything to the first link that their acts brought the owner", async () => {
    const thief = await robbed();
    for (const act of order) await acts[act](thief);
    const [first] = (await linksTo(thief.email)).filter(({ template }) => [...told, "email-change-notice"].includes(template));
    const answer = first?.template === "email-change-notice" ? await undo(first.token) : await disown(first?.token ?? "");
    expect([answer.statusCode, answer.json().email]).toEqual([200, thief.email]);
    expect((await reset(answer.json().token)).json()).toEqual({ session: null });
    await expectOwned(thief);
  });
});

test("loses everything to the reversal of the address as well, though a passkey was there before", async () => {
  const thief = await robbed();
  for (const act of ["passkey", "address", "app"] as const) await acts[act](thief);
  const notice = (await linksTo(thief.email)).find(({ template }) => template === "email-change-notice");
  await reset((await undo(notice?.token ?? "")).json().token);
  await expectOwned(thief);
});

describe("the link of such a mail", () => {
  test("shows what it removes, and changes nothing before it is used; it works once, also at the same moment, and signs nobody in", async () => {
    const thief = await robbed();
    for (const act of ["passkey", "app"] as const) await acts[act](thief);
    const [first = "", second = ""] = await disownTokens(thief.email);
    const look = (token: string) => product.post("/api/auth/way-link", { token }, elsewhere());
    expect((await look(first)).json()).toMatchObject({ email: thief.email, ways: [{ kind: "passkey" }, { kind: "totp" }] });
    expect((await look(second)).json().ways).toMatchObject([{ kind: "totp" }]);
    expect((await product.get("/api/account", thief.session.access_token)).statusCode).toBe(200);
    const answers = await Promise.all([disown(first), disown(first), disown(first)]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 400, 400]);
    expect(answers.every(({ headers }) => headers["set-cookie"] === undefined)).toBe(true);
    for (const token of [first, second, ""]) expect(codeOf(await look(token))).toBe("link_invalid");
    for (const path of ["/api/auth/undo-email-change", "/api/auth/reset-password", "/api/auth/confirm"])
      expect(codeOf(await product.post(path, { token: first, password: chosen }, elsewhere())), path).toMatch(
        /link_invalid|validation_failed/,
      );
  });

  test("leaves what was there before: whoever reads the mailbox still meets the owner's own factor", async () => {
    const email = addressOf("careful");
    const own = await product.join(email);
    const { secret } = await turnOn(product, own);
    const older = createPasskey({ origin });
    await addPasskey(own, older);
    const longAgo = `created_at = created_at - interval '8 days' where user_id = '${own.user.id}'`;
    await product.asOwner(`update credentials set ${longAgo}`, `update passkeys set ${longAgo}`);
    await addPasskey(own, createPasskey({ origin }));
    const token = (await disownTokens(email)).at(-1) ?? "";
    const answer = await disown(token);
    expect(await waysOf(own.user.id)).toEqual(["email", "passkey", "password", ...Array<string>(10).fill("recovery_code"), "totp"]);
    await reset(answer.json().token);
    const signedIn = await product.signIn(email, chosen);
    expect(signedIn.json<FactorNeeded>().status).toBe("factor_needed");
    const shown = { token: signedIn.json<FactorNeeded>().token, code: codeAt(secret, Date.now() + 30_000) };
    expect((await product.post("/api/auth/factor", shown, { headers: cookiesOf(signedIn) })).statusCode).toBe(200);
    expect((await signInByPasskey(older)).statusCode).toBe(200);
  });

  test("is over after seven days", async () => {
    const thief = await robbed();
    await acts.passkey(thief);
    const [token = ""] = await disownTokens(thief.email);
    await product.asOwner(`update email_links set expires_at = expires_at - interval '${disownMs} ms' where user_id = '${thief.userId}'`);
    expect(codeOf(await disown(token))).toBe("link_invalid");
  });

  test("that a thief got at their own address gives them nothing once the owner has the address back", async () => {
    const thief = await robbed();
    for (const act of ["address", "passkey"] as const) await acts[act](thief);
    const [theirs = ""] = await disownTokens(thief.theirs);
    const notice = (await linksTo(thief.email)).find(({ template }) => template === "email-change-notice");
    await undo(notice?.token ?? "");
    expect(codeOf(await disown(theirs))).toBe("link_invalid");
  });

  test("ends what was begun: nothing is added by a call that was on its way, and no sign-in goes on", async () => {
    const thief = await robbed();
    await acts.app(thief);
    const [token = ""] = await disownTokens(thief.email);
    const waiting = await product.signIn(thief.email);
    // The row of the person is held, as by the link, while the call arrives: it sees the end of its session after that.
    const late = await product.db.transaction().execute(async (trx) => {
      await trx.selectFrom("users").select("id").where("id", "=", thief.userId).forNoKeyUpdate().execute();
      const options = (await product.post("/api/account/passkeys/options", {}, as(thief.session))).json<RegistrationOptions>();
      const body = { registration: thief.passkey.register(options), name: "Late" };
      const call = product.post("/api/account/passkeys", body, as(thief.session));
      const { db } = product;
      await expect
        .poll(async () => (await sql`select from pg_stat_activity where wait_event_type = 'Lock'`.execute(db)).rows)
        .not.toEqual([]);
      await trx.updateTable("auth_sessions").set({ revoked_at: new Date() }).where("user_id", "=", thief.userId).execute();
      return { call };
    });
    expect(codeOf(await late.call)).toBe("session_expired");
    await disown(token);
    const shown = { token: waiting.json<FactorNeeded>().token, code: codeAt(thief.totp ?? "", Date.now() + 30_000) };
    expect(codeOf(await product.post("/api/auth/factor", shown, { headers: cookiesOf(waiting) }))).toBe("sign_in_expired");
    expect(await waysOf(thief.userId)).toEqual(["email", "password"]);
  });

  test("works while the thief has the account deleted; its owner restores it", async () => {
    const thief = await robbed();
    await acts.app(thief);
    const [token = ""] = await disownTokens(thief.email);
    await product.post("/api/account/deletion", { email: thief.email }, as(thief.session));
    await reset((await disown(token)).json().token);
    expect((await product.signIn(thief.email, chosen)).json()).toMatchObject({ status: "deletion_pending" });
  });
});

describe("a request to remove the factor that a thief turned on", () => {
  /** The thief has a passkey and an app; the owner has a new password by mail, and asks. */
  async function asked(): Promise<Thief> {
    const thief = await robbed();
    for (const act of ["passkey", "app"] as const) await acts[act](thief);
    await product.post("/api/auth/recover", { email: thief.email }, elsewhere());
    await reset((await linksTo(thief.email)).at(-1)?.token ?? "");
    const signedIn = await product.signIn(thief.email, chosen);
    const waiting = { token: signedIn.json<FactorNeeded>().token };
    expect((await product.post("/api/auth/factor-reset", waiting, { headers: cookiesOf(signedIn) })).statusCode).toBe(202);
    return thief;
  }
  const cancel = (session: Session) => product.app.inject({ method: "DELETE", url: "/api/account/factor-reset", ...as(session) });
  const isMailed = async (thief: Thief) => {
    await advanceFactorResets(product.deps, new Date(Date.now() + factorResetWaitMs));
    return (await product.templatesTo(thief.email)).includes("factor-reset-link");
  };

  test("is not ended by a session of the passkey that they added; the owner's link is mailed", async () => {
    const thief = await asked();
    const session = (await signInByPasskey(thief.passkey)).json<Session>();
    expect([(await cancel(session)).statusCode, codeOf(await cancel(session))]).toEqual([403, "way_too_new"]);
    expect(await isMailed(thief)).toBe(true);
  });

  test("is not ended by turning the factor off and on again", async () => {
    const thief = await asked();
    const session = (await signInByPasskey(thief.passkey)).json<Session>();
    expect((await product.app.inject({ method: "DELETE", url: "/api/account/factors/totp", ...as(session) })).statusCode).toBe(204);
    await turnOn(product, session);
    expect(await isMailed(thief)).toBe(true);
  });

  test("is ended by a session of a passkey that is there for longer, once the factor is too", async () => {
    const thief = await asked();
    const older = `created_at = created_at - interval '${disownMs + dayMs} ms' where user_id = '${thief.userId}'`;
    await product.asOwner(`update passkeys set ${older}`, `update credentials set ${older}`);
    const session = (await signInByPasskey(thief.passkey)).json<Session>();
    expect((await cancel(session)).statusCode).toBe(204);
    expect(await isMailed(thief)).toBe(false);
  });
});
