/** Optional mails go only to those who want them, and a mail itself can end its kind; mails about security and payments always go out. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Email } from "postal-mime";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { optionalMailKinds, optionalMails } from "#domain/notifications.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { queueMail, sendMail } from "#server/features/notifications/service.ts";
import type { MailTemplate } from "#server/features/notifications/templates.ts";
import { mailTemplates } from "#server/features/notifications/templates.ts";
import { encodeUuid } from "#server/http/secret-keys.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

const received: Email[] = [];
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onData(stream, _session, done) {
    void buffer(stream)
      .then((raw) => PostalMime.parse(raw))
      .then((mail) => received.push(mail))
      .then(() => done());
  },
});

let product: AuthApp;
let ada: Session;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  product = await createAuthApp({ SMTP_URL: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` });
});
afterAll(async () => {
  await product.close();
  await new Promise<void>((resolve) => server.close(resolve));
});
beforeEach(async () => {
  ada = await product.join();
  await product.asOwner("truncate outbox, mails, contact_messages, contact_events, auth_attempts");
  received.length = 0;
});

/** All choices of somebody who switched off nothing, or nothing but the acknowledgement. */
const choices = (contact: boolean) => ({ mails: optionalMailKinds.map((kind) => ({ kind, wanted: kind === "contact" ? contact : true })) });
const headersOf = ({ access_token }: Session) => ({ authorization: `Bearer ${access_token}` });
const wants = async () => (await product.get("/api/account/notifications", ada.access_token)).json();
const choose = (kind: string, wanted: boolean) =>
  product.app.inject({ method: "PATCH", url: "/api/account/notifications", headers: headersOf(ada), payload: { kind, wanted } });

/** Writes to the team as Ada, and returns to whom which mails were queued. */
async function write(email = ada.user.email, headers: Record<string, string> = headersOf(ada)): Promise<string[]> {
  await product.asOwner("truncate outbox, mails");
  const message = { name: "Ada", email, category: "support", message: "How many?" };
  const answer = await product.post("/api/contact", message, { headers: { ...headers, "idempotency-key": randomUUID() } });
  expect(answer.statusCode).toBe(202);
  const mails = await product.db.selectFrom("mails").select(["template", "recipient"]).orderBy("id").execute();
  return mails.map(({ template, recipient }) => `${template} ${recipient}`);
}

/** Sends the mail of a template that is queued, and returns it as the mailbox got it. */
async function sent(template: MailTemplate): Promise<Email> {
  const { id } = await product.db.selectFrom("mails").select("id").where("template", "=", template).executeTakeFirstOrThrow();
  await sendMail(product.deps, id);
  const mail = received.at(-1);
  if (!mail) throw new Error("nothing arrived");
  return mail;
}

function headerOf(mail: Email, key: string): string | undefined {
  return mail.headers.find((header) => header.key === key)?.value;
}

/** A mailbox posts this when its owner asks (RFC 8058 §3.1). */
function oneClick(url: string) {
  const { pathname, search } = new URL(url);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return product.app.inject({ method: "POST", url: pathname + search, headers, payload: "List-Unsubscribe=One-Click" });
}

async function unsubscribeUrl(): Promise<string> {
  await write();
  return headerOf(await sent("contact-received"), "list-unsubscribe")?.slice(1, -1) ?? "";
}

test("a kind that was switched off is not sent to the person's own address, until it is switched on again", async () => {
  const [team = "", own] = await write();
  expect(own).toBe(`contact-received ${ada.user.email}`);
  expect((await choose("contact", false)).json()).toEqual(choices(false));
  expect(await write()).toEqual([team]);
  expect(await write(ada.user.email.toUpperCase())).toEqual([team]);
  // Other people have chosen nothing, so they get the mail.
  expect(await write("somebody@example.com")).toEqual([team, "contact-received somebody@example.com"]);
  expect(await write(ada.user.email, {})).toEqual([team, own]);
  expect((await choose("contact", true)).json()).toEqual(choices(true));
  expect(await write()).toEqual([team, own]);
});

