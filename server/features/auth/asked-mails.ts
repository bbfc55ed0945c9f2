/** Limits the mails that anybody can ask for by typing an address. The response is the same for every address, and takes the same time. */
import { setTimeout as delay } from "node:timers/promises";
import { mailboxKey } from "#domain/rules.ts";
import type { Trx } from "../../db/transaction.ts";
import { clientSite } from "../../http/client-network.ts";
import type { AttemptKey } from "../attempts/service.ts";
import { networkKeys, takeAttempt } from "../attempts/service.ts";
import type { Caller } from "./callers.ts";

/** Much longer than our writes take, so that the response time does not reveal how much we wrote. */
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
 * Returns false if the mailbox has had its share of mails. The caller then sends none and responds as usual, because a response must not
 * reveal anything about an address. A network reaches its own limit before the limit for all networks, so that the mailbox's owner can
 * still ask from another network.
 */
export async function mayMail(trx: Trx, email: string, { network }: Caller): Promise<boolean> {
  const mailbox = mailboxKey(email);
  const ofNetwork = await takeAttempt(trx, `mail:${clientSite(network) ?? network} ${mailbox}`, new Date());
  return ofNetwork === null && (await takeAttempt(trx, `mailbox:${mailbox}`, new Date())) === null;
}
