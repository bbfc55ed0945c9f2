/** Limits messages, because anybody may enter any address and we mail it an acknowledgement, and the team's answers. Uses wall time. */
import { DomainError } from "#domain/errors.ts";
import { mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { clientNetwork, clientSite } from "../../http/client-network.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { networkKeys, takeAttempt } from "../attempts/service.ts";

interface Writer {
  ip: string;
  /** The mailbox that the message names, which gets the acknowledgement. */
  email: string;
  /** The account of somebody who is signed in and names their own address. */
  ownAccount: string | undefined;
}

/**
 * Counts one message, for its network and for the mailbox it names. A stranger may have typed that mailbox, so it is counted for each
 * network by itself, and an owner who is signed in is counted by their account instead. Throws `too_many_attempts` with retryAfterSeconds.
 */
export async function countMessage(trx: Trx, { ip, email, ownAccount }: Writer): Promise<void> {
  const now = new Date();
  const network = clientNetwork(ip);
  const own: AttemptKey =
    ownAccount === undefined ? `contact-mail:${clientSite(network) ?? network} ${mailboxKey(email)}` : `contact-account:${ownAccount}`;
  // Always in this order, so that two messages at once can't wait for each other.
  for (const key of [...networkKeys("contact-address", network), own]) {
    const retryAfterSeconds = await takeAttempt(trx, key, now);
    if (retryAfterSeconds === null) continue;
    throw new DomainError("too_many_attempts", "Several messages came in a short time. Wait a while, then send this one again", {
      retryAfterSeconds,
    });
  }
}

/** False: too many messages came in the last minute, from everybody together, so this one is not mailed. It is in the inbox. */
export async function mayMailMessage(trx: Trx): Promise<boolean> {
  return (await takeAttempt(trx, "contact-mails:all", new Date())) === null;
}

/** False: the mailbox has had its share of acknowledgements, whoever asked for them. */
export async function mayAcknowledge(trx: Trx, { email, ownAccount }: Writer): Promise<boolean> {
  return ownAccount !== undefined || (await takeAttempt(trx, `contact-mailbox:${mailboxKey(email)}`, new Date())) === null;
}

/** Counts one answer of a team member's. Throws `too_many_attempts` with retryAfterSeconds. */
export async function countAnswer(trx: Trx, clerkId: string): Promise<void> {
  const retryAfterSeconds = await takeAttempt(trx, `contact-answer:${clerkId}`, new Date());
  if (retryAfterSeconds !== null)
    throw new DomainError("too_many_attempts", "You have sent many answers in a short time. Wait a while", { retryAfterSeconds });
}
