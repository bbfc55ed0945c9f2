import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

const signUp = (email: string, secret = password) => product.post("/api/auth/sign-up", { email, password: secret });

test("a person signs up, opens the mailed link once, and is signed in with a wallet", async () => {
  const answer = await product.post("/api/auth/sign-up", { email: "  Ada@Example.com ", password, language: "fr-CA" });
  expect([answer.statusCode, answer.json()]).toEqual([202, { status: "check_email" }]);
  expect((await product.signIn("ada@example.com")).json()).toMatchObject({ status: 403, code: "email_not_confirmed" });
  const [token = ""] = await product.mailedTokens("ada@example.com");
  const confirmed = await product.post("/api/auth/confirm", { token });
  expect(confirmed.statusCode).toBe(200);
  const session = confirmed.json();
  expect(Object.keys(session).sort()).toEqual(["access_token", "expires_at", "expires_in", "refresh_token", "token_type", "user"]);
  expect(session.user).toEqual({ id: expect.any(String), email: "ada@example.com", user_metadata: { avatar_url: null } });
  expect(Math.abs(session.expires_at - Date.now() / 1000 - 600)).toBeLessThan(5);
  expect(confirmed.headers["cache-control"]).toBe("no-store");
  const account = await product.get("/api/account", session.access_token);
  expect(account.json()).toMatchObject({ email: "ada@example.com", emailVerified: true });
  const rows = await product.db
    .selectFrom("users")
    .innerJoin("wallets", "wallets.user_id", "users.id")
    .select(["users.language", "users.mailbox_key"])
    .where("users.email", "=", "ada@example.com")
    .execute();
  expect(rows).toEqual([{ language: "fr", mailbox_key: "ada@example.com" }]);
  expect((await product.post("/api/auth/confirm", { token })).json()).toMatchObject({ status: 400, code: "link_invalid" });
  expect((await product.signIn("ADA@example.com")).statusCode).toBe(200);
});

