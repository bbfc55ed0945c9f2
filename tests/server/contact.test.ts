/** The contact form and its function (specification §5 and §7): field limits, repeats, rate limits and mails. */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { LightMyRequestResponse } from "fastify";
import type { Email } from "postal-mime";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { languages } from "#domain/languages.ts";
import { sendMail } from "#server/features/notifications/service.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

const received: { raw: string; mail: Email }[] = [];
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onData(stream, _session, done) {
    void buffer(stream)
      .then(async (raw) => received.push({ raw: raw.toString("latin1"), mail: await PostalMime.parse(raw) }))
      .then(() => done());
  },
});

const team = "team@tessera.test";
let product: AuthApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const smtpUrl = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  product = await createAuthApp({ SMTP_URL: smtpUrl, CONTACT_EMAIL: team });
});
afterAll(async () => {
  await product.close();
  await new Promise<void>((resolve) => server.close(resolve));
});
beforeEach(async () => {
  received.length = 0;
  await product.asOwner("truncate outbox, mails, contact_messages, contact_events, auth_attempts");
});

const whole = { name: "Ada", email: "ada@example.com", category: "support", subject: "A question", message: "How many?" };

interface WriteOptions {
  path?: string;
  key?: string | undefined;
  headers?: Record<string, string>;
  ip?: string;
}

function write(changes: Record<string, unknown> = {}, options: WriteOptions = {}): Promise<LightMyRequestResponse> {
  const { path = "/api/contact", headers = {}, ip = "192.0.2.1" } = options;
  const key = "key" in options ? options.key : randomUUID();
  return product.post(
    path,
    { ...whole, ...changes },
    { headers: { ...headers, ...(key === undefined ? {} : { "idempotency-key": key }) }, remoteAddress: ip },
  );
}

const stored = () => product.db.selectFrom("contact_messages").selectAll().orderBy("id").execute();
const queued = () => product.db.selectFrom("mails").selectAll().orderBy("id").execute();

