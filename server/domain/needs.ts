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

/** Nothing is out of sight for longer. */
export const mostPutOffDays = 30;
/** So many entries at a time. Who puts off more than that needs another tool than this. */
export const mostPutOff = 200;

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** The first and the last day in UTC until which it may be put off: before it is due, if it has to be done by a time. Undefined: there is none. */
export function putOffDays(now: Date, dueAt: string | null): { first: string; last: string } | undefined {
  const first = dayOf(addMilliseconds(now, dayMs));
  const latest = dayOf(addMilliseconds(now, mostPutOffDays * dayMs));
  const last = dueAt !== null && dueAt.slice(0, 10) < latest ? dueAt.slice(0, 10) : latest;
  return last < first ? undefined : { first, last };
}
