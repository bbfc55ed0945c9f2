/** A mail is a row, written in the transaction of the event it reports. The worker renders and sends it. Each event is reported once. */
import type { Selectable } from "kysely";
import { dayMs } from "#domain/clock.ts";
import { PermanentFailure } from "#domain/errors.ts";
import { keptMs } from "#domain/kept-periods.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Mails } from "../../db/types-work.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import { faultPoint } from "../../fault-points.ts";
import { DeferredMailError } from "../../providers/mail.ts";
import { takeLease } from "../../queue/leases.ts";
import { enqueue } from "../../queue/outbox.ts";
import { isDeclined, unsubscribeToken } from "./choices.ts";
import * as queries from "./queries.ts";
import { renderMail } from "./render.ts";
import type { MailParameters, MailTemplate } from "./templates.ts";

export interface MailRequest<Template extends MailTemplate> {
  /** The event that the mail reports, for example `started:{subscription}`. The same key again sends nothing. */
  key: string;
  userId: string | null;
  recipient: string;
  template: Template;
  language: string;
  parameters: MailParameters[Template];
}

/**
 * Writes the mail and the job that sends it, in the caller's transaction. `now` is business time. Returns whether it is new. Writes nothing if
 * the person switched mails of this kind off.
 */
export async function queueMail<Template extends MailTemplate>(trx: Trx, mail: MailRequest<Template>, now: Date): Promise<boolean> {
  if (await isDeclined(trx, mail)) return false;
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

type MailDeps = Pick<Deps, "db" | "mail" | "config" | "clock">;

/** The lease is renewed while a mail is being sent, however long its server takes. If a worker dies, another one sends the mail after this time. */
const usualLeaseMs = 15_000;
/** A server that answers "later" is asked again for this long (RFC 5321 §4.5.4.1: at least four to five days). */
const deferredForMs = 5 * dayMs;

async function deliver(deps: MailDeps, mail: Selectable<Mails>): Promise<void> {
  const age = deps.clock.now().getTime() - mail.created_at.getTime();
  if (age >= keptMs.mailBodies) throw new PermanentFailure("the mail is older than what it said is kept");
  const token = await unsubscribeToken(deps.db, deps.config, { ...mail, userId: mail.user_id });
  const rendered = renderMail(deps.config, mail, token);
  const idOf = (mailId: string) => `${mailId}@${deps.config.publicUrl.hostname}`;
  const { inReplyTo } = mail.parameters;
  const ids = { messageId: idOf(mail.id), inReplyTo: inReplyTo === undefined ? undefined : idOf(String(inReplyTo)) };
  try {
    await deps.mail.send({ ...rendered, ...ids, to: mail.recipient });
  } catch (error) {
    if (!(error instanceof DeferredMailError) || age < deferredForMs) throw error;
    throw new PermanentFailure("the receiving server has put the mail off for too long", { cause: error });
  }
}

/**
 * Sends a queued mail; does nothing if it was sent already. The worker takes a lease on the mail, sends it outside of any transaction,
 * and notes then that it was sent. If the worker dies in between, or PostgreSQL can't be reached for that note, the mail is sent
 * again under the same Message-ID, by which a mailbox shows it once. Throws TakenElsewhere while another worker sends it, and
 * what Mailer.send throws.
 */
export async function sendMail(deps: MailDeps, mailId: string, leaseMs: number = usualLeaseMs): Promise<void> {
  const lease = await takeLease(deps.db, { table: "mails", key: mailId }, leaseMs);
  // Read it only after we have the lease, because another worker may just have sent it.
  const mail = await queries.selectUnsent(deps.db, mailId);
  if (!mail) return lease?.end();
  if (!lease) throw new TakenElsewhere("another worker is sending this mail");
  try {
    await lease.whileHeld(() => deliver(deps, mail));
  } catch (error) {
    // It was not sent. We give the lease back, so that the next try need not wait.
    await lease.end().catch(() => {});
    throw error;
  }
  faultPoint("mail-sent");
  await queries.markSent(deps.db, mailId, deps.clock.now());
}
