/** Another address for an account: who can take over what, and who can't. */
import { randomUUID } from "node:crypto";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Account } from "#contract/account/account.ts";
import type { Session } from "#contract/auth/sign-in.ts";
import { dayMs, hourMs } from "#domain/clock.ts";
import { stepUpMs } from "#domain/periods.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());
beforeEach(() => product.asOwner("delete from auth_attempts"));

const address = (name: string) => `${name}-${randomUUID().slice(0, 8)}@example.com`;
const as = ({ access_token }: Session, more: object = {}) => ({
  headers: { authorization: `Bearer ${access_token}`, ...more },
  remoteAddress: randomAddress(),
});
const ask = (session: Session, email: string, options: Partial<InjectOptions> = as(session)) =>
  product.post("/api/account/email", { email }, options);
const elsewhere = () => ({ remoteAddress: randomAddress() });
const look = (token: string, options: Partial<InjectOptions> = elsewhere()) =>
  product.post("/api/auth/email-change-link", { token }, options);
const confirm = (token: string, secret?: string, options: Partial<InjectOptions> = elsewhere()) =>
  product.post("/api/auth/confirm-email-change", { token, ...(secret === undefined ? {} : { password: secret }) }, options);
const undo = (token: string) => product.post("/api/auth/undo-email-change", { token }, elsewhere());
const readAccount = async (session: Session) => (await product.get("/api/account", session.access_token)).json<Account>();
const emailOf = async (session: Session) => (await readAccount(session)).email;
const codeOf = (answer: LightMyRequestResponse) => answer.json<{ code?: string }>().code;

/** The tokens of the links that mails of these templates brought to an address, oldest first. */
async function tokensTo(email: string, ...templates: string[]): Promise<string[]> {
  const mails = await product.db
    .selectFrom("mails")
    .select("parameters")
    .where("recipient", "=", email)
    .where("template", "in", templates)
    .orderBy("id")
    .execute();
  return mails.map((mail) => linkToken(product.config, String(mail.parameters.linkId)));
}
const newest = async (email: string, ...templates: string[]) => (await tokensTo(email, ...templates)).at(-1) ?? "";
const confirmTokenTo = (email: string) => newest(email, "email-change-confirm");
const undoTokenTo = (email: string) => newest(email, "email-change-notice", "email-changed");

/** Asks for the address and opens its link in the same browser. */
async function move(session: Session, email: string): Promise<LightMyRequestResponse> {
  const asked = await ask(session, email);
  return confirm(await confirmTokenTo(email), undefined, { headers: cookiesOf(asked), remoteAddress: randomAddress() });
}

/** Moves the wall clock of links: as if they had been made this long ago. */
async function ageLinks(milliseconds: number): Promise<void> {
  await product.asOwner(
    `update email_links set created_at = created_at - interval '${milliseconds} ms', expires_at = expires_at - interval '${milliseconds} ms'`,
  );
}

async function actsOf(userId: string): Promise<string[]> {
  const rows = await product.db
    .selectFrom("audit_events")
    .innerJoin("audit_people", "audit_people.id", "audit_events.subject")
    .select("action")
    .where("user_id", "=", userId)
    .orderBy("audit_events.id")
    .execute();
  return rows.map(({ action }) => action);
}