test("known, unconfirmed and unknown addresses are answered with the same bytes; only the mail tells", async () => {
  await product.join("known@example.com");
  await signUp("unconfirmed@example.com");
  const answers = await Promise.all(["known@example.com", "unconfirmed@example.com", "unknown@example.com"].map((email) => signUp(email)));
  expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.headers["content-length"]} ${answer.body}`)).size).toBe(1);
  expect(await product.templatesTo("known@example.com")).toEqual(["confirm-email", "account-exists"]);
  expect(await product.templatesTo("unknown@example.com")).toEqual(["confirm-email"]);
  const resent = await Promise.all(
    ["known@example.com", "unconfirmed@example.com", "nobody@example.com"].map((email) =>
      product.post("/api/auth/resend-confirmation", { email }),
    ),
  );
  expect(new Set(resent.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
  expect(await product.templatesTo("nobody@example.com")).toEqual([]);
  expect(await product.templatesTo("known@example.com")).toHaveLength(2);
  const refused = await Promise.all(["known@example.com", "nobody@example.com"].map((email) => product.signIn(email, "not the pass 1")));
  expect(new Set(refused.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
});

test("signing up and signing in take as long for a known as for an unknown address", async () => {
  await product.join("timed@example.com");
  /** Both sides in turn, and the shortest time of each: what else the machine does only ever adds. */
  const ratio = async (known: () => Promise<unknown>, unknown: (round: number) => Promise<unknown>) => {
    const time = async (run: () => Promise<unknown>) => {
      await product.db.deleteFrom("auth_attempts").execute();
      const start = performance.now();
      await run();
      return performance.now() - start;
    };
    const [knownMs, unknownMs]: [number[], number[]] = [[], []];
    for (let round = 0; round < 15; round += 1) {
      knownMs.push(await time(known));
      unknownMs.push(await time(() => unknown(round)));
    }
    return Math.min(...knownMs) / Math.min(...unknownMs);
  };
  const signingIn = await ratio(
    () => product.signIn("timed@example.com", "wrong pass 1"),
    (round) => product.signIn(`nobody-${round}@example.com`, "wrong pass 1"),
  );
  const signingUp = await ratio(
    () => signUp("timed@example.com"),
    (round) => signUp(`timed-${round}@example.com`),
  );
  for (const each of [signingIn, signingUp]) {
    expect(each).toBeGreaterThan(0.7);
    expect(each).toBeLessThan(1.4);
  }
});

test("an address taken first by somebody else ends with the password of the person who opens their own link", async () => {
  await signUp("victim@example.com", "attackers pass 1");
  await signUp("victim@example.com", "victims own 2");
  await signUp("victim@example.com", "attackers again 3");
  const [, own = ""] = await product.mailedTokens("victim@example.com");
  expect((await product.post("/api/auth/confirm", { token: own })).statusCode).toBe(200);
  expect((await product.signIn("victim@example.com", "attackers pass 1")).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await product.signIn("victim@example.com", "attackers again 3")).json()).toMatchObject({ code: "invalid_credentials" });
  expect((await product.signIn("victim@example.com", "victims own 2")).statusCode).toBe(200);
  for (const token of await product.mailedTokens("victim@example.com"))
    expect((await product.post("/api/auth/confirm", { token })).json()).toMatchObject({ code: "link_invalid" });
});

test("a link mailed again carries the waiting password, and none where several people's passwords wait", async () => {
  await signUp("once@example.com");
  await signUp("once@example.com");
  await product.post("/api/auth/resend-confirmation", { email: "once@example.com" });
  expect(await product.mailedTokens("once@example.com")).toHaveLength(3);
  expect((await product.confirmLast("once@example.com")).statusCode).toBe(200);
  expect((await product.signIn("once@example.com")).statusCode).toBe(200);

  await signUp("several@example.com", "victims own 2");
  await signUp("several@example.com", "attackers pass 1");
  await product.post("/api/auth/resend-confirmation", { email: "several@example.com" });
  expect((await product.confirmLast("several@example.com")).statusCode).toBe(200);
  for (const secret of ["victims own 2", "attackers pass 1"])
    expect((await product.signIn("several@example.com", secret)).json()).toMatchObject({ code: "invalid_credentials" });
  await signUp("several@example.com", "chosen anew 3");
  expect((await product.confirmLast("several@example.com")).statusCode).toBe(200);
  expect((await product.signIn("several@example.com", "chosen anew 3")).statusCode).toBe(200);
});

test("a link ends after 24 hours, and one opened twice at once works once", async () => {
  await signUp("late@example.com");
  const past = new Date(Date.now() - 1_000);
  const { id } = await product.db.selectFrom("users").select("id").where("email", "=", "late@example.com").executeTakeFirstOrThrow();
  const [link] = await product.db.selectFrom("email_links").selectAll().where("user_id", "=", id).execute();
  expect(link && link.expires_at.getTime() - link.created_at.getTime()).toBe(86_400_000);
  await product.db.updateTable("email_links").set({ expires_at: past }).where("user_id", "=", id).execute();
  expect((await product.confirmLast("late@example.com")).json()).toMatchObject({ code: "link_invalid" });

  await signUp("twice@example.com");
  const [token = ""] = await product.mailedTokens("twice@example.com");
  const answers = await Promise.all(Array.from({ length: 5 }, () => product.post("/api/auth/confirm", { token })));
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 400, 400, 400, 400]);
});

test("one mailbox gets at most five mails an hour, whoever asks, and the answer stays the same", async () => {
  const answers = [];
  for (let round = 0; round < 8; round += 1) answers.push(await signUp("flooded@example.com"));
  for (let round = 0; round < 3; round += 1)
    answers.push(await product.post("/api/auth/resend-confirmation", { email: "flooded@example.com" }));
  expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
  expect(await product.templatesTo("flooded@example.com")).toHaveLength(5);
});

test("an address named in ADMIN_EMAILS becomes admin once its owner has proved it, and never before", async () => {
  const isAdmin = async (accessToken?: string) => {
    const headers = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
    return (await product.post("/api/functions/verify-admin", {}, { headers })).json();
  };
  await signUp("Owner@Example.com");
  const role = () => product.db.selectFrom("users").select("role").where("email", "=", "owner@example.com").executeTakeFirstOrThrow();
  expect(await role()).toEqual({ role: "user" });
  const session = (await product.confirmLast("owner@example.com")).json();
  expect(await isAdmin(session.access_token)).toEqual({ isAdmin: true });
  expect(await isAdmin()).toEqual({ isAdmin: false });
  expect(await isAdmin("forged")).toEqual({ isAdmin: false });
  expect(await isAdmin((await product.join()).access_token)).toEqual({ isAdmin: false });
  await product.db.updateTable("users").set({ role: "user" }).where("email", "=", "owner@example.com").execute();
  expect(await isAdmin(session.access_token)).toEqual({ isAdmin: false });
});

test("nothing that rests in the database opens anything: no password, link or token is stored as it is", async () => {
  const session = await product.join("rests@example.com");
  const tokens = [...(await product.mailedTokens("rests@example.com")), session.access_token, session.refresh_token, password];
  const tables = ["users", "auth_sessions", "email_links", "mails", "outbox"] as const;
  for (const table of tables) {
    const rows = JSON.stringify(await product.db.selectFrom(table).selectAll().execute());
    for (const token of tokens) expect(rows).not.toContain(token.split(".").at(-1));
  }
});
