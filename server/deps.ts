/** What is injected: built once in main.ts, in the worker and in tests, and passed down; nothing reaches for a global. */
import type pg from "pg";
import type { Clock } from "#domain/clock.ts";
import type { Config } from "./config.ts";
import type { Db } from "./db/database.ts";
import type { LiveEvents } from "./http/live-events.ts";
import type { ModelGateway } from "./providers/models.ts";
import type { Payments } from "./providers/stripe.ts";

export interface Deps {
  config: Config;
  db: Db;
  pool: pg.Pool;
  /** Business time. */
  clock: Clock;
  live: LiveEvents;
  payments: Payments;
  models: ModelGateway;
  log: Logger;
}

/** The part of pino both processes use. */
export interface Logger {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
