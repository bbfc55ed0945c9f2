import { hash } from "@node-rs/argon2";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

const signUp = (email: string, secret = password) =>
  product.post("/api/auth/sign-up", { email, password: secret }, { remoteAddress: randomAddress() });
const open = (token: string, body: { password?: string } = {}, headers = {}) =>
  product.post("/api/auth/confirm", { token, ...body }, { headers, remoteAddress: randomAddress() });
const signInAt = (email: string, secret: string, headers = {}) =>
  product.post("/api/auth/sign-in", { email, password: secret }, { headers, remoteAddress: randomAddress() });
const look = (token: string, headers = {}) => product.post("/api/auth/link", { token }, { headers });

test("a person signs up, opens the mailed link once, and is signed in with a wallet", async () => {
  const answer = await product.post("/api/auth/sign-up", { email: "  Ada@Example.com ", password, language: "fr-CA" });
  expect([answer.statusCode, answer.json()]).toEqual([202, { status: "check_email" }]);
  expect((await signInAt("ada@example.com", password, cookiesOf(answer))).json()).toMatchObject({
    status: 403,
    code: "email_not_confirmed",
  });
  const [token = ""] = await product.mailedTokens("ada@example.com");
  const openedAt = Date.now();
  const confirmed = await open(token, {}, cookiesOf(answer));
  const answeredAt = Date.now();
  expect(confirmed.statusCode).toBe(200);
  const session = confirmed.json();
  expect(Object.keys(session).sort()).toEqual(["access_token", "expires_at", "expires_in", "refresh_token", "token_type", "user"]);
  expect(session.user).toEqual({ id: expect.any(String), email: "ada@example.com", user_metadata: { avatar_url: null } });
  const begunAt = session.expires_at - 600;
  expect(begunAt).toBeGreaterThanOrEqual(Math.floor(openedAt / 1000));
  expect(begunAt).toBeLessThanOrEqual(Math.ceil(answeredAt / 1000));
  expect(confirmed.headers["cache-control"]).toBe("no-store");
  const account = await product.get("/api/account", session.access_token);
  expect(account.json()).toMatchObject({ email: "ada@example.com", emailVerifiedAt: account.json().createdAt });
  const rows = await product.db
    .selectFrom("users")
    .innerJoin("billing_account_members", "billing_account_members.user_id", "users.id")
    .innerJoin("wallets", "wallets.billing_account_id", "billing_account_members.billing_account_id")
    .select("language")
    .where("users.id", "=", session.user.id)
    .execute();
  expect(rows).toEqual([{ language: "fr" }]);
  expect((await open(token, {}, cookiesOf(answer))).json()).toMatchObject({ status: 400, code: "link_invalid" });
  expect((await look(token)).json()).toEqual({ email: "ada@example.com", state: "used" });
  expect((await product.signIn("ADA@example.com")).statusCode).toBe(200);
});

