import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Email } from "postal-mime";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { languages } from "#domain/languages.ts";
import { plans } from "#domain/plans.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { MailRequest } from "#server/features/notifications/service.ts";
import { queueMail, sendMail } from "#server/features/notifications/service.ts";
import type { MailTemplate } from "#server/features/notifications/templates.ts";
import { mailTemplates } from "#server/features/notifications/templates.ts";
import { createMailer, PermanentMailError } from "#server/providers/mail.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

/** A real SMTP server that keeps what it takes and refuses recipients by name. */
const received: Email[] = [];
let refuseWith: number | undefined;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  onRcptTo(_address, _session, done) {
    done(refuseWith === undefined ? null : Object.assign(new Error("refused"), { responseCode: refuseWith }));
  },
  onData(stream, _session, done) {
    void buffer(stream)
      .then((raw) => PostalMime.parse(raw))
      .then((mail) => received.push(mail))
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
});

async function queue<T extends MailTemplate>(
  mail: Pick<MailRequest<T>, "template" | "parameters" | "language">,
  key: string = randomUUID(),
) {
  await inTransaction(product.db, (trx) => queueMail(trx, { ...mail, key, userId: null, recipient: "reader@example.com" }, new Date()));
  return product.db.selectFrom("mails").selectAll().where("key", "=", key).executeTakeFirstOrThrow();
}
const exists = { template: "account-exists", parameters: {}, language: "en" } as const;

test("one fact queues one mail and one job, however often it is told", async () => {
  const key = `started:${randomUUID()}`;
  const first = await queue(exists, key);
  expect((await queue(exists, key)).id).toBe(first.id);
  const jobs = await product.db.selectFrom("outbox").select(["job", "payload"]).execute();
  expect(jobs.filter((job) => JSON.stringify(job.payload).includes(first.id))).toEqual([
    { job: "send-mail", payload: { mailId: first.id } },
  ]);
});

test("a mail is sent once, also when its job runs several times at once, under an id that stays the same", async () => {
  const mail = await queue(exists);
  await Promise.all(Array.from({ length: 4 }, () => sendMail(product.deps, mail.id)));
  await sendMail(product.deps, mail.id);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ messageId: `<${mail.id}@tessera.test>`, to: [{ address: "reader@example.com" }] });
  // As if the worker had ended between sending and marking.
  await product.db.updateTable("mails").set({ sent_at: null }).where("id", "=", mail.id).execute();
  await sendMail(product.deps, mail.id);
  expect(received[1]?.messageId).toBe(received[0]?.messageId);
  await sendMail(product.deps, randomUUID());
  expect(received).toHaveLength(2);
});

test("a recipient refused for now may be tried again and then arrives; one refused for good is final", async () => {
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

test("a mail server that is away is a fault that may be tried again", async () => {
  const away = createMailer({ ...product.config.mail, smtpUrl: "smtp://127.0.0.1:1" });
  const outgoing = { messageId: "a@b", to: "reader@example.com", subject: "s", text: "t", html: "<p>t</p>", language: "en" };
  const error = await away.send(outgoing).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(PermanentMailError);
  await away.close();
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
  const answer = await product.post("/api/auth/confirm", { token: link.searchParams.get("confirm") });
  expect(answer.json()).toMatchObject({ user: { email: "linked@example.com" } });
});

test.each(languages.map((language) => language.code))(
  "mails in %s: every plan and template rendered, nothing left unfilled",
  (language) => {
    for (const template of mailTemplates) {
      for (const plan of Object.values(plans)) {
        const parameters = {
          linkId: randomUUID(),
          plan: plan.key,
          credits: plan.monthlyCredits,
          renewsAt: "2026-12-31T23:30:00Z",
          name: "Ada",
          email: "ada@example.com",
          category: "support",
          topic: "A question",
          message: "How many?",
          senderLanguage: "ja",
        };
        const mail = renderMail(product.config, { template, language, parameters });
        const all = `${mail.subject}\n${mail.text}\n${mail.html}`;
        expect(all).not.toMatch(
          /\{\{|undefined|NaN|Invalid|confirm-email|account-exists|subscription-started|payment-failed|contact-(message|received)/,
        );
        expect(mail.html).toContain(`<html lang="${language}">`);
        if (template !== "subscription-started") continue;
        expect(all).toContain(plan.name);
        expect(all).toContain(new Intl.NumberFormat(language).format(plan.monthlyCredits));
        expect(all).toContain(new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(new Date("2026-12-31")));
      }
    }
  },
);
