/** How much a worker does at once, and the connections to PostgreSQL that takes. */
import type { JobKind } from "#server/queue/jobs.ts";

/** Of each kind its own, so that nobody waits for a slot in which somebody else's provider is waited for. */
export const slots: Readonly<Record<JobKind, number>> = { stripe: 4, mail: 2 };

/** One at a time for each job, and some for the relay and the sweeps: all for short statements and transactions. */
const besidesJobs = 4;
export const connectionsNeeded = slots.stripe + slots.mail + besidesJobs;

/** Why a worker can't start with a pool of this size, in one line; undefined where it can. */
export function poolFault(databasePoolSize: number): string | undefined {
  if (databasePoolSize >= connectionsNeeded) return undefined;
  return `DATABASE_POOL_SIZE=${databasePoolSize} is too small for a worker: its jobs and sweeps need ${connectionsNeeded} connections`;
}
