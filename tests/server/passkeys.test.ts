/** Passkeys: what one signed is good once, here, for its owner; it is two factors by itself; and the last way in stays. */
import { randomUUID } from "node:crypto";
import type { LightMyRequestResponse } from "fastify";
import { Secret, TOTP } from "otpauth";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { TotpSetUp } from "#contract/auth/factors.ts";
import type { Passkey, RegistrationOptions, SignInOptions } from "#contract/auth/passkeys.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { minuteMs } from "#domain/clock.ts";
import { passkeyMs, stepUpMs } from "#domain/periods.ts";
import { limits } from "#domain/rules.ts";
import type { Lies, SoftPasskey } from "#tests/support/authenticator.ts";
import { createPasskey } from "#tests/support/authenticator.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";

const origin = "https://tessera.test";
let product: AuthApp;
let session: Session;
let email: string;

beforeAll(async () => {
  product = await createAuthApp({ PUBLIC_URL: origin });
});
afterAll(() => product.close());
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  email = `person-${randomUUID()}@example.com`;
  session = await product.join(email);
});
afterEach(() => {
  vi.useRealTimers();
});

const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];
const call = (method: "GET" | "POST" | "PATCH" | "DELETE", url: string, payload: object | undefined, by: Session) =>
  product.app.inject({ method, url, headers: { authorization: `Bearer ${by.access_token}` }, ...(payload ? { payload } : {}) });

async function registration(by = session): Promise<RegistrationOptions> {
  const answer = await call("POST", "/api/account/passkeys/options", {}, by);
  expect(answer.statusCode).toBe(200);
  return answer.json<RegistrationOptions>();
}
const submit = (passkey: SoftPasskey, options: RegistrationOptions, lies: Lies = {}, by = session, name = "My laptop") =>
  call("POST", "/api/account/passkeys", { registration: passkey.register(options, lies), name }, by);

async function added(by = session, kind: Partial<Parameters<typeof createPasskey>[0]> = {}): Promise<SoftPasskey & { row: Passkey }> {
  const passkey = createPasskey({ origin, ...kind });
  const answer = await submit(passkey, await registration(by), {}, by);
  expect(answer.statusCode).toBe(200);
  return { ...passkey, row: answer.json<Passkey>() };
}
async function asked(remoteAddress = randomAddress()): Promise<SignInOptions> {
  const answer = await product.post("/api/auth/passkey/options", {}, { remoteAddress });
  expect(answer.statusCode).toBe(200);
  return answer.json<SignInOptions>();
}
const present = (assertion: object, remoteAddress = randomAddress(), cookies = { cookie: "" }) =>
  product.post("/api/auth/passkey", { assertion }, { remoteAddress, headers: cookies });
const signIn = async (passkey: SoftPasskey, lies: Lies = {}) => present(passkey.sign(await asked(), lies));

/** Anybody may know it: it is in every answer of the person's passkeys. */
const ownHandle = () => ({ userHandle: Buffer.from(session.user.id.replaceAll("-", ""), "hex").toString("base64url") });

async function activity(by = session): Promise<{ action: string; details: object }[]> {
  return (await call("GET", "/api/account/activity", undefined, by)).json().events;
}
async function listed(by = session): Promise<Passkey[]> {
  return (await call("GET", "/api/account/passkeys", undefined, by)).json().passkeys;
}
/** Moves the proof of the factor back in time: moving the clock would make the access token expire too. */
async function waitForStepUp(): Promise<void> {
  const provedAt = new Date(Date.now() - stepUpMs - 1);
  await product.db.updateTable("auth_sessions").set({ proved_at: provedAt }).where("user_id", "=", session.user.id).execute();
}
async function turnOnTotp(): Promise<void> {
  const begun = (await call("POST", "/api/account/factors/totp", {}, session)).json<TotpSetUp>();
  const code = new TOTP({ secret: Secret.fromBase32(begun.secret) }).generate({ timestamp: Date.now() });
  const confirmed = await call("POST", "/api/account/factors/totp/confirm", { setUp: begun.setUp, code }, session);
  expect(confirmed.statusCode).toBe(200);
}