test("one person's choice is nobody else's", async () => {
  await choose("contact", false);
  const eve = await product.join();
  expect((await product.get("/api/account/notifications", eve.access_token)).json()).toEqual(choices(true));
  expect((await product.get("/api/account/notifications")).statusCode).toBe(401);
});

test("mails about security and payments can't be switched off and carry no way to", async () => {
  for (const kind of ["security", "payments", "password-changed", "toString", ""])
    expect([(await choose(kind, false)).statusCode, await wants()]).toEqual([400, choices(true)]);
  // Even if the row declined every kind of mail there is.
  const names = [...mailTemplates, ...optionalMailKinds, "security", "payments"];
  await product.db.updateTable("users").set({ declined_mails: names }).where("id", "=", ada.user.id).execute();
  const optional: readonly string[] = Object.values(optionalMails).flat();
  for (const template of mailTemplates) {
    const mail = { key: randomUUID(), userId: ada.user.id, recipient: ada.user.email, language: "en" };
    const isQueued = await inTransaction(product.db, (trx) =>
      queueMail<MailTemplate>(trx, { ...mail, template, parameters: { changedAt: "2026-01-01T00:00:00Z" } as never }, new Date()),
    );
    expect([template, isQueued]).toEqual([template, !optional.includes(template)]);
  }
  const mail = await sent("password-changed");
  expect([headerOf(mail, "list-unsubscribe"), headerOf(mail, "list-unsubscribe-post")]).toEqual([undefined, undefined]);
  expect(mail.text).not.toContain("unsubscribe");
});

test("a mailbox ends the kind with one post and no sign-in; opening the address alone changes nothing", async () => {
  const url = await unsubscribeUrl();
  const mail = received.at(-1) as Email;
  expect(headerOf(mail, "list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
  const opened = await product.get(new URL(url).pathname + new URL(url).search);
  const page = opened.headers.location ?? "";
  expect(opened.statusCode).toBe(303);
  expect(await wants()).toEqual(choices(true));
  // The link in the text leads to the same page.
  expect(mail.text).toContain(page);
  expect(mail.html).toContain(`href="${page}"`);
  for (let time = 0; time < 2; time += 1) {
    const answer = await oneClick(url);
    expect([answer.statusCode, answer.json()]).toEqual([200, { kind: "contact" }]);
    expect(await wants()).toEqual(choices(false));
  }
  await choose("contact", true);
  const token = new URL(page).searchParams.get("unsubscribe");
  const ours = await product.post(`/api/notifications/unsubscribe?token=${token}`, {});
  expect([ours.statusCode, await wants()]).toEqual([200, choices(false)]);
});

test("a token is good for its person and kind alone", async () => {
  const url = await unsubscribeUrl();
  const eve = await product.join();
  const [, kind, signature] = new URL(url).searchParams.get("token")?.split(".") ?? [];
  const own = encodeUuid(ada.user.id);
  const forged = [
    `${encodeUuid(eve.user.id)}.${kind}.${signature}`,
    `${own}.security.${signature}`,
    `${own}.${kind}.${signature?.slice(1)}`,
    `${own}.${kind}`,
    `${own}.${kind}.${signature}.`,
    linkToken(product.config, ada.user.id),
    "x",
    "",
  ];
  for (const token of forged) {
    const answer = await product.post(`/api/notifications/unsubscribe?token=${encodeURIComponent(token)}`, {});
    expect([token, answer.statusCode, answer.json().code]).toEqual([token, 400, "link_invalid"]);
  }
  expect(await wants()).toEqual(choices(true));
  await product.asOwner(`delete from users where id = '${ada.user.id}'`);
  expect((await oneClick(url)).statusCode).toBe(200);
});

test("the acknowledgement to an address that is not the sender's own can't be switched off by whoever reads it", async () => {
  await write("somebody@example.com");
  expect(headerOf(await sent("contact-received"), "list-unsubscribe")).toBeUndefined();
});
