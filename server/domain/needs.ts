/** What waits for a team member, and for how long it may be put off (docs/decisions/0111). */
import { addMilliseconds, dayMs } from "./clock.ts";

/** The lists that the panel shows. */
export const needKinds = [
  "findings",
  "deadLetters",
  "failedPayments",
  "disputes",
  "holds",
  "unanswered",
  "refusedMails",
  "transfers",
  "models",
] as const;
export type NeedKind = (typeof needKinds)[number];

/** An entry can be put off for at most this many days. */
export const mostPutOffDays = 30;
/** At most this many entries are put off at the same time. */
export const mostPutOff = 200;

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** The first and last day in UTC until which an entry may be put off, not beyond the day on which it is due. Undefined if there is none. */
export function putOffDays(now: Date, dueAt: string | null): { first: string; last: string } | undefined {
  const first = dayOf(addMilliseconds(now, dayMs));
  const latest = dayOf(addMilliseconds(now, mostPutOffDays * dayMs));
  const last = dueAt !== null && dueAt.slice(0, 10) < latest ? dueAt.slice(0, 10) : latest;
  return last < first ? undefined : { first, last };
}
