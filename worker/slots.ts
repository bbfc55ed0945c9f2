/** How many jobs a worker runs at once, and how many PostgreSQL connections it needs for that. */
import type { JobKind } from "#server/queue/jobs.ts";

/** Each kind has its own slots, so that jobs which wait for Stripe never take the slots of mail jobs, and the other way round. */
export const slots: Readonly<Record<JobKind, number>> = { stripe: 4, mail: 2, files: 1 };

/**
 * Each running job uses one connection at a time. These are for the relay and the sweeps, which run only short statements and
 * transactions.
 */
const besidesJobs = 4;
export const connectionsNeeded = slots.stripe + slots.mail + slots.files + besidesJobs;

/** Returns in one line why a worker can't start with a pool of this size, or undefined if it can. */
export function poolFault(databasePoolSize: number): string | undefined {
  if (databasePoolSize >= connectionsNeeded) return undefined;
  return `DATABASE_POOL_SIZE=${databasePoolSize} is too small for a worker: its jobs and sweeps need ${connectionsNeeded} connections`;
}