describe("a change of address", () => {
  test("counts once its link is opened in the browser that asked; sessions stay, the old address is told twice, the log has it", async () => {
    const old = address("old");
    const next = address("new");
    const session = await product.join(old);
    await product.db.updateTable("users").set({ language: "ja" }).where("id", "=", session.user.id).execute();
    const asked = await ask(session, ` ${next.toUpperCase()} `);
    expect([asked.statusCode, asked.json()]).toEqual([202, { status: "check_email" }]);
    const waiting = await readAccount(session);
    expect([waiting.email, waiting.newEmail?.email]).toEqual([old, next]);
    expect((await product.signIn(old)).statusCode).toBe(200);
    expect(codeOf(await product.signIn(next))).toBe("invalid_credentials");

    const token = await confirmTokenTo(next);
    const here = { headers: cookiesOf(asked), remoteAddress: randomAddress() };
    expect((await look(token, here)).json()).toEqual({ email: next, state: "here" });
    expect((await confirm(token, undefined, here)).json()).toEqual({ email: next });

    expect(await readAccount(session)).toMatchObject({ email: next, newEmail: null });
    const refreshed = await product.post("/api/auth/refresh", { refresh_token: session.refresh_token });
    expect(refreshed.json<Session>().user.email).toBe(next);
    expect(codeOf(await product.signIn(old))).toBe("invalid_credentials");
    expect((await product.signIn(next)).statusCode).toBe(200);
    const mails = await product.db
      .selectFrom("mails")
      .select(["recipient", "template", "language"])
      .where("user_id", "=", session.user.id)
      .where("template", "like", "email-%")
      .orderBy("id")
      .execute();
    expect(mails).toEqual([
      { recipient: next, template: "email-change-confirm", language: "ja" },
      { recipient: old, template: "email-change-notice", language: "ja" },
      { recipient: old, template: "email-changed", language: "ja" },
    ]);
    expect(await actsOf(session.user.id)).toEqual(expect.arrayContaining(["email_change.asked", "email.changed"]));
  });

  test("elsewhere needs the account's password, which is guessed five times at most, and signs nobody in", async () => {
    const next = address("elsewhere");
    const session = await product.join();
    await ask(session, next);
    const token = await confirmTokenTo(next);
    expect((await look(token)).json()).toEqual({ email: next, state: "password" });
    expect(codeOf(await confirm(token))).toBe("confirmation_password_needed");
    for (let guess = 0; guess < 5; guess += 1) expect(codeOf(await confirm(token, `wrong pass ${guess}`))).toBe("invalid_credentials");
    expect(codeOf(await confirm(token, password))).toBe("too_many_attempts");
    expect(await emailOf(session)).not.toBe(next);
    await product.asOwner("delete from auth_attempts");
    const done = await confirm(token, password);
    expect([done.statusCode, done.json()]).toEqual([200, { email: next }]);
  });

  test("can't be confirmed by the cookie of another browser's request, or of another person's", async () => {
    const next = address("mine");
    const [session, stranger] = [await product.join(), await product.join()];
    await ask(session, next);
    const others = cookiesOf(await ask(stranger, address("theirs")));
    const token = await confirmTokenTo(next);
    expect((await look(token, { headers: others, remoteAddress: randomAddress() })).json().state).toBe("password");
    expect(codeOf(await confirm(token, undefined, { headers: others, remoteAddress: randomAddress() }))).toBe(
      "confirmation_password_needed",
    );
  });

  test("of somebody without a password is confirmed only in the browser that asked", async () => {
    const next = address("no-password");
    const session = await product.join();
    const asked = await ask(session, next);
    await product.asOwner(`delete from credentials where user_id = '${session.user.id}'`);
    const token = await confirmTokenTo(next);
    expect((await look(token)).json().state).toBe("elsewhere");
    expect(codeOf(await confirm(token, password))).toBe("invalid_credentials");
    expect((await confirm(token, undefined, { headers: cookiesOf(asked), remoteAddress: randomAddress() })).statusCode).toBe(200);
  });

  test("needs a recently shown factor, and refuses what is no address and one's own", async () => {
    const session = await product.join();
    expect((await ask(session, "nobody")).json().fields).toEqual([{ field: "email", message: "Invalid email address" }]);
    expect((await ask(session, session.user.email)).json().code).toBe("validation_failed");
    await product.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
      .where("user_id", "=", session.user.id)
      .execute();
    expect(codeOf(await ask(session, address("later")))).toBe("step_up_required");
  });

  test("works once even when its link is opened five times at once, within the hour, and only the newest link does", async () => {
    const next = address("once");
    const session = await product.join();
    const here = { headers: cookiesOf(await ask(session, address("mistyped")), await ask(session, next)), remoteAddress: randomAddress() };
    const first = await confirmTokenTo(next);
    await product.post("/api/account/email/resend", {}, as(session));
    const second = await confirmTokenTo(next);
    expect(codeOf(await confirm(first, password))).toBe("link_invalid");
    await ageLinks(hourMs);
    expect(codeOf(await confirm(second, password))).toBe("link_invalid");
    expect((await readAccount(session)).newEmail).toBeNull();
    await ask(session, next, as(session, here.headers));
    const third = await confirmTokenTo(next);
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(third, password)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400, 400, 400, 400]);
  });

  test("that was cancelled, replaced or followed by a new password is not made", async () => {
    const [mistyped, next] = [address("mistyped"), address("right")];
    const session = await product.join();
    await ask(session, mistyped);
    await ask(session, next);
    expect(codeOf(await confirm(await confirmTokenTo(mistyped), password))).toBe("link_invalid");
    const cancelled = await product.app.inject({ method: "DELETE", url: "/api/account/email", ...as(session) });
    expect([cancelled.statusCode, (await readAccount(session)).newEmail]).toEqual([204, null]);
    expect(codeOf(await confirm(await confirmTokenTo(next), password))).toBe("link_invalid");
    expect(codeOf(await product.post("/api/account/email/resend", {}, as(session)))).toBe("not_found");
    await ask(session, next);
    const chosen = { currentPassword: password, password: "another 1 secret" };
    expect((await product.post("/api/account/password", chosen, as(session))).statusCode).toBe(204);
    expect(codeOf(await confirm(await confirmTokenTo(next), chosen.password))).toBe("link_invalid");
  });

  test("ends the links that the old address was mailed: for a new password, and of waiting sign-ups; and they tell nothing", async () => {
    const old = address("old-links");
    const session = await product.join(old);
    const confirmation = (await product.mailedTokens(old)).at(-1) ?? "";
    expect((await product.post("/api/auth/link", { token: confirmation })).json()).toEqual({ email: old, state: "used" });
    await product.post("/api/auth/recover", { email: old }, elsewhere());
    const recovery = await newest(old, "password-reset");
    const next = address("moved");
    await move(session, next);
    expect(codeOf(await product.post("/api/auth/recovery-link", { token: recovery }))).toBe("link_invalid");
    const reset = { token: recovery, password: "taken over 1" };
    expect(codeOf(await product.post("/api/auth/reset-password", reset))).toBe("link_invalid");
    expect(codeOf(await product.post("/api/auth/link", { token: confirmation }))).toBe("link_invalid");
    expect(await emailOf(session)).toBe(next);
  });

  test("brings Stripe's customer the new address by a job that is written with it", async () => {
    const session = await product.join();
    await move(session, address("customer"));
    const jobs = await product.db.selectFrom("outbox").select(["job", "payload"]).where("job", "=", "update-customer").execute();
    expect(jobs.map(({ payload }) => payload)).toContainEqual({ userId: session.user.id });
  });
});

