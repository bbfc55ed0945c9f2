import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Email } from "postal-mime";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fillIn } from "#client/content/figure.ts";
import { fixedFigures } from "#client/content/figures.ts";
import { dayMs, minuteMs } from "#domain/clock.ts";
import { PermanentFailure } from "#domain/errors.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { languages } from "#domain/languages.ts";
import { orderTexts } from "#domain/orders.ts";
import type { PlanKey } from "#domain/plans.ts";
import { plans, withdrawalDays } from "#domain/plans.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { failureKind } from "#server/failures.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { MailRequest } from "#server/features/notifications/service.ts";
import { queueMail, sendMail } from "#server/features/notifications/service.ts";
import type { MailTemplate } from "#server/features/notifications/templates.ts";
import { mailTemplates } from "#server/features/notifications/templates.ts";
import { createMailer, PermanentMailError } from "#server/providers/mail.ts";
import type { MailSample } from "#tests/support/mail-samples.ts";
import { earlierMailSamples, mailSamples, sampleDays } from "#tests/support/mail-samples.ts";
import { read } from "#tests/support/sources.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

/** A real SMTP server that keeps the mails it accepts and can refuse every recipient. */
const received: Email[] = [];
let refuseWith: number | undefined;
/** The number of mails that have waited for `hold` before the server accepted them. */
let held = 0;
let hold: Promise<void> | undefined;
const leaseMs = 2_000;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onRcptTo(_address, _session, done) {
    done(refuseWith === undefined ? null : Object.assign(new Error("refused"), { responseCode: refuseWith }));
  },
  onData(stream, _session, done) {
    void buffer(stream)
      .then((raw) => PostalMime.parse(raw))
      .then(async (mail) => {
        if (hold) held += 1;
        await hold;
        received.push(mail);
      })
      .then(() => done());
  },
});
server.on("error", () => {});

