/** Mails that are asked for by typing an address: limited, and answered the same for every address after the same time. */
import { setTimeout as delay } from "node:timers/promises";
import { mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { clientSite } from "../../http/client-network.ts";
import type { AttemptKey } from "./attempts.ts";
import { networkKeys, takeAttempt } from "./attempts.ts";
import type { Caller } from "./callers.ts";

/** Far above what writing takes, so that an answer's time does not tell how much there was to write. */
const evenAnswerMs = 60;

export async function inEvenTime<T>(work: Promise<T>): Promise<T> {
  const [result] = await Promise.all([work, delay(evenAnswerMs)]);
  return result;
}

/** The keys under which a request for a mail is counted, before any work is done for it. */
export function mailKeys({ network }: Caller): AttemptKey[] {
  return [...networkKeys("mail-address", network), "mails:all"];
}

/**
 * A mailbox that had its mails gets no more for a while, and nobody is told: the answer says nothing about an address. What one
 * network asks for is refused before it takes from what there is for all, so that its owner still gets one elsewhere.
 */
export async function mayMail(trx: Trx, email: string, { network }: Caller): Promise<boolean> {
  const mailbox = mailboxKey(email);
  const ofNetwork = await takeAttempt(trx, `mail:${clientSite(network) ?? network} ${mailbox}`, new Date());
  return ofNetwork === null && (await takeAttempt(trx, `mailbox:${mailbox}`, new Date())) === null;
}
