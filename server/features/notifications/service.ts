/** Mail is a row first, written with the fact it tells of; the worker renders and sends it. One fact, one mail. */
import { inTransaction, type Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { faultPoint } from "../../fault-points.ts";
import { enqueue } from "../../queue/outbox.ts";
import * as queries from "./queries.ts";
import { renderMail } from "./render.ts";
import type { MailParameters, MailTemplate } from "./templates.ts";

export interface MailRequest<Template extends MailTemplate> {
  /** The fact the mail tells of, e.g. `started:{subscription}`; the same key again sends nothing. */
  key: string;
  userId: string | null;
  recipient: string;
  template: Template;
  language: string;
  parameters: MailParameters[Template];
}

/** Writes the mail and the job that sends it, in the caller's transaction. `now` is business time. Returns whether it is new. */
export async function queueMail<Template extends MailTemplate>(trx: Trx, mail: MailRequest<Template>, now: Date): Promise<boolean> {
  const mailId = await queries.insertMail(trx, {
    key: mail.key,
    user_id: mail.userId,
    recipient: mail.recipient,
    template: mail.template,
    language: mail.language,
    parameters: JSON.stringify(mail.parameters),
    created_at: now,
    sent_at: null,
  });
  if (mailId === undefined) return false;
  await enqueue(trx, "send-mail", { mailId });
  return true;
}

/**
 * Sends a queued mail; sent already, it does nothing. The row stays locked meanwhile, so two workers can't both send it. Ended
 * between sending and marking, it is sent again under the same Message-ID. Throws what Mailer.send throws.
 */
export async function sendMail(deps: Pick<Deps, "db" | "mail" | "config" | "clock">, mailId: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await queries.waitForMailServer(trx);
    const mail = await queries.lockMail(trx, mailId);
    if (!mail || mail.sent_at) return;
    const rendered = renderMail(deps.config, mail);
    const domain = deps.config.publicUrl.hostname;
    await deps.mail.send({ ...rendered, to: mail.recipient, messageId: `${mail.id}@${domain}` });
    faultPoint("mail-sent");
    await queries.markSent(trx, mail.id, deps.clock.now());
  });
}