describe("adding a passkey", () => {
  test("asks for one that needs no address and verifies its owner, and names nobody in the user handle", async () => {
    const first = await added();
    const options = await registration();
    expect(options).toMatchObject({
      rp: { id: "tessera.test" },
      user: { name: email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      excludeCredentials: [{ id: first.id, type: "public-key", transports: ["internal"] }],
    });
    expect(Buffer.from(options.user.id, "base64url").toString("hex")).toBe(session.user.id.replaceAll("-", ""));
  });

  test("is told to its owner by mail and in the activity, and lists it with where it is", async () => {
    await added(session, { synced: true });
    await added(session, { transports: ["usb", "nfc", "from-the-future"] });
    await added();
    expect((await listed()).map(({ place, name, lastUsedAt }) => [place, name, lastUsedAt])).toEqual([
      ["synced", "My laptop", null],
      ["security_key", "My laptop", null],
      ["device", "My laptop", null],
    ]);
    expect(await product.templatesTo(email)).toEqual(["confirm-email", "passkey-added", "passkey-added", "passkey-added"]);
    expect((await activity())[0]).toMatchObject({ action: "passkey.added", details: {} });
  });

  test("that come and go are told a bounded number of times an hour, and none is refused for it", async () => {
    for (let count = 0; count < 12; count += 1) {
      const { row } = await added();
      expect((await call("DELETE", `/api/account/passkeys/${row.id}`, undefined, session)).statusCode).toBe(204);
    }
    const templates = await product.templatesTo(email);
    const sent = (template: string) => templates.filter((each) => each === template).length;
    expect([sent("passkey-added"), sent("passkey-removed")]).toEqual([10, 10]);
    vi.setSystemTime(Date.now() + 15 * minuteMs);
    session = (await product.post("/api/auth/refresh", { refresh_token: session.refresh_token })).json<Session>();
    await product.db.updateTable("auth_sessions").set({ proved_at: new Date() }).where("user_id", "=", session.user.id).execute();
    await added();
    expect((await product.templatesTo(email)).filter((each) => each === "passkey-added")).toHaveLength(11);
  });

  test("needs a factor shown lately", async () => {
    const options = await registration();
    await waitForStepUp();
    expect(codeOf(await submit(createPasskey({ origin }), options))).toEqual([403, "step_up_required"]);
    expect(codeOf(await call("POST", "/api/account/passkeys/options", {}, session))).toEqual([403, "step_up_required"]);
  });

  test.each<[string, Lies]>([
    ["of another origin", { origin: "https://tessera.test.evil.example" }],
    ["of a subdomain", { origin: "https://www.tessera.test" }],
    ["for another site", { rpId: "evil.example" }],
    ["without verification of the person", { unverified: true }],
    ["in a frame of another site", { crossOrigin: true }],
    ["that was a sign-in", { type: "webauthn.get" }],
    ["with an attestation that has certificates", { format: "tpm" }],
    ["with an attestation nobody knows", { format: "home-made" }],
  ])("refuses one %s", async (_, lies) => {
    expect(codeOf(await submit(createPasskey({ origin }), await registration(), lies))).toEqual([403, "passkey_refused"]);
    expect(await listed()).toEqual([]);
  });

  test("answers each challenge once, for a few minutes, in the session that asked", async () => {
    const once = await registration();
    expect((await submit(createPasskey({ origin }), once)).statusCode).toBe(200);
    expect(codeOf(await submit(createPasskey({ origin }), once))).toEqual([409, "passkey_expired"]);

    const other = (await product.signIn(email)).json<Session>();
    expect(codeOf(await submit(createPasskey({ origin }), await registration(), {}, other))).toEqual([409, "passkey_expired"]);

    const replaced = await registration();
    await registration();
    expect(codeOf(await submit(createPasskey({ origin }), replaced))).toEqual([409, "passkey_expired"]);

    const late = await registration();
    vi.setSystemTime(Date.now() + passkeyMs + 1);
    expect(codeOf(await submit(createPasskey({ origin }), late))).toEqual([409, "passkey_expired"]);
    // What was asked for to sign in is no registration.
    expect(codeOf(await submit(createPasskey({ origin }), await registration(), { challenge: (await asked()).challenge }))).toEqual([
      409,
      "passkey_expired",
    ]);
  });

  test("refuses a passkey that is there, be it one's own or another person's", async () => {
    const passkey = await added();
    expect(codeOf(await submit(passkey, await registration()))).toEqual([409, "passkey_exists"]);
    const stranger = await product.join();
    expect(codeOf(await submit(passkey, await registration(stranger), {}, stranger))).toEqual([409, "passkey_exists"]);
  });

  test("ends at the number an account may have, also when they come at once", async () => {
    // Each session has one registration at a time, so those that come at once are of several.
    const sessions = await Promise.all([1, 2, 3].map(async () => (await product.signIn(email)).json<Session>()));
    for (let left = limits.passkeysMax - 1; left > 0; left -= 1) await added();
    const begun = await Promise.all(sessions.map((by) => registration(by)));
    const answers = await Promise.all(begun.map((options, index) => submit(createPasskey({ origin }), options, {}, sessions[index])));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409]);
    expect(codeOf(await call("POST", "/api/account/passkeys/options", {}, session))).toEqual([409, "too_many_passkeys"]);
    expect(await listed()).toHaveLength(limits.passkeysMax);
  });
});

