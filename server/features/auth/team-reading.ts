/** Limits how many answers of people a team member reads. */
import { DomainError } from "#domain/errors.ts";
import type { Trx } from "../../db/transaction.ts";
import { takeAttempt } from "./attempts.ts";

/** Throws `too_many_attempts` with retryAfterSeconds. */
export async function countReading(trx: Trx, clerkId: string): Promise<void> {
  const retryAfterSeconds = await takeAttempt(trx, `team-reading:${clerkId}`, new Date());
  if (retryAfterSeconds !== null)
    throw new DomainError("too_many_attempts", "You have read many answers in a short time. Wait a while", { retryAfterSeconds });
}
