/** Limits how many mails the team sends people again, and how many of their answers it reads. */
import { DomainError } from "#domain/errors.ts";
import type { Trx } from "../../db/transaction.ts";
import { takeAttempt } from "../attempts/service.ts";

/** Counts the mails that this team member sends and those that this person gets. Throws `too_many_attempts` with retryAfterSeconds. */
export async function countTeamMail(trx: Trx, clerkId: string, to: string): Promise<void> {
  const now = new Date();
  for (const key of [`team-mails:${clerkId}`, `team-mails-to:${to}`] as const) {
    const retryAfterSeconds = await takeAttempt(trx, key, now);
    if (retryAfterSeconds !== null)
      throw new DomainError("too_many_attempts", "Many mails went out like this in a short time. Wait a while", { retryAfterSeconds });
  }
}

/** Counts the answers of people that this team member reads. Throws `too_many_attempts` with retryAfterSeconds. */
export async function countReading(trx: Trx, clerkId: string): Promise<void> {
  const retryAfterSeconds = await takeAttempt(trx, `team-reading:${clerkId}`, new Date());
  if (retryAfterSeconds !== null)
    throw new DomainError("too_many_attempts", "You have read many answers in a short time. Wait a while", { retryAfterSeconds });
}