describe("signing in with a passkey", () => {
  test("needs no address, gives a session at once, and is noted", async () => {
    const passkey = await added();
    const options = await asked();
    expect(options).toEqual({ challenge: options.challenge, rpId: "tessera.test", timeout: passkeyMs, userVerification: "required" });
    const answer = await present(passkey.sign(options));
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const signedIn = answer.json<Session>();
    expect(signedIn.user).toMatchObject({ id: session.user.id, email });
    expect((await listed(signedIn))[0]?.lastUsedAt).not.toBeNull();
    expect((await activity(signedIn))[0]).toMatchObject({ action: "sign_in.completed", details: { factor: "passkey" } });
  });

  test("is two factors by itself: no code is asked for while the second factor is on", async () => {
    const passkey = await added();
    await turnOnTotp();
    expect((await product.signIn(email)).json()).toMatchObject({ status: "factor_needed" });
    const answer = await signIn(passkey);
    expect(answer.json()).toMatchObject({ token_type: "bearer" });
    expect((await activity())[0]?.details).toEqual({ factor: "passkey" });
  });

  test("makes the browser known to the password too, and goes on while strangers guess at it", async () => {
    const passkey = await added();
    const address = randomAddress();
    const guess = (remoteAddress: string, cookies = { cookie: "" }) =>
      product.post("/api/auth/sign-in", { email, password: "not the 1 password" }, { remoteAddress, headers: cookies });
    for (let tries = 0; tries < 25; tries += 1) await guess(tries % 2 ? address : randomAddress());
    expect(codeOf(await guess(address))).toEqual([429, "too_many_attempts"]);
    const answer = await present(passkey.sign(await asked(address)), address);
    expect(answer.statusCode).toBe(200);
    const known = await product.post("/api/auth/sign-in", { email, password }, { remoteAddress: address, headers: cookiesOf(answer) });
    expect(known.statusCode).toBe(200);
  });

  test.each<[string, Lies]>([
    ["another origin", { origin: "https://tessera.test.evil.example" }],
    ["another site", { rpId: "evil.example" }],
    ["an unverified person", { unverified: true }],
    ["a frame of another site", { crossOrigin: true }],
    ["a registration", { type: "webauthn.create" }],
    ["no owner", { userHandle: "AAAAAAAAAAAAAAAAAAAAAA" }],
  ])("refuses an answer of %s", async (_, lies) => {
    const passkey = await added();
    expect(codeOf(await signIn(passkey, lies))).toEqual([403, "passkey_refused"]);
    expect((await listed())[0]?.lastUsedAt).toBeNull();
  });

  test("refuses a signature of another key, and a passkey that is not there", async () => {
    const passkey = await added();
    const forger = createPasskey({ origin });
    const options = await asked();
    const forged = { ...forger.sign(options, ownHandle()), id: passkey.id, rawId: passkey.id };
    expect(codeOf(await present(forged))).toEqual([403, "passkey_refused"]);
    expect(codeOf(await signIn(forger))).toEqual([403, "passkey_refused"]);
  });

  test("takes each answer once, also when it comes twice at once, and within a few minutes", async () => {
    const passkey = await added();
    const assertion = passkey.sign(await asked());
    const answers = await Promise.all([present(assertion), present(assertion)]);
    expect(answers.map(codeOf).sort()).toEqual([
      [200, undefined],
      [409, "passkey_expired"],
    ]);
    // A refused answer used its challenge up as well.
    const options = await asked();
    expect(codeOf(await present(passkey.sign(options, { unverified: true })))).toEqual([403, "passkey_refused"]);
    expect(codeOf(await present(passkey.sign(options)))).toEqual([409, "passkey_expired"]);
    const late = await asked();
    vi.setSystemTime(Date.now() + passkeyMs + 1);
    expect(codeOf(await present(passkey.sign(late)))).toEqual([409, "passkey_expired"]);
    // A challenge that nobody gave.
    expect(codeOf(await signIn(passkey, { challenge: Buffer.alloc(32, 7).toString("base64url") }))).toEqual([409, "passkey_expired"]);
  });

  test("refuses and writes down a count that went back, once the signature is right", async () => {
    const passkey = await added(session, { counts: true });
    expect((await signIn(passkey, { counter: 7 })).statusCode).toBe(200);
    for (const counter of [7, 6, 0]) {
      expect(codeOf(await signIn(passkey, { counter }))).toEqual([403, "passkey_refused"]);
      expect((await activity())[0]).toMatchObject({ action: "passkey.refused", details: { reason: "counter_went_back" } });
    }
    const before = await activity();
    const forged = { ...createPasskey({ origin }).sign(await asked(), { ...ownHandle(), counter: 1 }), id: passkey.id, rawId: passkey.id };
    expect(codeOf(await present(forged))).toEqual([403, "passkey_refused"]);
    expect(await activity()).toEqual(before);
    expect((await signIn(passkey, { counter: 8 })).statusCode).toBe(200);
  });

  test("works again and again with a passkey that does not count", async () => {
    const passkey = await added();
    for (let use = 0; use < 3; use += 1) expect((await signIn(passkey)).statusCode).toBe(200);
  });

  test("takes a count once when two uses of it come at once", async () => {
    const passkey = await added(session, { counts: true });
    const assertions = [passkey.sign(await asked(), { counter: 5 }), passkey.sign(await asked(), { counter: 5 })];
    const answers = await Promise.all(assertions.map((assertion) => present(assertion)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 403]);
  });

  test("is over for a banned person", async () => {
    const passkey = await added();
    await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", session.user.id).execute();
    expect(codeOf(await signIn(passkey))).toEqual([403, "passkey_refused"]);
  });

  test("has limits of its own: refused answers of one network make only it wait", async () => {
    const passkey = await added();
    const address = randomAddress();
    const stranger = createPasskey({ origin });
    for (let tries = 0; tries < 50; tries += 1) await present(stranger.sign(await asked()), address);
    expect(codeOf(await present(stranger.sign(await asked()), address))).toEqual([429, "too_many_attempts"]);
    expect((await signIn(passkey)).statusCode).toBe(200);
    expect((await product.post("/api/auth/sign-in", { email, password }, { remoteAddress: address })).statusCode).toBe(200);
  });

  test("bounds how many challenges one network is given", async () => {
    const remoteAddress = randomAddress();
    await product.db
      .insertInto("auth_attempts")
      .values({ key: `passkey-challenge:${remoteAddress}`, failures: 599, window_started_at: new Date(), blocked_until: null })
      .execute();
    expect((await product.post("/api/auth/passkey/options", {}, { remoteAddress })).statusCode).toBe(200);
    expect(codeOf(await product.post("/api/auth/passkey/options", {}, { remoteAddress }))).toEqual([429, "too_many_attempts"]);
  });
});

