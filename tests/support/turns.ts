/**
 * Walks and faults that cost much and take turns: `npm test` has some of each row a day, `npm run test:full` all. In each row those of one
 * day cost as much as those of the next, and what all of them rest on is tested every day: the same rules without a browser, or the same
 * screens without a server.
 */
import { daily } from "./full.ts";

interface Row {
  names: readonly string[];
  /** The first so many have their turn together, then the next. */
  aDay: number;
}

const rows = {
  media: { names: ["pictures", "clips", "sounds", "search"], aDay: 1 },
  waysIn: { names: ["passkeys", "two-step", "google", "email-change"], aDay: 2 },
  screensOfWaysIn: { names: ["google", "email-change", "passkeys", "two-step"], aDay: 2 },
  tabs: { names: ["five-tabs", "install"], aDay: 1 },
  accessible: { names: ["visitor", "subscriber"], aDay: 1 },
  hostile: { names: ["titles", "support", "account", "growing"], aDay: 2 },
  queued: { names: ["two tabs", "lost response", "reload", "server away"], aDay: 2 },
  workers: { names: ["policy", "refused", "support"], aDay: 1 },
  processes: { names: ["rolling restart", "shutdown", "composed"], aDay: 2 },
} as const satisfies Record<string, Row>;

type RowName = keyof typeof rows;

/** Whether today is the turn of `name`. */
export function hasTurn<Name extends RowName>(row: Name, name: (typeof rows)[Name]["names"][number]): boolean {
  const { names, aDay } = rows[row];
  return daily<string>(names, aDay).includes(name);
}