let product: AuthApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  product = await createAuthApp({ SMTP_URL: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` });
});
afterAll(async () => {
  await product.close();
  await new Promise<void>((resolve) => server.close(resolve));
});
beforeEach(() => {
  received.length = 0;
  refuseWith = undefined;
  hold = undefined;
  held = 0;
});

async function queue<T extends MailTemplate>(
  mail: Pick<MailRequest<T>, "template" | "parameters" | "language">,
  key: string = randomUUID(),
) {
  await inTransaction(product.db, (trx) => queueMail(trx, { ...mail, key, userId: null, recipient: "reader@example.com" }, new Date()));
  return product.db.selectFrom("mails").selectAll().where("key", "=", key).executeTakeFirstOrThrow();
}
const exists = { template: "account-exists", parameters: {}, language: "en" } as const;

test("one key queues one mail and one job, however often it is used", async () => {
  const key = `started:${randomUUID()}`;
  const first = await queue(exists, key);
  expect((await queue(exists, key)).id).toBe(first.id);
  const jobs = await product.db.selectFrom("outbox").select(["job", "payload"]).execute();
  expect(jobs.filter((job) => JSON.stringify(job.payload).includes(first.id))).toEqual([
    { job: "send-mail", payload: { mailId: first.id } },
  ]);
});

test("a mail is sent once even if its job runs several times at once, and every try has the same message id", async () => {
  const mail = await queue(exists);
  const tries = await Promise.allSettled(Array.from({ length: 4 }, () => sendMail(product.deps, mail.id)));
  // The other jobs fail and are tried again later, because the one that sends the mail may die.
  for (const one of tries) if (one.status === "rejected") expect(failureKind(one.reason)).toBe("outage");
  await sendMail(product.deps, mail.id);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ messageId: `<${mail.id}@tessera.test>`, to: [{ address: "reader@example.com" }] });
  // Pretend that the worker ended between sending the mail and marking it as sent.
  await product.db.updateTable("mails").set({ sent_at: null }).where("id", "=", mail.id).execute();
  await sendMail(product.deps, mail.id);
  expect(received[1]?.messageId).toBe(received[0]?.messageId);
  await sendMail(product.deps, randomUUID());
  expect(received).toHaveLength(2);
});

test("a recipient refused temporarily is tried again; a permanent refusal is final", async () => {
  const mail = await queue(exists);
  refuseWith = 450;
  const temporary = await sendMail(product.deps, mail.id).catch((error: unknown) => error);
  expect(temporary).toBeInstanceOf(Error);
  expect(temporary).not.toBeInstanceOf(PermanentMailError);
  refuseWith = 550;
  await expect(sendMail(product.deps, mail.id)).rejects.toBeInstanceOf(PermanentMailError);
  refuseWith = undefined;
  await sendMail(product.deps, mail.id);
  expect(received).toHaveLength(1);
});

test("while a slow mail server accepts a mail, no connection to PostgreSQL is held and no other worker sends the mail", async () => {
  const pool = createPool(product.config.databaseUrl, 1, "one connection");
  const deps = { ...product.deps, db: createDatabase(pool) };
  const mail = await queue(exists);
  let answer = () => {};
  hold = new Promise((resolve) => {
    answer = resolve;
  });
  const sending = sendMail(deps, mail.id, leaseMs);
  await expect.poll(() => held).toBe(1);
  const lease = deps.db.selectFrom("mails").select("leased_until").where("id", "=", mail.id);
  const firstLease = (await lease.executeTakeFirstOrThrow()).leased_until?.getTime() ?? Number.POSITIVE_INFINITY;
  await expect.poll(() => Date.now()).toBeGreaterThan(firstLease);
  const other = await sendMail(product.deps, mail.id).catch((error: unknown) => error);
  expect(failureKind(other)).toBe("outage");
  answer();
  await sending;
  await sendMail(product.deps, mail.id);
  expect(received).toHaveLength(1);
  await pool.end();
});

test("a mail whose worker died while sending it is sent by another after the lease has expired", async () => {
  const mail = await queue(exists);
  const lease = (leasedUntil: Date) =>
    product.db.updateTable("mails").set({ leased_until: leasedUntil }).where("id", "=", mail.id).execute();
  await lease(new Date(Date.now() + 60_000));
  await expect(sendMail(product.deps, mail.id)).rejects.toThrow();
  expect(received).toHaveLength(0);
  await lease(new Date(Date.now() - 1));
  await sendMail(product.deps, mail.id);
  expect(received).toHaveLength(1);
});

test("a mail that the server defers for five days is given up", async () => {
  const mail = await queue(exists);
  refuseWith = 451;
  const written = (msAgo: number) =>
    product.db
      .updateTable("mails")
      .set({ created_at: new Date(Date.now() - msAgo) })
      .where("id", "=", mail.id)
      .execute();
  await written(5 * dayMs - minuteMs);
  expect(failureKind(await sendMail(product.deps, mail.id).catch((error: unknown) => error))).toBe("outage");
  await written(5 * dayMs);
  await expect(sendMail(product.deps, mail.id)).rejects.toBeInstanceOf(PermanentFailure);
});

test("a mail older than its content's retention period is not sent any more", async () => {
  const mail = await queue(exists);
  await product.db
    .updateTable("mails")
    .set({ created_at: new Date(Date.now() - keptMs.mailBodies) })
    .where("id", "=", mail.id)
    .execute();
  await expect(sendMail(product.deps, mail.id)).rejects.toBeInstanceOf(PermanentFailure);
  expect(received).toHaveLength(0);
});

test("an unreachable mail server is a temporary failure", async () => {
  const away = createMailer({ ...product.config.mail, smtpUrl: "smtp://127.0.0.1:1" });
  const outgoing = { messageId: "a@b", to: "reader@example.com", subject: "s", text: "t", html: "<p>t</p>", language: "en" };
  const error = await away.send(outgoing).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(PermanentMailError);
  await away.close();
});

test.each([
  "=?utf-8?B?SGFja2Vk?=",
  "=?iso-8859-1?Q?=48=61?= =?us-ascii?Q?cked?=",
  `😀 =?utf-8?B?SGFja2Vk?= ${"ü".repeat(180)}`,
  "=? what is that?",
])("a topic that looks like an encoded header arrives as it was typed: %s", async (topic) => {
  const letter = { name: "Ada", email: "ada@example.com", category: "bug", message: "m", reference: "r", senderLanguage: "de" } as const;
  const mail = await queue({ template: "contact-message", parameters: { ...letter, topic }, language: "en" });
  await sendMail(product.deps, mail.id);
  expect(received[0]?.subject).toBe(renderMail(product.config, mail).subject);
  expect(received[0]?.subject).toContain(topic);
});

test("a mail that confirms an order brings the terms that were accepted, as a file with its numbers filled in", async () => {
  const order = { consentedAt: "2026-11-30T23:28:00Z", termsVersion: orderTexts.terms };
  const parameters = { amountCents: 500, credits: 100, concludedAt: "2026-11-30T23:30:00Z", usableUntil: "2027-11-30T23:30:00Z", ...order };
  for (const language of ["en", "ja"]) {
    received.length = 0;
    const mail = await queue({ template: "pack-bought", parameters, language });
    await sendMail(product.deps, mail.id);
    const [file] = received[0]?.attachments ?? [];
    expect(file).toMatchObject({ filename: `terms-${orderTexts.terms}.txt`, mimeType: "text/plain", disposition: "attachment" });
    const text = Buffer.from(file?.content as ArrayBuffer).toString();
    const page = fillIn(fixedFigures, read("client/content/en/terms.md"), { language: "en", credits: String });
    // Every paragraph of the page without links is in the file, word by word.
    const paragraphs =
      page
        .split("---\n")[2]
        ?.split("\n\n")
        .filter((paragraph) => !/[[#*]/.test(paragraph)) ?? [];
    expect(paragraphs.length).toBeGreaterThan(20);
    for (const paragraph of paragraphs) expect(text).toContain(paragraph.trim());
    expect(text).not.toMatch(/\{\{|undefined|\]\(|\*\*/);
    expect(text).toContain(`${product.config.publicUrl.origin}/contact`);
  }
  // A contract that came about elsewhere, and a version that is older than the files.
  for (const others of [{ consentedAt: undefined, termsVersion: undefined }, { termsVersion: "2024-01-31" }]) {
    received.length = 0;
    const mail = await queue({ template: "pack-bought", parameters: { ...parameters, ...others } as typeof parameters, language: "en" });
    await sendMail(product.deps, mail.id);
    expect(received[0]?.attachments).toEqual([]);
  }
});

test("the confirmation mail's link opens the account it was mailed for", async () => {
  await product.post("/api/auth/sign-up", { email: "linked@example.com", password: "a tessera 4 two", language: "de" });
  const { id } = await product.db.selectFrom("mails").select("id").where("recipient", "=", "linked@example.com").executeTakeFirstOrThrow();
  await sendMail(product.deps, id);
  const [mail] = received;
  expect(mail?.subject).toBe("Bestätige deine E-Mail-Adresse");
  expect(mail?.headers.find((header) => header.key === "content-language")?.value).toBe("de");
  const link = new URL(/http:\/\/tessera\.test\/\S+/.exec(mail?.text ?? "")?.[0] ?? "");
  expect(mail?.html).toContain(`href="${link.href}"`);
  const answer = await product.post("/api/auth/confirm", { token: link.searchParams.get("confirm"), password: "a tessera 4 two" });
  expect(answer.json()).toMatchObject({ user: { email: "linked@example.com" } });
});

test.each(languages.map((language) => language.code))(
  "mails in %s that the release before queued are rendered without what they lack",
  (language) => {
    const queued = [
      { template: "subscription-started", parameters: { plan: "starter", credits: 300, renewsAt: "2026-12-31T23:30:00Z" } },
      { template: "payment-failed", parameters: { plan: "starter", graceUntil: "2026-12-31T23:30:00Z" } },
      {
        template: "contact-message",
        parameters: { name: "Ada", email: "ada@example.com", category: "bug", topic: "t", message: "m", senderLanguage: "ja" },
      },
      { template: "contact-received", parameters: {} },
    ];
    const whole = {
      interval: "month",
      beginsAt: "2026-11-30T23:30:00Z",
      priceCents: 1999,
      amountCents: 1999,
      reference: "0123456789ab",
      receivedAt: "2026-12-31T23:30:00Z",
    };
    for (const mail of queued) {
      const { text } = renderMail(product.config, { ...mail, language });
      const now = renderMail(product.config, { ...mail, language, parameters: { ...mail.parameters, ...whole } }).text;
      expect(text).not.toMatch(/\{\{|undefined|subscription-started|payment-failed|contact-(message|received)| {2}/);
      expect(text.split("\n").filter((line) => now.includes(line) && line !== "").length).toBeGreaterThan(3);
      expect(text.length).toBeLessThan(now.length);
    }
  },
);

const dayIn = (language: string, date: string) =>
  new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(new Date(date));

/** A mail that confirms a contract has the payment, the terms, and the right of withdrawal with its last day. */
function expectConfirmed({ template }: MailSample, text: string, language: string): void {
  if (template !== "subscription-started" && template !== "pack-bought") return;
  for (const date of [orderTexts.terms, "2026-11-30", "2026-12-14"]) expect(text).toContain(dayIn(language, date));
  for (const path of ["/terms", "/profile/billing#withdrawal"]) expect(text).toContain(path);
}

/** What stands in a mail whose text was not found: the name of the text. */
const unresolved = new RegExp(
  String.raw`\b(${[...mailTemplates, "billed", "contract"].join("|")})\.\w|taxIncluded|termsAttached|footerTeam`,
);

/** With the plan's own figures. */
function withPlan({ parameters }: MailSample, plan: (typeof plans)[PlanKey]): MailSample["parameters"] {
  const own = { plan: plan.key, newPlan: plan.key, credits: plan.monthlyCredits };
  return { ...parameters, ...Object.fromEntries(Object.entries(own).filter(([name]) => name in parameters)) };
}

function expectWhole(sample: MailSample, language: string, plan: (typeof plans)[PlanKey]): void {
  const { template, name } = sample;
  const parameters = withPlan(sample, plan);
  const mail = renderMail(product.config, { template, language, parameters });
  // A token is random, and may read like a fault.
  const all = `${mail.subject}\n${mail.text}\n${mail.html}`.replaceAll(/=[\w-]+\.[\w-]{43}/g, "=token");
  expect(all, name).not.toMatch(/\{\{|\$t\(|undefined|NaN|Invalid/);
  expect(all, name).not.toMatch(unresolved);
  expect(mail.html).toContain(`<html lang="${language}">`);
  // Each mail's footer says who sent it, who that is, and where to reply.
  expect(mail.text).toContain(product.config.publicUrl.host);
  expect([mail.text, mail.html].map((written) => written.split(product.config.postalAddress).length)).not.toContain(1);
  expect(mail.replyTo).toBe(template === "contact-message" ? parameters.email : product.config.contactEmail);
  if (template !== "contact-message") expect(mail.text).toContain(product.config.contactEmail);
  if (template === "account-exists") expect(mail.text).toContain(`${product.config.publicUrl.origin}/auth?mode=recover`);
  // What the text names of the money is the sample's.
  const money = (cents: number) => new Intl.NumberFormat(language, { style: "currency", currency: "USD" }).format(cents / 100);
  if (parameters.amountCents !== undefined) expect(all, name).toContain(money(Number(parameters.amountCents)));
  if (parameters.taxCents !== undefined) expect(mail.text, name).toContain(money(Number(parameters.taxCents)));
  if ("plan" in parameters) expect(all, name).toContain(plan.name);
  if (template.startsWith("contact-")) expect(mail.text).toContain(parameters.reference);
  expectConfirmed(sample, mail.text, language);
  if (template !== "subscription-started") return;
  expect(all).toContain(money(Number(parameters.priceCents)));
  expect(all).toContain(new Intl.NumberFormat(language).format(plan.monthlyCredits));
  expect(all).toContain(dayIn(language, String(parameters.renewsAt)));
}

test.each(languages.map((language) => language.code))(
  "mails in %s: every template is rendered in every variant and for every plan, with no placeholder and no name of a text left",
  (language) => {
    for (const sample of mailSamples)
      for (const plan of "plan" in sample.parameters ? Object.values(plans) : [plans.starter]) expectWhole(sample, language, plan);
  },
);

test("every variant that a mail's texts tell apart has a sample", () => {
  const texts = JSON.parse(read("server/features/notifications/locales/en.json")) as Record<string, Record<string, string>>;
  const known = new Set([...mailSamples, ...earlierMailSamples].map(({ template, variant }) => `${template} ${variant}`));
  const told = mailTemplates.flatMap((template) =>
    Object.keys(texts[template] ?? {}).flatMap((key) => {
      const [, variant = "one"] = key.split("_");
      return ["one", "other"].includes(variant) ? [] : [`${template} ${variant}`];
    }),
  );
  expect(told.length).toBeGreaterThan(20);
  expect(told.filter((variant) => !known.has(variant))).toEqual([]);
});

test.each(languages.map((language) => language.code))("in mails in %s a day stays with its month when a line breaks", (language) => {
  const parts = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).formatToParts(new Date(sampleDays.at));
  const [from = 0, to = 0] = ["day", "month"].map((type) => parts.findIndex((part) => part.type === type)).sort((a, b) => a - b);
  const together = parts.slice(from, to + 1).map(({ value }) => value);
  const mail = { template: "plan-ended", language, parameters: { plan: "starter", endedAt: sampleDays.at } };
  const whole = [...renderMail(product.config, mail).html.matchAll(/<span class="whole">([^<]*)/g)].map(([, words = ""]) => words);
  expect(whole.some((words) => words.includes(together.join("")))).toBe(true);
});

test.each(languages.map((language) => language.code))(
  "mails in %s about returned money say what was taken, what is left, and what a debt or a won dispute means",
  (language) => {
    const render = (template: "payment-refunded" | "dispute-closed", outcome: string, left: number) =>
      renderMail(product.config, { template, language, parameters: { amountCents: 1999, credits: 345, left, variant: outcome } });
    const figure = (count: number) => new Intl.NumberFormat(language).format(count);
    for (const template of ["payment-refunded", "dispute-closed"] as const) {
      const left = render(template, "left", 1200);
      const debt = render(template, "debt", -67);
      expect(left.text).toContain(figure(345));
      expect(left.text).toContain(figure(1200));
      expect(debt.text).toContain(figure(-67));
      expect(debt.text.length).toBeGreaterThan(left.text.length + 10);
    }
    const transferred = render("payment-refunded", "transfer", 0);
    expect(transferred.text).not.toContain(render("payment-refunded", "left", 0).text.split("\n")[0]);
    const owed = render("payment-refunded", "transferDebt", -67).text;
    expect(owed.split("\n")[0]).toBe(transferred.text.split("\n")[0]);
    expect(owed).toContain(figure(-67));
    expect(owed.length).toBeGreaterThan(transferred.text.length + 10);
    const withdrawn = { name: "Ada", email: "ada@example.com", concludedAt: "2026-11-30T23:30:00Z", receivedAt: "2026-12-01T23:30:00Z" };
    const received = renderMail(product.config, {
      ...{ template: "withdrawal-received", language },
      parameters: { ...withdrawn, plan: "enterprise", interval: "month", amountCents: 9_999, variant: "transfer" },
    });
    for (const { text } of [transferred, received]) expect(text).not.toContain("{{");
    expect(received.text).toContain(figure(withdrawalDays));
    const won = render("dispute-closed", "won", 1200);
    expect(won.subject).not.toBe(render("dispute-closed", "left", 1200).subject);
    expect(won.text).not.toContain(figure(345));
  },
);

test.each(languages.map((language) => language.code))(
  "mails in %s about a withdrawal give the statement, who made it, about what, for how much, and when it arrived",
  (language) => {
    const person = {
      name: "Ada Lovelace",
      email: "ada@example.com",
      concludedAt: "2026-12-20T10:00:00Z",
      receivedAt: "2026-12-31T23:30:00Z",
    };
    const format = (options: Intl.DateTimeFormatOptions, at: string) =>
      new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(new Date(at));
    const written = [
      { about: { plan: "starter", interval: "year" }, names: plans.starter.name },
      { about: { variant: "pack", credits: 250 }, names: "250" },
    ].map(({ about, names }) => {
      const parameters = { ...person, ...about, amountCents: 1327 } as Record<string, string | number>;
      const { text } = renderMail(product.config, { template: "withdrawal-received", language, parameters });
      const money = new Intl.NumberFormat(language, { style: "currency", currency: "USD" }).format(13.27);
      for (const part of [names, person.name, person.email, money, format({ dateStyle: "long" }, person.concludedAt)])
        expect(text).toContain(part);
      expect(text).toContain(format({ hour: "2-digit", minute: "2-digit" }, person.receivedAt));
      expect(text).not.toMatch(/\{\{|undefined|billed|withdrawal-received/);
      return text;
    });
    expect(written[0]).not.toContain("250");
  },
);