describe("showing a passkey again", () => {
  const begin = async (by = session) => (await call("POST", "/api/account/step-up/passkey", {}, by)).json<SignInOptions>();
  const prove = (assertion: object, by = session) => call("POST", "/api/account/step-up", { passkey: assertion }, by);

  test("lets the sign-in do dangerous things again", async () => {
    const passkey = await added();
    await waitForStepUp();
    const options = await begin();
    expect(options.allowCredentials).toEqual([{ id: passkey.id, type: "public-key", transports: ["internal"] }]);
    expect((await prove(passkey.sign(options))).statusCode).toBe(204);
    expect((await activity())[0]).toMatchObject({ action: "step_up.completed", details: { factor: "passkey" } });
    await registration();
  });

  test("is no use with another person's passkey, another session's challenge or one of a sign-in", async () => {
    const passkey = await added();
    const stranger = await product.join();
    const theirs = await added(stranger);
    await waitForStepUp();
    expect(codeOf(await prove(theirs.sign(await begin())))).toEqual([403, "passkey_refused"]);
    expect(codeOf(await prove(passkey.sign(await begin(stranger))))).toEqual([409, "passkey_expired"]);
    expect(codeOf(await prove(passkey.sign(await asked())))).toEqual([409, "passkey_expired"]);
    expect(codeOf(await present(passkey.sign(await begin())))).toEqual([409, "passkey_expired"]);
    expect(codeOf(await call("POST", "/api/account/passkeys/options", {}, session))).toEqual([403, "step_up_required"]);
  });
});

