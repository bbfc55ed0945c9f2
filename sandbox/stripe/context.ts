import type { Store } from "./store.ts";

/** The API version that the product's `stripe` package pins. All objects here have its shapes. */
export const apiVersion = "2026-10-28.endive";

export interface Context {
  store: Store;
  /** The sandbox's own public origin, without a trailing slash. */
  origin: string;
  /** Business time in Unix seconds. While due work is done, this is the time it was due at. */
  now(): number;
  /** The API call that caused the events; null for work that Stripe does by itself. */
  request: { id: string; idempotencyKey: string | null } | null;
}

export const hourSeconds = 3600;
export const daySeconds = 24 * hourSeconds;
