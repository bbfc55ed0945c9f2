import type { Store } from "./store.ts";

/** The version the `stripe` package of the product pins; the shapes here are its shapes. */
export const apiVersion = "2026-10-28.endive";

export interface Context {
  store: Store;
  /** The sandbox's own public origin, without a trailing slash. */
  origin: string;
  /** Business time in Unix seconds; while something due is carried out, the instant it was due at. */
  now(): number;
  /** Which API call caused the events; null for what Stripe does by itself. */
  request: { id: string; idempotencyKey: string | null } | null;
}

export const hourSeconds = 3600;
export const daySeconds = 24 * hourSeconds;