test("sign-up answers known, unconfirmed and unknown addresses with the same bytes; only the mails differ", async () => {
  await product.join("known@example.com");
  await signUp("unconfirmed@example.com");
  const answers = await Promise.all(["known@example.com", "unconfirmed@example.com", "unknown@example.com"].map((email) => signUp(email)));
  /** The whole answer without the random part of the cookie. */
  const shape = (answer: (typeof answers)[number]) =>
    `${answer.statusCode} ${answer.headers["content-length"]} ${answer.body} ${String(answer.headers["set-cookie"]).replace(/=[\w.-]{66};/, "=…;")}`;
  expect(new Set(answers.map(shape)).size).toBe(1);
  expect(shape(answers[0] as (typeof answers)[number])).toContain("sign-up=…; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict");
  expect(await product.templatesTo("known@example.com")).toEqual(["confirm-email", "account-exists"]);
  expect(await product.templatesTo("unknown@example.com")).toEqual(["confirm-email"]);
  const resent = await Promise.all(
    ["known@example.com", "unconfirmed@example.com", "nobody@example.com"].map((email) =>
      product.post("/api/auth/resend-confirmation", { email }),
    ),
  );
  expect(new Set(resent.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
  expect(await product.templatesTo("nobody@example.com")).toEqual([]);
  expect(await product.templatesTo("known@example.com")).toEqual(["confirm-email", "account-exists", "account-exists"]);
  const refused = await Promise.all(["known@example.com", "nobody@example.com"].map((email) => product.signIn(email, "not the pass 1")));
  expect(new Set(refused.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
});

test("signing up and then signing in does not reveal whether an address is taken, in this browser or another", async () => {
  await product.join("taken@example.com");
  const shapes: string[][] = [];
  for (const email of ["taken@example.com", "free@example.com"]) {
    const begun = await signUp(email, "strangers pass 1");
    const here = cookiesOf(begun);
    const answers = [
      await signInAt(email, "strangers pass 1", here),
      await signInAt(email, "another pass 2", here),
      await signInAt(email, "strangers pass 1"),
    ];
    shapes.push(answers.map((answer) => `${answer.statusCode} ${answer.body} ${answer.headers["set-cookie"]}`));
    expect(answers.map((answer) => answer.json().code)).toEqual(["email_not_confirmed", "invalid_credentials", "email_not_confirmed"]);
  }
  expect(shapes[0]).toEqual(shapes[1]);
  expect((await product.signIn("taken@example.com")).statusCode).toBe(200);
  // This holds also after the owner has confirmed the address, and the own password does not reset the count of wrong guesses.
  const here = cookiesOf(await signUp("claimed@example.com", "strangers pass 1"));
  await signUp("claimed@example.com", "owners own 2");
  await product.confirmLast("claimed@example.com", "owners own 2");
  const remoteAddress = randomAddress();
  const tryHere = (secret: string) =>
    product.post("/api/auth/sign-in", { email: "claimed@example.com", password: secret }, { headers: here, remoteAddress });
  for (const guessed of ["guess 1 of it", "guess 2 of it", "guess 3 of it", "guess 4 of it"]) {
    expect((await tryHere(guessed)).json()).toMatchObject({ code: "invalid_credentials" });
    expect((await tryHere("strangers pass 1")).json()).toMatchObject({ code: "email_not_confirmed" });
  }
  expect((await tryHere("guess 5 of it")).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await tryHere("guess 6 of it")).json()).toMatchObject({ code: "too_many_attempts" });
});

test("a stranger's sign-up for a taken address mails no link, has none and does not keep the address", async () => {
  const email = "kept@example.com";
  await product.join(email);
  const before = await product.db.selectFrom("email_links").select("id").execute();
  await signUp(email, "strangers pass 1");
  expect(await product.mailedTokens(email)).toHaveLength(1);
  expect(await product.db.selectFrom("email_links").select("id").execute()).toEqual(before);
  expect(await product.db.selectFrom("sign_ups").select("id").where("email", "=", email).execute()).toEqual([]);
});

test("before an address is confirmed there is no person, identity, password, billing account or wallet", async () => {
  const tables = ["users", "identities", "credentials", "billing_accounts", "wallets"] as const;
  const counts = () => Promise.all(tables.map(async (table) => (await product.db.selectFrom(table).select("id").execute()).length));
  const before = await counts();
  const begun = await signUp("pending@example.com");
  await product.post("/api/auth/resend-confirmation", { email: "pending@example.com" });
  await signInAt("pending@example.com", password);
  expect(await counts()).toEqual(before);
  const [token = ""] = await product.mailedTokens("pending@example.com");
  const session = (await open(token, {}, cookiesOf(begun))).json();
  expect(await counts()).toEqual(before.map((count) => count + 1));
  const identity = product.db.selectFrom("identities").select(["kind", "subject"]).where("user_id", "=", session.user.id);
  expect(await identity.execute()).toEqual([{ kind: "email", subject: "pending@example.com" }]);
  const credential = product.db.selectFrom("credentials").select(["kind", "last_used_at"]).where("user_id", "=", session.user.id);
  expect(await credential.execute()).toEqual([{ kind: "password", last_used_at: null }]);
  await product.signIn("pending@example.com");
  expect(await credential.execute()).toEqual([{ kind: "password", last_used_at: expect.any(Date) }]);
});

test("who signs in on another device with the password of a sign-up is told to confirm, for 30 days, and gets a new link", async () => {
  await signUp("elsewhere@example.com");
  const [first = ""] = await product.mailedTokens("elsewhere@example.com");
  const age = (days: number) =>
    product.db
      .updateTable("sign_ups")
      .set({ created_at: new Date(Date.now() - days * 86_400_000) })
      .where("email", "=", "elsewhere@example.com")
      .execute();
  await age(29);
  await product.db.updateTable("email_links").set({ expires_at: new Date() }).execute();
  expect((await signInAt("elsewhere@example.com", password)).json()).toMatchObject({ status: 403, code: "email_not_confirmed" });
  expect((await signInAt("elsewhere@example.com", "wrong pass 1")).json()).toMatchObject({ status: 401, code: "invalid_credentials" });
  expect((await signInAt("other@elsewhere.example", password)).json()).toMatchObject({ status: 401, code: "invalid_credentials" });
  expect((await open(first, { password })).json()).toMatchObject({ code: "link_invalid" });
  await product.post("/api/auth/resend-confirmation", { email: "elsewhere@example.com" });
  await age(31);
  expect((await signInAt("elsewhere@example.com", password)).json()).toMatchObject({ code: "invalid_credentials" });
  await age(29);
  expect((await product.confirmLast("elsewhere@example.com")).statusCode).toBe(200);
  expect((await signInAt("elsewhere@example.com", password)).statusCode).toBe(200);
});

test("the browser that signed up does not learn whether the address's owner disowned the sign-up or confirmed another", async () => {
  const shapes: string[] = [];
  for (const owner of ["stays away", "disowns", "confirms"]) {
    const email = `${owner.replace(" ", "-")}@owners.example`;
    const begun = await signUp(email, "strangers pass 1");
    const [token = ""] = await product.mailedTokens(email);
    if (owner === "disowns") expect((await product.post("/api/auth/disown", { token })).statusCode).toBe(204);
    if (owner === "confirms") {
      await signUp(email, "owners own 2");
      expect((await product.confirmLast(email, "owners own 2")).statusCode).toBe(200);
    }
    const answers = [
      await signInAt(email, "strangers pass 1", cookiesOf(begun)),
      await signInAt(email, "strangers pass 1"),
      await signInAt(email, "another pass 3", cookiesOf(begun)),
      await product.post("/api/auth/resend-confirmation", { email }, { headers: cookiesOf(begun) }),
    ];
    shapes.push(answers.map((answer) => `${answer.statusCode} ${answer.body} ${answer.headers["set-cookie"]}`).join("\n"));
    expect(answers.slice(0, 3).map((answer) => answer.json().code)).toEqual([
      "email_not_confirmed",
      "email_not_confirmed",
      "invalid_credentials",
    ]);
    // If a sign-up can't be confirmed any more, its address is gone.
    const left = await product.db.selectFrom("sign_ups").select("id").where("email", "=", email).execute();
    expect(left).toHaveLength(owner === "stays away" ? 1 : 0);
  }
  expect(new Set(shapes).size).toBe(1);
});

test("a password that was a sign-up's is simply wrong once the person has another one", async () => {
  const session = await product.join("changed@example.com");
  await product.db
    .updateTable("credentials")
    .set({ data: JSON.stringify({ hash: await hash("another pass 4") }) })
    .where("user_id", "=", session.user.id)
    .execute();
  expect((await product.signIn("changed@example.com")).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await product.signIn("changed@example.com", "another pass 4")).statusCode).toBe(200);
});

test("signing up and signing in cost the same work for known, waiting and unknown addresses", async () => {
  await product.join("timed@example.com");
  for (const secret of ["waits 1 there", "waits 2 there"]) await signUp("waiting@example.com", secret);
  /** CPU time: nearly all of it is argon2's, and a busy machine doesn't stretch it as it does the time on the clock. */
  const cost = async (run: () => Promise<unknown>) => {
    await product.db.deleteFrom("auth_attempts").execute();
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  /** Runs both in turn and compares the least of each, because whatever else happens only ever adds to it. */
  const ratio = async (known: () => Promise<unknown>, unknown: (round: number) => Promise<unknown>) => {
    const [ofKnown, ofUnknown]: [number[], number[]] = [[], []];
    for (let round = 0; round < 8; round += 1) {
      ofKnown.push(await cost(known));
      ofUnknown.push(await cost(() => unknown(round)));
    }
    return Math.min(...ofKnown) / Math.min(...ofUnknown);
  };
  const guessAt = (email: string) => () => signInAt(email, "wrong pass 1");
  const guessNobody = (round: number) => signInAt(`nobody-${round}@example.com`, "wrong pass 1");
  const ratios = {
    signInKnown: await ratio(guessAt("timed@example.com"), guessNobody),
    signInWaiting: await ratio(guessAt("waiting@example.com"), guessNobody),
    signUpKnown: await ratio(
      () => signUp("timed@example.com"),
      (round) => signUp(`timed-${round}@example.com`),
    ),
  };
  for (const [name, each] of Object.entries(ratios)) {
    expect(each, name).toBeGreaterThan(0.7);
    expect(each, name).toBeLessThan(1.4);
  }
});

test("an account never gets a stranger's password: the owner's click on the stranger's link confirms nothing", async () => {
  const strangers = cookiesOf(await signUp("victim@example.com", "attackers pass 1"));
  const owners = await signUp("victim@example.com", "victims own 2");
  const [theirs = "", own = ""] = await product.mailedTokens("victim@example.com");
  for (const headers of [{}, cookiesOf(owners)]) {
    expect((await look(theirs, headers)).json()).toEqual({ email: "victim@example.com", state: "password" });
    expect((await open(theirs, {}, headers)).json()).toMatchObject({ status: 403, code: "confirmation_password_needed" });
    expect((await open(theirs, { password: "victims own 2" }, headers)).json()).toMatchObject({ status: 401, code: "invalid_credentials" });
  }
  const claimed = product.db.selectFrom("identities").select("id").where("subject", "=", "victim@example.com");
  expect(await claimed.execute()).toEqual([]);
  expect((await product.signIn("victim@example.com", "attackers pass 1")).json()).not.toHaveProperty("access_token");

  // "This wasn't me" ends only that sign-up; then its link fails even with its own browser and password.
  expect((await product.post("/api/auth/disown", { token: theirs })).statusCode).toBe(204);
  expect((await open(theirs, { password: "attackers pass 1" }, strangers)).json()).toMatchObject({ code: "link_invalid" });
  expect((await look(theirs, strangers)).json()).toMatchObject({ code: "link_invalid" });
  expect((await open(own, {}, cookiesOf(owners))).statusCode).toBe(200);
  expect((await product.signIn("victim@example.com", "attackers pass 1")).json()).not.toHaveProperty("access_token");
  expect((await product.signIn("victim@example.com", "victims own 2")).statusCode).toBe(200);
});

test("each of several sign-ups for one address has its own link and password, and confirming one ends the others", async () => {
  await signUp("several@example.com", "attackers pass 1");
  await signUp("several@example.com", "owners own 2");
  await signUp("several@example.com", "attackers again 3");
  const [first = "", own = "", last = ""] = await product.mailedTokens("several@example.com");
  for (const token of [first, last])
    expect((await open(token, { password: "owners own 2" })).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await open(own, { password: "owners own 2" })).statusCode).toBe(200);
  for (const secret of ["attackers pass 1", "attackers again 3"])
    expect((await product.signIn("several@example.com", secret)).json()).not.toHaveProperty("access_token");
  expect((await product.signIn("several@example.com", "owners own 2")).statusCode).toBe(200);
  for (const [token, secret] of [
    [first, "attackers pass 1"],
    [last, "attackers again 3"],
  ] as const)
    expect((await open(token, { password: secret })).json()).toMatchObject({ code: "link_invalid" });
});

test("a resent link belongs to this browser's own sign-up, else to the latest one", async () => {
  const resend = async (headers = {}) => {
    await product.post("/api/auth/resend-confirmation", { email: "again@example.com" }, { headers });
    return (await product.mailedTokens("again@example.com")).at(-1) ?? "";
  };
  const owners = cookiesOf(await signUp("again@example.com", "owners own 2"));
  await signUp("again@example.com", "attackers pass 1");
  const strange = await resend();
  expect((await open(strange, { password: "owners own 2" })).json()).toMatchObject({ code: "invalid_credentials" });
  const own = await resend(owners);
  expect((await look(own, owners)).json()).toMatchObject({ state: "here" });
  expect((await signInAt("again@example.com", "owners own 2", owners)).json()).toMatchObject({ code: "email_not_confirmed" });
  expect((await open(own, {}, owners)).statusCode).toBe(200);
  expect((await product.signIn("again@example.com", "owners own 2")).statusCode).toBe(200);
});

test("the cookie that remembers a browser's sign-ups can't be forged or used for another sign-up", async () => {
  const [mine, other] = [cookiesOf(await signUp("mine@example.com")), cookiesOf(await signUp("other@example.com"))];
  const [token = ""] = await product.mailedTokens("mine@example.com");
  const [head = "", signature = ""] = mine.cookie.split(".");
  const [otherHead = "", otherSignature = ""] = other.cookie.split(".");
  for (const cookie of [other.cookie, `${head}.${otherSignature}`, `${otherHead}.${signature}`, head, `${head}.`, "sign-up=~~~", "sign-up"])
    expect((await open(token, {}, { cookie })).json(), cookie).toMatchObject({ code: "confirmation_password_needed" });
  // Other cookies, and other sign-ups in the same cookie, don't matter.
  const both = `theme=dark; ${other.cookie}~${mine.cookie.split("=")[1]}; language=de`;
  expect((await open(token, {}, { cookie: both })).statusCode).toBe(200);
});

test("a link expires after 24 hours, and opened five times at once it works once", async () => {
  await signUp("late@example.com");
  const past = new Date(Date.now() - 1_000);
  const { id } = await product.db.selectFrom("sign_ups").select("id").where("email", "=", "late@example.com").executeTakeFirstOrThrow();
  const [link] = await product.db.selectFrom("email_links").selectAll().where("sign_up_id", "=", id).execute();
  expect(link && link.expires_at.getTime() - link.created_at.getTime()).toBe(86_400_000);
  await product.db.updateTable("email_links").set({ expires_at: past }).where("sign_up_id", "=", id).execute();
  expect((await product.confirmLast("late@example.com")).json()).toMatchObject({ code: "link_invalid" });

  await signUp("twice@example.com");
  const [token = ""] = await product.mailedTokens("twice@example.com");
  const answers = await Promise.all(Array.from({ length: 5 }, () => open(token, { password })));
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 400, 400, 400, 400]);
});

