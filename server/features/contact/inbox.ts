/**
 * What the team does with a message: somebody takes it, says what is to be done, and answers by mail (docs/decisions/0083). Each act locks the
 * message and names the version that the team member saw, so the second of two at once is refused and can look again.
 */
import type { Selectable } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { InboxStatus } from "#domain/inbox.ts";
import { answerFaults, answerLimits, tidyAnswer } from "#domain/inbox.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import type { InboxEvent, InboxPage, NewAnswer } from "../../contract/admin/inbox.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { ContactMessages } from "../../db/types-work.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { queueMail } from "../notifications/service.ts";
import type { Clerk } from "../team/service.ts";
import { isOfTeam } from "../team/service.ts";
import { suggestAnswers } from "./answer-texts.ts";
import * as queries from "./inbox-queries.ts";
import { countAnswer } from "./limits.ts";
import { referenceOf } from "./service.ts";

type InboxDeps = Pick<Deps, "db" | "clock" | "config">;
type Message = Selectable<ContactMessages>;

interface Seen {
  version: number;
  /** Why. Where that is clear the panel fills it in. */
  reason: string;
}

type HistoryRow = Awaited<ReturnType<typeof queries.selectHistory>>[number];

function deliveryOf({ mailed_at: mailedAt, sent_at: sentAt, error }: HistoryRow): NonNullable<InboxEvent["answer"]>["delivery"] {
  if (sentAt !== null) return { state: "sent", at: sentAt.toISOString(), error: null };
  if (error !== null) return { state: "refused", at: null, error };
  return { state: mailedAt === null ? "unknown" : "waiting", at: null, error: null };
}

function showEvent(row: HistoryRow): InboxEvent {
  const { id, at, kind, by, status, owner, subject, body, reason } = row;
  const answer = subject === null || body === null ? null : { subject, text: body, delivery: deliveryOf(row) };
  return { id, at: at.toISOString(), kind, by, status, owner, reason, answer };
}

/** Throws `not_found`. */
export async function readInboxMessage({ db, config }: Pick<Deps, "db" | "config">, messageId: string): Promise<InboxPage> {
  const row = await queries.selectMessage(db, messageId);
  if (!row) throw new DomainError("not_found", "There is no such message");
  const history = await queries.selectHistory(db, messageId);
  const { version, category, status, name, email, subject, message, language } = row;
  const reference = referenceOf(messageId);
  const account =
    row.account_id === null || row.account_email === null
      ? null
      : { userId: row.account_id, email: row.account_email, signedIn: row.user_id !== null };
  return {
    ...{
      id: messageId,
      version,
      reference,
      createdAt: row.created_at.toISOString(),
      category,
      status,
      name,
      email,
      subject,
      message,
      language,
    },
    owner: row.owner_id === null || row.owner === null ? null : { id: row.owner_id, name: row.owner },
    account,
    history: history.map(showEvent),
    suggested: suggestAnswers(config, language, { name, reference }),
  };
}

async function lock(trx: Trx, messageId: string): Promise<Message> {
  const message = await queries.lockMessage(trx, messageId);
  if (!message) throw new DomainError("not_found", "There is no such message");
  return message;
}

function refuseUnseen({ version }: Message, seen: Pick<Seen, "version">): void {
  if (version !== seen.version) throw new DomainError("conflict", "Somebody else has done something with this message meanwhile");
}

/** For the audit log. The history of the message has the same with its texts. */
const actOf = (clerk: Clerk, { user_id: subject }: Message, reason: string) => ({
  ...{ actor: clerk.userId, subject, network: clerk.network, reason },
});

/** Throws `not_found`, `conflict`. */
export async function setStatus(
  deps: InboxDeps,
  clerk: Clerk,
  messageId: string,
  change: Seen & { status: InboxStatus },
): Promise<InboxPage> {
  const { status, reason } = change;
  await inTransaction(deps.db, async (trx) => {
    const message = await lock(trx, messageId);
    refuseUnseen(message, change);
    if (message.status === status) return;
    await queries.updateMessage(trx, messageId, { status });
    await queries.insertEvent(trx, { message_id: messageId, actor_id: clerk.userId, kind: "status", at: deps.clock.now(), status, reason });
    await recordAct(trx, { ...actOf(clerk, message, reason), action: "message.status_set", details: { messageId, status } });
  });
  return readInboxMessage(deps, messageId);
}

