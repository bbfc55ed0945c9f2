/** How many jobs a worker runs at once, and how many PostgreSQL connections it needs for all that it does at once. */
import type { JobKind } from "#server/queue/jobs.ts";
import { sweepsAtOnce } from "./schedules.ts";

/** Each kind has its own slots, so that jobs which wait for Stripe never take the slots of mail jobs, and the other way round. */
export const slots: Readonly<Record<JobKind, number>> = { stripe: 4, mail: 2, files: 1, invoices: 1, exports: 1 };

/**
 * One for the relay, one more for the books, whose two parts are checked at the same time, and three for clips: many run at once, but their
 * statements are short and far apart.
 */
const besidesJobsAndSweeps = 5;

/** Each running job and each running sweep uses one connection at a time. */
export const connectionsNeeded = Object.values(slots).reduce((sum, count) => sum + count) + sweepsAtOnce + besidesJobsAndSweeps;

/** Returns in one line why a worker can't start with a pool of this size, or undefined if it can. */
export function poolFault(databasePoolSize: number): string | undefined {
  if (databasePoolSize >= connectionsNeeded) return undefined;
  return `DATABASE_POOL_SIZE=${databasePoolSize} is too small for a worker: its jobs and sweeps need ${connectionsNeeded} connections`;
}