test("one mailbox gets at most five mails an hour by request of one network and fifteen in all; the response stays the same", async () => {
  const answers: string[] = [];
  const ask = async (remoteAddress: string, path = "sign-up", body: object = { password }) => {
    const answer = await product.post(`/api/auth/${path}`, { email: "flooded@example.com", ...body }, { remoteAddress });
    answers.push(`${answer.statusCode} ${answer.body}`);
    return (await product.templatesTo("flooded@example.com")).length;
  };
  for (let round = 0; round < 7; round += 1) await ask("10.9.0.1");
  expect(await ask("10.9.0.1", "resend-confirmation", {})).toBe(5);
  // The owner, in another network.
  expect(await ask("10.9.0.2")).toBe(6);
  // All networks in an IPv6 /48 count as one here.
  for (let round = 0; round < 7; round += 1) await ask(`2001:db8:9:${round}::1`);
  expect(await ask("2001:db8:9:ffff::1")).toBe(11);
  for (let round = 0; round < 12; round += 1) await ask(randomAddress());
  expect(await ask(randomAddress(), "resend-confirmation", {})).toBe(15);
  expect(new Set(answers).size).toBe(1);
});

test("an address named in ADMIN_EMAILS becomes admin when its owner has confirmed it, and never before", async () => {
  const isAdmin = async (accessToken?: string) => {
    const headers = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
    return (await product.post("/api/functions/verify-admin", {}, { headers })).json();
  };
  await signUp("Owner@Example.com");
  const admins = () => product.db.selectFrom("users").select("id").where("role", "=", "admin").execute();
  expect(await admins()).toEqual([]);
  const session = (await product.confirmLast("owner@example.com")).json();
  expect(await isAdmin(session.access_token)).toEqual({ isAdmin: true, team: "admin" });
  expect(await isAdmin()).toEqual({ isAdmin: false, team: null });
  expect(await isAdmin("forged")).toEqual({ isAdmin: false, team: null });
  expect(await isAdmin((await product.join()).access_token)).toEqual({ isAdmin: false, team: null });
  expect(await admins()).toEqual([{ id: session.user.id }]);
  await product.db.updateTable("users").set({ role: "user" }).where("id", "=", session.user.id).execute();
  expect(await isAdmin(session.access_token)).toEqual({ isAdmin: false, team: null });
});

test("the database holds no password, link or token in plain text", async () => {
  const session = await product.join("rests@example.com");
  const tokens = [...(await product.mailedTokens("rests@example.com")), session.access_token, session.refresh_token, password];
  const tables = ["users", "identities", "credentials", "sign_ups", "auth_sessions", "email_links", "mails", "outbox"] as const;
  for (const table of tables) {
    const rows = JSON.stringify(await product.db.selectFrom(table).selectAll().execute());
    for (const token of tokens) expect(rows).not.toContain(token.split(".").at(-1));
  }
});