describe("an address that is somebody else's", () => {
  test("is answered like a free one and shown as waiting; its owner alone reads that it has an account", async () => {
    const taken = address("taken");
    const owner = await product.join(taken);
    await product.db.updateTable("users").set({ language: "pl" }).where("id", "=", owner.user.id).execute();
    const [one, other] = [await product.join(), await product.join()];
    const shown = (answer: LightMyRequestResponse) => {
      const { date, "x-ratelimit-reset": reset, ...headers } = answer.headers;
      return { status: answer.statusCode, body: answer.body, headers: { ...headers, "set-cookie": String(headers["set-cookie"]).length } };
    };
    const free = address("fr-ee");
    const [ofTaken, ofFree] = [await ask(one, taken), await ask(other, free)];
    expect(shown(ofTaken)).toEqual(shown(ofFree));
    expect([(await readAccount(one)).newEmail?.email, (await readAccount(other)).newEmail?.email]).toEqual([taken, free]);
    const mails = await product.db
      .selectFrom("mails")
      .select(["template", "language", "user_id"])
      .where("recipient", "=", taken)
      .where("template", "like", "email-%")
      .execute();
    expect(mails).toEqual([{ template: "email-change-taken", language: "pl", user_id: owner.user.id }]);
    expect(await emailOf(owner)).toBe(taken);
  });

  test("only asked for by a sign-up is had by whoever confirms first, and nothing comes of the other", async () => {
    const wanted = address("signed-up");
    await product.post("/api/auth/sign-up", { email: wanted, password }, elsewhere());
    const session = await product.join();
    expect((await move(session, wanted)).statusCode).toBe(200);
    expect(codeOf(await product.confirmLast(wanted))).toBe("link_invalid");
    expect(await emailOf(session)).toBe(wanted);

    const other = address("signed-up-first");
    await product.post("/api/auth/sign-up", { email: other, password }, elsewhere());
    const asked = await ask(session, other);
    expect((await product.confirmLast(other)).statusCode).toBe(200);
    const late = await confirm(await confirmTokenTo(other), undefined, { headers: cookiesOf(asked), remoteAddress: randomAddress() });
    expect(codeOf(late)).toBe("link_invalid");
  });

  test("goes to one of two people who ask for it and confirm at the same moment", async () => {
    for (let round = 0; round < 5; round += 1) {
      const wanted = address("wanted");
      const people = [await product.join(), await product.join()];
      for (const person of people) await ask(person, wanted);
      const tokens = await tokensTo(wanted, "email-change-confirm");
      const answers = await Promise.all(tokens.map((token) => confirm(token, password)));
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400]);
      const has = await Promise.all(people.map(async (person) => (await emailOf(person)) === wanted));
      expect(has.filter(Boolean)).toHaveLength(1);
    }
  });

  test("goes to a sign-up or to a change that are confirmed at the same moment, never to both", async () => {
    for (let round = 0; round < 5; round += 1) {
      const wanted = address("raced");
      const session = await product.join();
      await product.post("/api/auth/sign-up", { email: wanted, password }, elsewhere());
      await ask(session, wanted);
      const token = await confirmTokenTo(wanted);
      const answers = await Promise.all([product.confirmLast(wanted), confirm(token, password)]);
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400]);
    }
  });

  test("stays theirs when two people ask for each other's", async () => {
    const people = [await product.join(), await product.join()] as const;
    const [left, right] = people;
    await ask(left, right.user.email);
    await ask(right, left.user.email);
    // Neither is mailed a link, since both addresses are taken.
    expect(await tokensTo(right.user.email, "email-change-confirm")).toEqual([]);
    expect(await Promise.all(people.map(emailOf))).toEqual([left.user.email, right.user.email]);
  });
});

