/** How much a worker does at once, and the connections to PostgreSQL that takes. */
import type { JobKind } from "#server/queue/jobs.ts";

/** Of each kind its own, so that nobody waits for a slot in which somebody else's provider is waited for. */
export const slots: Readonly<Record<JobKind, number>> = { stripe: 4, mail: 2 };

/** A job of Stripe's keeps a connection for as long as Stripe takes to answer, and so does the sweep that asks Stripe. */
const heldForLong = slots.stripe + 1;
/** Mail, relay, sweeps of our own rows, deletion: short statements. */
const forShortStatements = slots.mail + 3;
export const connectionsNeeded = heldForLong + forShortStatements;

/** Why a worker can't start with a pool of this size, in one line; undefined where it can. */
export function poolFault(databasePoolSize: number): string | undefined {
  if (databasePoolSize >= connectionsNeeded) return undefined;
  return `DATABASE_POOL_SIZE=${databasePoolSize} is too small for a worker: its jobs and sweeps need ${connectionsNeeded} connections`;
}
