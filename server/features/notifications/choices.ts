/**
 * Which optional mails a person wants. A kind of mail can be switched off without signing in: by the link in the mail, or by the mail program
 * (List-Unsubscribe, RFC 8058). The link's token is signed for one person and one kind, so it can do nothing else. It never expires.
 */
import { DomainError } from "#domain/errors.ts";
import type { OptionalMailKind } from "#domain/notifications.ts";
import { isOptionalMailKind, optionalKindOf, optionalMailKinds } from "#domain/notifications.ts";
import type { MailChoices } from "../../contract/notifications.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import type { KeyHolder } from "../../http/secret-keys.ts";
import { decodeUuid, encodeUuid, isSignatureOf, signText } from "../../http/secret-keys.ts";
import * as queries from "./queries.ts";

/** The fields of a mail that decide whether its recipient can switch it off. */
interface Addressed {
  template: string;
  userId: string | null;
  recipient: string;
}

/** A person and a kind of mail that they can switch off. */
interface Choice {
  userId: string;
  kind: OptionalMailKind;
}

/**
 * Returns who can switch off mails like this one; undefined if it is always sent. A mail to an address that is not the person's own, such
 * as one typed into a form, is always sent.
 */
async function choiceOf(executor: Executor, { template, userId, recipient }: Addressed): Promise<Choice | undefined> {
  const kind = optionalKindOf(template);
  if (kind === undefined || userId === null) return undefined;
  return (await queries.isOwnAddress(executor, userId, recipient)) ? { userId, kind } : undefined;
}

/** Whether the person switched this mail's kind off. */
export async function isDeclined(executor: Executor, mail: Addressed): Promise<boolean> {
  const choice = await choiceOf(executor, mail);
  return choice !== undefined && (await queries.selectDeclined(executor, choice.userId)).includes(choice.kind);
}

export async function readChoices(executor: Executor, userId: string): Promise<MailChoices> {
  const declined = await queries.selectDeclined(executor, userId);
  return { mails: optionalMailKinds.map((kind) => ({ kind, wanted: !declined.includes(kind) })) };
}

/** Throws `validation_failed` if mails of this kind can't be switched off. */
export async function choose(
  executor: Executor,
  userId: string,
  { kind, wanted }: { kind: string; wanted: boolean },
): Promise<MailChoices> {
  if (!isOptionalMailKind(kind)) throw new ValidationError([{ field: "kind", message: "These mails can't be switched off" }]);
  await queries.updateDeclined(executor, userId, kind, wanted);
  return readChoices(executor, userId);
}

function signedText(userId: string, kind: string): string {
  return `${userId}:${kind}`;
}

/** Returns undefined for a mail that is always sent. */
export async function unsubscribeToken(executor: Executor, config: KeyHolder, mail: Addressed): Promise<string | undefined> {
  const choice = await choiceOf(executor, mail);
  if (!choice) return undefined;
  const { userId, kind } = choice;
  return `${encodeUuid(userId)}.${kind}.${signText(config, "unsubscribe", signedText(userId, kind))}`;
}

/** Switches the token's kind off for its person. Throws `link_invalid`. */
export async function unsubscribe({ config, db }: Pick<Deps, "config" | "db">, token: string): Promise<{ kind: string }> {
  const [head = "", kind = "", signature = "", ...rest] = token.split(".");
  const userId = decodeUuid(head);
  const isOurs = userId !== undefined && rest.length === 0 && isSignatureOf(config, "unsubscribe", signedText(userId, kind), signature);
  // A kind that is always sent now may once have been optional.
  if (!isOurs || !isOptionalMailKind(kind)) throw new DomainError("link_invalid", "This link is not valid");
  await queries.updateDeclined(db, userId, kind, false);
  return { kind };
}
