/** Messages to the team. Each is stored first; then the worker mails it to the team and an acknowledgement to the sender. */
import { createHash } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { ContactInput, ContactText } from "#domain/contact.ts";
import { contactFaults, sanitizeContact } from "#domain/contact.ts";
import { DomainError } from "#domain/errors.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { queueMail } from "../notifications/service.ts";
import { countMessage, mayAcknowledge, mayMailMessage } from "./limits.ts";
import * as queries from "./queries.ts";

/** The language the team reads. */
const teamLanguage: LanguageCode = fallbackLanguage;

type ContactDeps = Pick<Deps, "config" | "db" | "clock">;

export interface Letter extends ContactInput {
  /** A trap for robots (contract/contact.ts). */
  website?: string | undefined;
  language?: string | undefined;
}

export interface Sender {
  ip: string;
  userId: string | undefined;
  /** The languages its browser asks for, best first. */
  acceptedLanguages: readonly string[];
}

/** How people name a message: the random end of its id, which is short enough to be read out on the phone. */
export function referenceOf(messageId: string): string {
  return messageId.slice(-12);
}

function hashOf({ name, email, category, subject, message }: ContactText): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([name, email, category, subject, message]))
    .digest();
}

async function languageOf(trx: Trx, letter: Letter, sender: Sender): Promise<LanguageCode> {
  const own = sender.userId === undefined ? undefined : await queries.selectLanguage(trx, sender.userId);
  for (const tag of [letter.language, own, ...sender.acceptedLanguages]) {
    const language = matchLanguage(tag);
    if (language) return language;
  }
  return fallbackLanguage;
}

/**
 * The acknowledgement contains nothing that the sender wrote, because it goes to any address they typed. Otherwise somebody could use
 * us to mail their own words to others.
 */
async function queueMails(
  trx: Trx,
  deps: ContactDeps,
  { id, text, language, userId }: { id: string; text: ContactText; language: LanguageCode; userId: string | null },
  acknowledges: () => Promise<boolean>,
): Promise<void> {
  const { name, email, category, subject, message } = text;
  const now = deps.clock.now();
  const toTeam = { key: `contact-message:${id}`, userId: null, recipient: deps.config.contactEmail, language: teamLanguage };
  const reference = referenceOf(id);
  const parameters = { name, email, category, topic: subject ?? name, message, senderLanguage: language, reference };
  await queueMail(trx, { ...toTeam, template: "contact-message", parameters }, now);
  if (!(await acknowledges())) return;
  const toSender = { key: `contact-received:${id}`, userId, recipient: email, language };
  await queueMail(trx, { ...toSender, template: "contact-received", parameters: { reference, receivedAt: now.toISOString() } }, now);
}

async function receive(trx: Trx, deps: ContactDeps, letter: Letter, sender: Sender, idempotencyKey: string): Promise<string> {
  const text = sanitizeContact(letter);
  const contentHash = hashOf(text);
  const language = await languageOf(trx, letter, sender);
  const userId = sender.userId ?? null;
  const id = await queries.insertMessage(trx, {
    ...text,
    idempotency_key: idempotencyKey,
    content_hash: contentHash,
    user_id: userId,
    language,
    created_at: deps.clock.now(),
  });
  if (id === undefined) {
    const earlier = await queries.findMessage(trx, idempotencyKey);
    if (earlier?.content_hash.equals(contentHash)) return earlier.id;
    throw new DomainError("idempotency_conflict", "This key was used for another message. Send this one under a new key");
  }
  // Only new messages count. A device may send a message again that has already arrived, and we never refuse that.
  const isOwn = userId !== null && (await queries.isOwnAddress(trx, userId, text.email));
  const writer = { ip: sender.ip, email: text.email, ownAccount: isOwn ? userId : undefined };
  await countMessage(trx, writer);
  if (await mayMailMessage(trx)) await queueMails(trx, deps, { id, text, language, userId }, () => mayAcknowledge(trx, writer));
  return id;
}

/**
 * Stores a message and returns its id. The same key again stores nothing and returns the same id. Throws `validation_failed` with the
 * messages of spec §5, `idempotency_conflict`, `too_many_attempts` with retryAfterSeconds.
 */
export async function receiveMessage(deps: ContactDeps, letter: Letter, sender: Sender, idempotencyKey = uuidv7()): Promise<string> {
  const faults = contactFaults(letter);
  if (faults.length > 0) throw new ValidationError(faults.map(({ field, message }) => ({ field, message })));
  // We answer as usual, so that a robot does not learn that it was recognised.
  if (letter.website?.trim()) return uuidv7();
  return inTransaction(deps.db, (trx) => receive(trx, deps, letter, sender, idempotencyKey));
}
