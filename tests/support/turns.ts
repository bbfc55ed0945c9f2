/**
 * Expensive tests that take turns: `npm test` runs some of each row a day, `npm run test:full` all. In each row those of one day cost about
 * as much as those of the next. What they all depend on is tested every day: the same rules without a browser, or the same screens without
 * a server.
 */
import { daily, full } from "./full.ts";

interface Row {
  names: readonly string[];
  /** How many have their turn on the same day. */
  aDay: number;
}

const rows = {
  media: { names: ["pictures", "clips", "sounds", "search"], aDay: 1 },
  waysIn: { names: ["passkeys", "two-step", "google", "email-change"], aDay: 1 },
  screensOfWaysIn: { names: ["google", "email-change", "passkeys", "two-step"], aDay: 2 },
  accessible: { names: ["visitor", "subscriber"], aDay: 1 },
  hostile: { names: ["titles", "files", "support", "panel", "account", "growing"], aDay: 2 },
  queued: { names: ["two tabs", "lost response", "reload", "server away"], aDay: 2 },
  workers: { names: ["policy", "refused", "support"], aDay: 1 },
} as const satisfies Record<string, Row>;

type RowName = keyof typeof rows;

/** Whether today is the turn of `name`. */
export function hasTurn<Name extends RowName>(row: Name, name: (typeof rows)[Name]["names"][number]): boolean {
  const { names, aDay } = rows[row];
  return daily<string>(names, aDay).includes(name);
}

/**
 * The test files that take longest; `npm test` runs one row of them a day. Each goes one way through the product. What they depend on is
 * tested every day by the files that are not here: a person's first day from sign-up to renewal, answers and accessibility in the browser,
 * every rule on the server, `npm start`, the migrations, and the sweeps of a worker.
 */
const files = [
  [
    ...["e2e/feedback", "e2e/admin", "e2e/doctor", "e2e/guide-prompt", "e2e/branches", "e2e/frame"],
    ...["faults/main-job", "client/sleeping-content", "client/own-data-states", "client/invoices-states"],
    ...["worker/kinds", "client/passkeys-states", "client/device"],
  ],
  [
    ...["e2e/update", "e2e/admin-needs", "e2e/hostile-texts", "e2e/consent", "e2e/packs"],
    ...["faults/postgres", "faults/contact", "worker/dead-letters", "client/usage-states", "client/unpaid-states", "client/order-states"],
    ...["client/model-ends", "client/withdrawal-states", "client/roi-query"],
  ],
  [
    ...["e2e/contact-form", "e2e/offline", "e2e/inbox", "e2e/attachments"],
    ...["faults/redis", "faults/frozen", "faults/auth-flood", "client/security-states", "client/reading", "client/plan-change-states"],
    ...["sandbox/stripe-delivery", "client/hostile-addresses", "client/two-step-states"],
  ],
  [
    ...["e2e/trial", "e2e/content-security", "e2e/prerender", "e2e/mailed-link", "e2e/five-tabs", "e2e/install"],
    ...["faults/rolling-restart", "worker/shutdown", "worker/shutdown-silent-stripe", "client/person-states", "client/layout"],
    ...["worker/jobs", "client/frame-visitor", "client/admin-acts"],
  ],
] as const;

/** The test files that are not run today, unless they are named on the command line. */
export function filesAtRest(isFull: boolean, named: readonly string[]): string[] {
  if (full || isFull) return [];
  const [today = []] = daily(files);
  return files
    .flatMap((row) => (row === today ? [] : row.map((file) => `tests/${file}.test.ts`)))
    .filter((file) => !named.some((part) => !part.startsWith("-") && file.includes(part)));
}