/** Throws `not_found`, also for an owner who is not of the team, `conflict`. */
export async function assign(
  deps: InboxDeps,
  clerk: Clerk,
  messageId: string,
  change: Seen & { ownerId: string | null },
): Promise<InboxPage> {
  const { ownerId } = change;
  await inTransaction(deps.db, async (trx) => {
    const message = await lock(trx, messageId);
    refuseUnseen(message, change);
    if (message.owner_id === ownerId) return;
    if (ownerId !== null && !(await isOfTeam(trx, ownerId))) throw new DomainError("not_found", "Nobody of the team has this id");
    await queries.updateMessage(trx, messageId, { owner_id: ownerId });
    await queries.insertEvent(trx, {
      message_id: messageId,
      actor_id: clerk.userId,
      kind: "owner",
      at: deps.clock.now(),
      owner_id: ownerId,
    });
    const to = ownerId === null ? "nobody" : ownerId === clerk.userId ? "self" : "colleague";
    await recordAct(trx, { ...actOf(clerk, message, change.reason), action: "message.assigned", details: { messageId, to } });
  });
  return readInboxMessage(deps, messageId);
}

/** Queues the mail, which the worker sends as any other, and returns its id. */
async function mailAnswer(trx: Trx, message: Message, answer: Pick<NewAnswer, "key" | "subject" | "text">, now: Date): Promise<string> {
  const { id, user_id: userId, email: recipient } = message;
  const key = `contact-answer:${id}:${answer.key}`;
  // The acknowledgement of the message: mailboxes show the answer below it.
  const first = await queries.selectMailId(trx, `contact-received:${id}`);
  const parameters = {
    ...{ topic: answer.subject, message: answer.text, reference: referenceOf(id), receivedAt: message.created_at.toISOString() },
    ...(first !== undefined && { inReplyTo: first }),
  };
  const language = matchLanguage(message.language) ?? fallbackLanguage;
  await queueMail(trx, { key, userId, recipient, language, template: "contact-answer", parameters }, now);
  const mailId = await queries.selectMailId(trx, key);
  if (mailId === undefined) throw new Error("the answer's mail was not written");
  return mailId;
}

/**
 * Mails the team member's answer and keeps it in the history. A message without an owner becomes theirs. The same key with the same answer
 * does nothing more. Throws `not_found`, `conflict`, `validation_failed`, `idempotency_conflict`, `too_many_attempts`.
 */
export async function answer(deps: InboxDeps, clerk: Clerk, messageId: string, given: NewAnswer): Promise<InboxPage> {
  const { key, status } = given;
  const { subject, text } = tidyAnswer(given);
  const faults = answerFaults({ subject, text });
  if (faults.length > 0)
    throw new ValidationError(faults.map((field) => ({ field, message: `Must have 1 to ${answerLimits[`${field}Max`]} characters` })));
  await inTransaction(deps.db, async (trx) => {
    const message = await lock(trx, messageId);
    // Checked before the version, because the first of two clicks has raised the version.
    const earlier = await queries.selectAnswer(trx, messageId, key);
    if (earlier) {
      if (earlier.subject === subject && earlier.body === text) return;
      throw new DomainError("idempotency_conflict", "This key was used for another answer. Send this one under a new key");
    }
    refuseUnseen(message, given);
    await countAnswer(trx, clerk.userId);
    const now = deps.clock.now();
    const mailId = await mailAnswer(trx, message, { key, subject, text }, now);
    await queries.updateMessage(trx, messageId, { status, ...(message.owner_id === null && { owner_id: clerk.userId }) });
    const said = { key, subject, body: text, mail_id: mailId, status };
    await queries.insertEvent(trx, { message_id: messageId, actor_id: clerk.userId, kind: "answered", at: now, ...said });
    await recordAct(trx, { ...actOf(clerk, message, given.reason), action: "message.answered", details: { messageId, status } });
  });
  return readInboxMessage(deps, messageId);
}
