/**
 * Receipts, contracts and other mails about money, which the team sends a person again unchanged. Mails whose link proves who somebody is are not
 * among them: a person who asks for one of those gets a new link.
 */
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { countTeamMail } from "../team/limits.ts";
import type { Clerk } from "../team/service.ts";
import * as queries from "./queries.ts";
import { queueMail } from "./service.ts";
import type { MailTemplate } from "./templates.ts";

const documents: readonly MailTemplate[] = [
  "subscription-started",
  "pack-bought",
  "payment-recovered",
  "plan-renewed",
  "plan-ended",
  "plan-cancelled",
  "transfer-offer",
  "transfer-invoice",
  "transfer-overdue",
  "transfer-lapsed",
  "payment-refunded",
  "withdrawal-received",
  "export-ready",
];

interface Kept {
  template: string;
  parameters: Readonly<Record<string, string | number>>;
}

/** The template, if such a mail may be sent again and what it said is still kept (keptMs.mailBodies). */
function documentOf({ template, parameters }: Kept): MailTemplate | undefined {
  return Object.keys(parameters).length > 0 ? documents.find((each) => each === template) : undefined;
}

export function canResend(mail: Kept): boolean {
  return documentOf(mail) !== undefined;
}

async function readKept(executor: Executor, userId: string, mailId: string, now: Date) {
  const mail = await queries.selectMailOf(executor, userId, mailId);
  if (!mail) throw new DomainError("not_found", "There is no such mail");
  const template = documentOf(mail);
  const { expiresAt } = mail.parameters;
  const isOver = expiresAt !== undefined && new Date(expiresAt) <= now;
  if (template === undefined || isOver) throw new DomainError("conflict", "What this mail says is not kept any more, or its time is over");
  return { template, parameters: mail.parameters };
}

/**
 * Sends the mail again, once for a key, to the address that the person has now, in their language. Throws `not_found`, `conflict` if it can't be
 * sent any more, and `too_many_attempts`.
 */
export async function resendMail(
  { db, clock }: Pick<Deps, "db" | "clock">,
  clerk: Clerk,
  { userId, mailId, key, reason }: { userId: string; mailId: string; key: string; reason: string },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const now = clock.now();
    const { template, parameters } = await readKept(trx, userId, mailId, now);
    const to = await queries.selectAddress(trx, userId);
    if (!to) throw new DomainError("not_found", "There is no such account");
    // The row has this template, so its parameters fit.
    const mail = { key: `again:${mailId}:${key}`, userId, ...to, template, parameters: parameters as never };
    if (!(await queueMail(trx, mail, now))) return;
    await countTeamMail(trx, clerk.userId, userId);
    const act = { actor: clerk.userId, subject: userId, network: clerk.network, reason };
    await recordAct(trx, { ...act, action: "mail.sent_again", details: { template } });
  });
}