describe("reversing a change", () => {
  const evil = () => address("evil");

  /** Somebody with the owner's password took the account: another address, their own sign-in and what they added since. */
  async function takeOver() {
    const old = address("victim");
    await product.join(old);
    const intruder = (await product.signIn(old)).json<Session>();
    const theirs = evil();
    await move(intruder, theirs);
    return { old, theirs, intruder, userId: intruder.user.id };
  }

  test("gives the old address back, ends the password and all sessions, and leads to a new password", async () => {
    const { old, theirs, intruder, userId } = await takeOver();
    const token = await undoTokenTo(old);
    expect((await product.post("/api/auth/undo-link", { token }, elsewhere())).json()).toEqual({ email: old });
    const undone = await undo(token);
    expect([undone.statusCode, undone.json().email]).toEqual([200, old]);
    expect((await product.get("/api/account", intruder.access_token)).statusCode).toBe(401);
    expect(codeOf(await product.post("/api/auth/refresh", { refresh_token: intruder.refresh_token }))).toBe("session_expired");
    for (const email of [old, theirs]) expect(codeOf(await product.signIn(email)), email).toBe("invalid_credentials");
    const chosen = "owned again 1";
    const reset = await product.post("/api/auth/reset-password", { token: undone.json().token, password: chosen }, elsewhere());
    expect(reset.json()).toEqual({ session: null });
    const back = (await product.signIn(old, chosen)).json<Session>();
    expect(back.user).toMatchObject({ id: userId, email: old });
    expect(codeOf(await undo(token))).toBe("link_invalid");
    expect(await actsOf(userId)).toEqual(expect.arrayContaining(["email.changed", "email.restored", "password.changed"]));
  });

  test("works before the change is confirmed, and ends it", async () => {
    const old = address("in-time");
    await product.join(old);
    const intruder = (await product.signIn(old)).json<Session>();
    const theirs = evil();
    const asked = await ask(intruder, theirs);
    expect((await undo(await undoTokenTo(old))).statusCode).toBe(200);
    const late = await confirm(await confirmTokenTo(theirs), undefined, { headers: cookiesOf(asked), remoteAddress: randomAddress() });
    expect(codeOf(late)).toBe("link_invalid");
    expect((await product.get("/api/account", intruder.access_token)).statusCode).toBe(401);
  });

  test("works after the request was cancelled, the password was changed and the account moved on to a second address", async () => {
    const { old, theirs, intruder } = await takeOver();
    const token = await undoTokenTo(old);
    const third = evil();
    await product.post("/api/account/password", { currentPassword: password, password: "intruders 1" }, as(intruder));
    await product.asOwner("delete from auth_attempts");
    await move(intruder, third);
    const theirUndo = await undoTokenTo(theirs);
    expect((await undo(token)).json().email).toBe(old);
    // What would lead back to the intruder's mailboxes is gone.
    expect(codeOf(await undo(theirUndo))).toBe("link_invalid");
    await product.post("/api/auth/recover", { email: third }, elsewhere());
    expect(await tokensTo(third, "password-reset")).toEqual([]);
  });

  test("of a second change leaves that of the first possible", async () => {
    const [first, second, third] = [address("first"), address("second"), address("third")];
    const session = await product.join(first);
    await move(session, second);
    await move(session, third);
    const ofFirst = await undoTokenTo(first);
    expect((await undo(await undoTokenTo(second))).json().email).toBe(second);
    expect((await undo(ofFirst)).json().email).toBe(first);
  });

  test("takes away what was added to sign in with since, and nothing older", async () => {
    const old = address("factors");
    const { user } = await product.join(old);
    const add = async (kind: "totp" | "recovery_code", data: object, at: Date) =>
      product.db
        .insertInto("credentials")
        .values({ user_id: user.id, kind, name: null, data: JSON.stringify(data), created_at: at, last_used_at: null })
        .execute();
    const addPasskey = async (name: string) => {
      const key = { credential_id: Buffer.from(name), public_key: Buffer.from(name), counter: 0, device_type: "singleDevice" as const };
      const about = { transports: [], backed_up: false, name, created_at: new Date(), last_used_at: null };
      await product.db
        .insertInto("passkeys")
        .values({ user_id: user.id, ...key, ...about })
        .execute();
    };
    await add("recovery_code", { hash: "older" }, new Date());
    await addPasskey("older");
    const intruder = (await product.signIn(old)).json<Session>();
    await move(intruder, evil());
    await add("totp", { sealedSecret: "theirs", lastStep: 0 }, new Date());
    await add("recovery_code", { hash: "theirs" }, new Date());
    await addPasskey("theirs");
    await undo(await newest(old, "email-change-notice"));
    const left = await product.db.selectFrom("credentials").select(["kind", "data"]).where("user_id", "=", user.id).orderBy("id").execute();
    expect(left.map(({ kind }) => kind)).toEqual(["password", "recovery_code"]);
    expect(left[1]?.data).toEqual({ hash: "older" });
    const passkeys = await product.db.selectFrom("passkeys").select("name").where("user_id", "=", user.id).execute();
    expect(passkeys).toEqual([{ name: "older" }]);
  });

  test("is possible for seven days, in which nobody else gets the old address; then anybody does", async () => {
    const { old, intruder } = await takeOver();
    const stranger = await product.join();
    // By signing up,
    await product.post("/api/auth/sign-up", { email: old, password }, elsewhere());
    expect((await product.mailedTokens(old)).length, "only the account's own").toBe(1);
    // by another change,
    await ask(stranger, old);
    expect(await tokensTo(old, "email-change-confirm")).toEqual([]);
    // or by asking for a password: each is told how to have the address back instead.
    await product.post("/api/auth/recover", { email: old }, elsewhere());
    expect(await product.templatesTo(old)).toEqual([
      "confirm-email",
      "email-change-notice",
      ...Array.from({ length: 4 }, () => "email-changed"),
    ]);
    await ageLinks(7 * dayMs - 60_000);
    expect((await product.post("/api/auth/undo-link", { token: await undoTokenTo(old) }, elsewhere())).statusCode).toBe(200);
    await ageLinks(120_000);
    expect(codeOf(await undo(await undoTokenTo(old)))).toBe("link_invalid");
    expect((await product.join(old)).user.id).not.toBe(intruder.user.id);
  });

  test("a sign-up that waited for the old address when it was given up makes no account of it", async () => {
    const old = address("given-up");
    const strangers = "a stranger 1";
    await product.post("/api/auth/sign-up", { email: old, password: strangers }, elsewhere());
    const [first = ""] = await product.mailedTokens(old);
    const session = await product.join(old);
    // Pretend that it was written while the person confirmed theirs.
    const waiting = await product.db
      .insertInto("sign_ups")
      .values({ id: randomUUID(), email: old, password_hash: null, language: "en", created_at: new Date() })
      .returning("id")
      .execute();
    await move(session, address("next"));
    expect(codeOf(await product.post("/api/auth/confirm", { token: first, password: strangers }))).toBe("link_invalid");
    const left = await product.db
      .selectFrom("sign_ups")
      .select("email")
      .where("id", "=", waiting[0]?.id ?? "")
      .execute();
    expect(left).toEqual([{ email: null }]);
  });

  test("is not possible with the token of another link, and a change not with that of its reversal", async () => {
    const old = address("mixed");
    const next = address("mixed-next");
    const session = await product.join(old);
    await ask(session, next);
    expect(codeOf(await undo(await confirmTokenTo(next)))).toBe("link_invalid");
    expect(codeOf(await confirm(await undoTokenTo(old), password))).toBe("link_invalid");
    expect(codeOf(await product.post("/api/auth/reset-password", { token: await undoTokenTo(old), password: "chosen 1 more" }))).toBe(
      "link_invalid",
    );
    expect(codeOf(await undo("nothing of ours"))).toBe("link_invalid");
  });
});

describe("limits", () => {
  test("of a person hold whatever network they ask from, and count what is sent again", async () => {
    const session = await product.join();
    await ask(session, address("limit"));
    for (let count = 0; count < 4; count += 1)
      expect((await product.post("/api/account/email/resend", {}, as(session))).statusCode).toBe(202);
    const refused = await ask(session, address("limit"));
    expect([refused.statusCode, codeOf(refused)]).toEqual([429, "too_many_attempts"]);
    expect(refused.headers["retry-after"]).toBeDefined();
    expect((await ask(await product.join(), address("limit"))).statusCode).toBe(202);
  });

  test("of a mailbox hold whoever asks, and nobody is told", async () => {
    const mailbox = address("mailbox");
    for (let count = 0; count < 16; count += 1) {
      const session = await product.join();
      expect((await ask(session, mailbox)).statusCode).toBe(202);
      expect((await readAccount(session)).newEmail?.email).toBe(mailbox);
    }
    expect(await tokensTo(mailbox, "email-change-confirm")).toHaveLength(15);
  });
});