/** Sends the queued mails, as the worker does. */
async function deliver(): Promise<void> {
  for (const { payload } of await product.db.selectFrom("outbox").select("payload").orderBy("id").execute())
    await sendMail(product.deps, (payload as { mailId: string }).mailId);
}
function mailTo(recipient: string) {
  const found = received.filter(({ mail }) => mail.to?.some((to) => to.address === recipient));
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} mails to ${recipient}`);
  return found[0];
}

const emailOf = (length: number) => `${"a".repeat(length - "@example.com".length)}@example.com`;
const nameMissing = "Name is required";
const nameLong = "Name must be less than 100 characters";
const emailInvalid = "Invalid email address";
const emailLong = "Email must be less than 255 characters";
const subjectLong = "Subject must be less than 200 characters";
const messageMissing = "Message is required";
const messageLong = "Message must be less than 5000 characters";

describe("a field at its limits", () => {
  it.each<[string, keyof typeof whole, string, string]>([
    ["an empty name", "name", "", nameMissing],
    ["a name of spaces", "name", " \t\n\u00a0\u3000", nameMissing],
    ["a name of angle brackets", "name", "<<>>", nameMissing],
    ["a name of angle brackets and spaces", "name", "< > <", nameMissing],
    ["a name of direction marks", "name", "\u200f\u202e\u2066\u200b", nameMissing],
    ["a name of 101 characters", "name", "n".repeat(101), nameLong],
    ["a name of 101 emoji", "name", "😀".repeat(101), nameLong],
    ["a name that only its brackets make too long", "name", `${"n".repeat(100)}>`, nameLong],
    ["an empty address", "email", "", emailInvalid],
    ["an address of one character", "email", "a", emailInvalid],
    ["an address of spaces", "email", "   ", emailInvalid],
    ["an address of angle brackets", "email", "<>", emailInvalid],
    ["an address in angle brackets", "email", "<ada@example.com>", emailInvalid],
    ["an address of 256 characters", "email", emailOf(256), emailLong],
    ["an address of emoji", "email", "😀@example.com", emailInvalid],
    ["an address with direction marks", "email", "a\u200f@example.com", emailInvalid],
    ["an address with a header", "email", "ada@example.com\r\nBcc: b@example.com", emailInvalid],
    ["two addresses", "email", "ada@example.com, b@example.com", emailInvalid],
    ["a subject of 201 characters", "subject", "s".repeat(201), subjectLong],
    ["a subject of 201 emoji", "subject", "😀".repeat(201), subjectLong],
    ["an empty message", "message", "", messageMissing],
    ["a message of spaces", "message", " \r\n \u2003", messageMissing],
    ["a message of angle brackets", "message", "<><><>", messageMissing],
    ["a message of direction marks", "message", "\u200e\u202c", messageMissing],
    ["a message of 5,001 characters", "message", "m".repeat(5_001), messageLong],
    ["a message of 5,001 emoji", "message", "😀".repeat(5_001), messageLong],
    ["a message of 400,000 characters", "message", "m".repeat(400_000), messageLong],
  ])("%s is refused in the specification's words, and nothing is stored", async (_name, field, value, message) => {
    for (const path of ["/api/contact", "/api/functions/send-contact-email"]) {
      const answer = await write({ category: "feedback", [field]: value }, { path });
      expect(answer.json()).toMatchObject({
        status: 400,
        code: "validation_failed",
        error: message,
        fields: [{ field, message }],
      });
    }
    expect([await stored(), await queued()]).toEqual([[], []]);
  });

  it.each<[string, Partial<typeof whole>, Record<string, unknown>]>([
    ["one character each", { name: "a", subject: "s", message: "m" }, { name: "a", subject: "s", message: "m" }],
    [
      "the longest allowed",
      { name: "n".repeat(100), email: emailOf(255), subject: "s".repeat(200), message: "m".repeat(5_000) },
      { name: "n".repeat(100), email: emailOf(255), subject: "s".repeat(200), message: "m".repeat(5_000) },
    ],
    [
      "the longest allowed, in emoji",
      { name: "😀".repeat(100), subject: "😀".repeat(200), message: "😀".repeat(5_000) },
      { name: "😀".repeat(100), subject: "😀".repeat(200), message: "😀".repeat(5_000) },
    ],
    [
      "spaces around the longest allowed",
      { name: `  ${"n".repeat(100)}\n`, email: ` ${emailOf(255)} `, subject: `\t${"s".repeat(200)} `, message: ` ${"m".repeat(5_000)} ` },
      { name: "n".repeat(100), email: emailOf(255), subject: "s".repeat(200), message: "m".repeat(5_000) },
    ],
    ["an empty subject, stored as none", { subject: "" }, { subject: null }],
    ["a subject of spaces, stored as none", { subject: " \n " }, { subject: null }],
    ["a subject of angle brackets, stored as none", { subject: "<>" }, { subject: null }],
    [
      "markup, whose angle brackets are removed",
      { name: "<b>Ada</b>", subject: "<script>", message: "  < if (a<b) >  " },
      { name: "bAda/b", subject: "script", message: "if (ab)" },
    ],
    ["right-to-left text", { name: "\u200fעדה", message: "\u202eשלום" }, { name: "\u200fעדה", message: "\u202eשלום" }],
    [
      "line breaks in single-line fields",
      { name: "Ada\r\nBcc: everybody@example.com", subject: "Hello\n\tthere\u2028you\u0007" },
      { name: "Ada Bcc: everybody@example.com", subject: "Hello there you" },
    ],
    ["line breaks in a message, which are kept", { message: "one\r\n\ntwo" }, { message: "one\r\n\ntwo" }],
    ["an accent typed as two characters", { email: "rene\u0301@example.com" }, { email: "ren\u00e9@example.com" }],
  ])("%s is stored without being cut", async (_name, changes, kept) => {
    const answer = await write(changes);
    expect(answer.statusCode, answer.body).toBe(202);
    expect(await stored()).toMatchObject([{ id: answer.json().id, ...kept }]);
  });

  it("every invalid field is named, in the order of the form", async () => {
    const answer = await write({ name: " ", email: "a", category: "praise", subject: "s".repeat(201), message: "<>" });
    expect(answer.json()).toMatchObject({ error: nameMissing });
    expect(answer.json().fields).toEqual([
      { field: "name", message: nameMissing },
      { field: "email", message: emailInvalid },
      { field: "category", message: "Category must be one of bug, feature, feedback, support" },
      { field: "subject", message: subjectLong },
      { field: "message", message: messageMissing },
    ]);
  });

  it.each(["bug", "feature", "feedback", "support"])("the category %s is accepted", async (category) => {
    expect((await write({ category })).statusCode).toBe(202);
    expect(await stored()).toMatchObject([{ category }]);
  });

  it.each([
    ["1 MB", { message: "m".repeat(1_000_000) }, 413, "body_too_large"],
    ["a field of another type", { name: 1 }, 400, "validation_failed"],
    ["an unknown field", { isAdmin: true }, 400, "validation_failed"],
    ["text that can't be stored", { message: "a\u0000b" }, 400, "validation_failed"],
    ["half a surrogate pair", { name: "\ud800" }, 400, "validation_failed"],
  ])("%s is refused and nothing is stored", async (_name, changes, status, code) => {
    const answer = await write(changes);
    expect(answer.json()).toMatchObject({ status, code });
    expect([await stored(), await queued()]).toEqual([[], []]);
  });
});

describe("a message sent again", () => {
  it("with the same key, ten times at once, is stored once and mailed twice: to the team and the sender", async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => write({}, { key })));
    expect(answers.map((answer) => answer.statusCode)).toEqual(Array(10).fill(202));
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
    expect(await stored()).toHaveLength(1);
    expect((await queued()).map((mail) => mail.recipient).sort()).toEqual([whole.email, team]);
    expect(await product.db.selectFrom("outbox").select("id").execute()).toHaveLength(2);
  });

  it("with the same key but other spacing and another language gets the same id", async () => {
    const key = randomUUID();
    const first = await write({ language: "de" }, { key });
    const again = await write({ name: " Ada ", language: "fr" }, { key: key.toUpperCase() });
    expect([again.statusCode, again.json()]).toEqual([202, first.json()]);
  });

  it.each([["name"], ["email"], ["category"], ["subject"], ["message"]])(
    "with the same key but another %s is refused with 409",
    async (field) => {
      const key = randomUUID();
      await write({}, { key });
      const answer = await write({ [field]: { email: "b@example.com", category: "bug" }[field] ?? "Another" }, { key });
      expect(answer.json()).toMatchObject({ status: 409, code: "idempotency_conflict" });
      expect([(await stored()).length, (await queued()).length]).toEqual([1, 2]);
    },
  );

  it("without a valid key is refused by the form's route and accepted by the function", async () => {
    const path = "/api/functions/send-contact-email";
    expect((await write({}, { key: undefined })).statusCode).toBe(400);
    expect((await write({}, { key: "again" })).statusCode).toBe(400);
    expect((await write({ category: "feedback" }, { path, key: "again" })).statusCode).toBe(400);
    expect((await write({ category: "feedback" }, { path, key: undefined })).statusCode).toBe(202);
    expect(await stored()).toHaveLength(1);
  });
});

describe("the function send-contact-email", () => {
  const path = "/api/functions/send-contact-email";
  it("accepts the feedback dialog's payload as specified, and a repeat with the same key", async () => {
    const key = randomUUID();
    const feedback = { category: "feedback", subject: "General Feedback from Ada" };
    const answer = await write(feedback, { path, key });
    expect(answer.statusCode).toBe(202);
    expect((await write(feedback, { path, key })).json()).toEqual(answer.json());
    expect(await stored()).toMatchObject([{ ...feedback, name: "Ada", message: whole.message }]);
  });

  it("accepts no other category", async () => {
    const answer = await write({ category: "support" }, { path });
    expect(answer.json()).toMatchObject({ status: 400, code: "validation_failed", error: expect.any(String) });
  });
});

describe("robots and floods", () => {
  it("a message with the honeypot field filled in gets the usual answer and is dropped", async () => {
    const answer = await write({ website: "https://spam.example" });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([202, ["id"]]);
    expect([await stored(), await queued()]).toEqual([[], []]);
    expect((await write({ website: " " })).statusCode).toBe(202);
    expect(await stored()).toHaveLength(1);
  });

  it("one mailbox, whatever alias it uses, can send five messages an hour from one network; then it gets a 429 with Retry-After", async () => {
    const aliases = ["ada@example.com", "Ada@example.com", "ada+a@example.com", "ADA+b@EXAMPLE.com", "ada+c@example.com"];
    for (const email of aliases) expect((await write({ email })).statusCode).toBe(202);
    const refused = await write({ email: "ada+d@example.com" });
    expect(refused.json()).toMatchObject({ status: 429, code: "too_many_attempts", error: expect.any(String) });
    const seconds = Number(refused.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect([(await stored()).length, (await queued()).length]).toEqual([5, 10]);
    expect((await write({ email: "grace@example.com" })).statusCode).toBe(202);
  });

  it("messages of strangers in a mailbox's name don't keep its owner from writing: elsewhere, and signed in", async () => {
    for (let index = 0; index < 6; index += 1) await write();
    expect((await write({}, { ip: "198.51.100.1" })).statusCode).toBe(202);
    const { access_token } = await product.join(whole.email);
    const headers = { authorization: `Bearer ${access_token}` };
    for (let index = 0; index < 10; index += 1) expect((await write({}, { headers, ip: `198.51.100.${index}` })).statusCode).toBe(202);
    expect((await write({}, { headers, ip: "198.51.100.20" })).statusCode).toBe(429);
    // Under another address they count as anybody does.
    const others = Array.from({ length: 6 }, () => write({ email: "other@example.com" }, { headers, ip: "198.51.100.30" }));
    expect((await Promise.all(others)).map(({ statusCode }) => statusCode).toSorted()).toEqual([202, 202, 202, 202, 202, 429]);
  });

  it("one mailbox gets fifteen acknowledgements an hour from all networks; what is written after that still reaches the team", async () => {
    for (let index = 0; index < 17; index += 1) expect((await write({}, { ip: `198.51.100.${index}` })).statusCode).toBe(202);
    const mails = await queued();
    expect([(await stored()).length, mails.filter(({ recipient }) => recipient === whole.email).length]).toEqual([17, 15]);
    expect(mails.filter(({ recipient }) => recipient === team)).toHaveLength(17);
  });

  it("all together cause a bounded number of mails a minute; what comes after that is in the inbox", async () => {
    const count = 33;
    for (let index = 0; index < count; index += 1)
      expect((await write({ email: `p${index}@example.com` }, { ip: `198.51.100.${index}` })).statusCode).toBe(202);
    expect([(await stored()).length, (await queued()).length]).toEqual([count, 60]);
  });

  it("one address, or a whole IPv6 /64, can send twenty messages an hour", async () => {
    for (let index = 0; index < 20; index += 1) {
      const answer = await write({ email: `p${index}@example.com` }, { ip: `2001:db8:1:2::${index.toString(16)}` });
      expect(answer.statusCode).toBe(202);
    }
    const refused = await write({ email: "last@example.com" }, { ip: "2001:db8:1:2:ffff::1" });
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await write({ email: "last@example.com" }, { ip: "2001:db8:1:3::1" })).statusCode).toBe(202);
    expect(await stored()).toHaveLength(21);
  });

  it("a message that has arrived can be sent again despite the limits and does not count", async () => {
    const keys = Array.from({ length: 5 }, () => randomUUID());
    for (const key of keys) await write({}, { key });
    expect((await write()).statusCode).toBe(429);
    for (const key of keys) expect((await write({}, { key })).statusCode).toBe(202);
  });

  it("refused messages don't count towards the limits", async () => {
    for (let index = 0; index < 10; index += 1) await write({ message: "" });
    expect((await write()).statusCode).toBe(202);
  });
});

describe("the mails", () => {
  test.each(languages.map((language) => language.code))("reach the team and, in %s, the sender", async (language) => {
    await write({ language });
    await deliver();
    const texts = await import(`#server/features/notifications/locales/${language}.json`, { with: { type: "json" } });
    const acknowledgement = mailTo(whole.email).mail;
    expect(acknowledgement.subject).toBe(texts.default["contact-received"].subject);
    const [promise = ""] = texts.default["contact-received"].detail.split("\n");
    expect(acknowledgement.text).toContain(promise);
    expect(acknowledgement.replyTo).toMatchObject([{ address: team }]);
    expect(acknowledgement.headers.find((header) => header.key === "content-language")?.value).toBe(language);
    const toTeam = mailTo(team).mail;
    expect(toTeam).toMatchObject({ subject: "[support] A question", replyTo: [{ address: whole.email }] });
    expect(toTeam.text).toContain(`Their language is ${new Intl.DisplayNames("en", { type: "language" }).of(language)}.`);
    expect(received).toHaveLength(2);
  });

  it.each<[string, string | undefined, string | undefined, string]>([
    ["the form's language", "fr-CA", "de, en;q=0.5", "fr"],
    ["an unsupported one, then the browser's best supported one", "tlh", "tlh, sv;q=0.9, en;q=0.2, pt-BR;q=0.7, de;q=0", "pt"],
    ["none, and an empty header", undefined, ";;q=,,x=1", "en"],
    ["none at all", undefined, undefined, "en"],
  ])("acknowledge in the language asked for: %s", async (_name, language, header, expected) => {
    await write(language === undefined ? {} : { language }, { headers: header === undefined ? {} : { "accept-language": header } });
    expect(await stored()).toMatchObject([{ language: expected }]);
  });

  it("of a signed-in person use their language and belong to their account", async () => {
    const session = await product.join("signed-in@example.com");
    await product.db.updateTable("users").set({ language: "ja" }).where("id", "=", session.user.id).execute();
    const headers = { authorization: `Bearer ${session.access_token}`, "accept-language": "de" };
    await write({}, { headers });
    expect(await stored()).toMatchObject([{ user_id: session.user.id, language: "ja" }]);
  });

  it("take no header, address or markup from the message, and the acknowledgement nothing from it at all", async () => {
    const name = "Ada\r\nBcc: everybody@example.com\r\n\r\n{{lead}} $t(signature) $& \u202e";
    const subject = 'Free <a href="https://spam.example">money</a>\nX-Injected: yes & "quotes"';
    const message = "<img src=x onerror=alert(1)>\n\n{{name}} $t(signature)\n.\r\nQUIT\r\nhttps://spam.example";
    expect((await write({ name, subject, message, category: "bug" })).statusCode).toBe(202);
    await deliver();
    const toTeam = mailTo(team);
    const keys = toTeam.mail.headers.map((header) => header.key);
    for (const key of ["bcc", "x-injected", "cc"]) expect(keys).not.toContain(key);
    expect(toTeam.mail.to).toEqual([{ address: team, name: "" }]);
    expect(toTeam.mail.subject).toBe('[bug] Free a href="https://spam.example"money/a X-Injected: yes & "quotes"');
    const tidy = "Ada Bcc: everybody@example.com {{lead}} $t(signature) $& \u202e";
    expect(toTeam.mail.text).toContain(`${tidy} wrote to the team:`);
    expect(toTeam.mail.text?.replaceAll("\r\n", "\n")).toContain(
      "img src=x onerror=alert(1)\n\n{{name}} $t(signature)\n.\nQUIT\nhttps://spam.example",
    );
    const html = toTeam.mail.html ?? "";
    expect(html).toContain("{{name}} $t(signature)");
    expect(html).not.toMatch(/<img|<a href="https:\/\/spam|yes & "/);
    expect([...html.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toEqual(Array(2).fill("mailto:ada@example.com"));
    const acknowledgement = mailTo(whole.email);
    for (const word of ["Ada", "everybody", "spam", "money", "img", "Injected"])
      expect(acknowledgement.mail.text + String(acknowledgement.mail.html) + String(acknowledgement.mail.subject), word).not.toContain(
        word,
      );
    expect(acknowledgement.raw).not.toMatch(/spam|everybody/);
    expect(received).toHaveLength(2);
  });

  it("without a subject have the sender's name in the subject line", async () => {
    await write({ subject: "", category: "feature" });
    await deliver();
    expect(mailTo(team).mail.subject).toBe("[feature] Ada");
  });
});

test("the OpenAPI document describes both calls", async () => {
  const { paths } = (await product.get("/api/openapi.json")).json();
  for (const path of ["/api/contact", "/api/functions/send-contact-email"])
    expect(paths[path].post.parameters).toMatchObject([{ name: "idempotency-key", in: "header" }]);
});
