/** Limits how often somebody may write, because anybody may enter any address and we mail an acknowledgement to it, and how many answers a clerk mails. Uses wall time. */
import { DomainError } from "#domain/errors.ts";
import { mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { networkKeys, takeAttempt } from "../auth/attempts.ts";

/** Counts one message for the address it comes from and the mailbox it names. Throws `too_many_attempts` with retryAfterSeconds. */
export async function countMessage(trx: Trx, ip: string, email: string): Promise<void> {
  const now = new Date();
  // Always in this order, so that two messages at once can't wait for each other.
  for (const key of [...networkKeys("contact-address", clientNetwork(ip)), `contact-mail:${mailboxKey(email)}` as const]) {
    const retryAfterSeconds = await takeAttempt(trx, key, now);
    if (retryAfterSeconds === null) continue;
    throw new DomainError("too_many_attempts", "Several messages came in a short time. Wait a while, then send this one again", {
      retryAfterSeconds,
    });
  }
}

/** Counts one answer of a clerk's. Throws `too_many_attempts` with retryAfterSeconds. */
export async function countAnswer(trx: Trx, clerkId: string): Promise<void> {
  const retryAfterSeconds = await takeAttempt(trx, `contact-answer:${clerkId}`, new Date());
  if (retryAfterSeconds !== null)
    throw new DomainError("too_many_attempts", "You have sent many answers in a short time. Wait a while", { retryAfterSeconds });
}