describe("naming and removing", () => {
  test("a name is one line that can be seen, and not too long", async () => {
    const { row } = await added();
    const rename = (name: string) => call("PATCH", `/api/account/passkeys/${row.id}`, { name }, session);
    expect((await rename("  The\nkey  ")).json()).toMatchObject({ id: row.id, name: "The key" });
    for (const name of ["", " \u200b", "n".repeat(limits.passkeyNameMax + 1)])
      expect(codeOf(await rename(name))).toEqual([400, "validation_failed"]);
    expect((await rename("é".repeat(limits.passkeyNameMax))).statusCode).toBe(200);
  });

  test("a removed passkey signs in no more, and its owner is told", async () => {
    const passkey = await added();
    const other = await added();
    const options = await asked();
    expect((await call("DELETE", `/api/account/passkeys/${passkey.row.id}`, undefined, session)).statusCode).toBe(204);
    expect(codeOf(await present(passkey.sign(options)))).toEqual([403, "passkey_refused"]);
    expect((await listed()).map(({ id }) => id)).toEqual([other.row.id]);
    expect(await product.templatesTo(email)).toEqual(["confirm-email", "passkey-added", "passkey-added", "passkey-removed"]);
    expect((await activity())[0]).toMatchObject({ action: "passkey.removed", details: {} });
    expect(codeOf(await call("DELETE", `/api/account/passkeys/${passkey.row.id}`, undefined, session))).toEqual([404, "not_found"]);
  });

  test("the last way in stays, also when two are removed at once", async () => {
    const passkeys = [await added(), await added()];
    const remove = ({ row }: { row: Passkey }) => call("DELETE", `/api/account/passkeys/${row.id}`, undefined, session);
    // Pretend that Google made the account and the person unlinked it.
    await product.asOwner(`delete from credentials where user_id = '${session.user.id}'`);
    const answers = await Promise.all(passkeys.map(remove));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
    expect(answers.find(({ statusCode }) => statusCode === 409)?.json().code).toBe("last_way_in");
    expect(await listed()).toHaveLength(1);
    expect((await call("GET", "/api/account/ways-in", undefined, session)).json()).toEqual({ password: false, google: null, passkeys: 1 });
  });

  test("removing needs a factor shown lately", async () => {
    const { row } = await added();
    await waitForStepUp();
    expect(codeOf(await call("DELETE", `/api/account/passkeys/${row.id}`, undefined, session))).toEqual([403, "step_up_required"]);
  });
});

test.each(["https://192.0.2.7", "http://tessera.test"])("there are no passkeys at %s, and the refusal says so", async (PUBLIC_URL) => {
  const other = await createAuthApp({ PUBLIC_URL });
  try {
    expect(codeOf(await other.post("/api/auth/passkey/options", {}))).toEqual([422, "passkeys_unavailable"]);
  } finally {
    await other.close();
  }
});
