/** The dependencies that are injected. Each process's main, or a test, builds them once and passes them down, so that there are no globals. */

import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import type { DestinationStream } from "pino";
import { pino } from "pino";
import { apiPoolSize, type Config } from "./config.ts";
import { Arrivals } from "./db/arrivals.ts";
import type { BusinessClock } from "./db/business-clock.ts";
import { createBusinessClock } from "./db/business-clock.ts";
import type { Db } from "./db/database.ts";
import { createDatabase, createPool } from "./db/database.ts";
import type { LiveEvents } from "./http/live-events.ts";
import { createLiveEvents } from "./http/live-events.ts";
import type { ModelSwitches } from "./model-switches.ts";
import { createModelSwitches } from "./model-switches.ts";
import type { Google } from "./providers/google.ts";
import { createGoogle } from "./providers/google.ts";
import type { Mailer } from "./providers/mail.ts";
import { createMailer } from "./providers/mail.ts";
import type { ModelGateway } from "./providers/models/gateway.ts";
import { createModelGateway } from "./providers/models/gateway.ts";
import { createDiskStorage } from "./providers/storage/disk.ts";
import { createS3Storage } from "./providers/storage/s3.ts";
import type { FileStorage } from "./providers/storage/storage.ts";
import type { Payments } from "./providers/stripe.ts";
import { createPayments } from "./providers/stripe.ts";
import type { Settings } from "./settings.ts";
import { createSettings } from "./settings.ts";

export type Logger = FastifyBaseLogger;

export interface Deps {
  config: Config;
  db: Db;
  pool: pg.Pool;
  /** For the starts of answers, which have connections of their own (decision 82). */
  starts: Db;
  /** Requests whose sign-in is being checked: some of them will start an answer. */
  arrivals: Arrivals;
  /** Business time. */
  clock: BusinessClock;
  live: LiveEvents;
  payments: Payments;
  /** Cuts off the calls to Stripe that are under way, and refuses any other: the process is about to end. */
  endStripeCalls(): void;
  models: ModelGateway;
  switches: ModelSwitches;
  mail: Mailer;
  /** Undefined if nobody can sign in with Google. */
  google: Google | undefined;
  storage: FileStorage;
  /** What admins change while the product runs. */
  settings: Settings;
  log: Logger;
}

/** Writes to `destination`; the default is standard output. */
export function createLogger(level: string, part: string, destination: DestinationStream = pino.destination(1)): Logger {
  // PostgreSQL's error details contain whole rows and pieces of JSON, and so what people wrote. They must not be logged.
  const told = ["err.detail", "err.where"];
  const redact = { paths: ["req.headers.authorization", "*.password", "*.refresh_token", "*.token", ...told], remove: true };
  return pino({ level, base: { part }, redact }, destination);
}

/** How many statements that start answers run at once. Each has a connection that keeps their plans and runs nothing else. */
export const startConnections = 2;
/** Most checks of a sign-in take less. */
const arrivalsMs = 2;

/** Builds the `Deps` of a process. `close` ends every connection. `part` is the process's name at PostgreSQL and in the log. */
export function createDeps(
  config: Config,
  part: string,
  log: Logger = createLogger(config.logLevel, part),
): Deps & { close(): Promise<void> } {
  const pool = createPool(config.databaseUrl, config.databasePoolSize ?? apiPoolSize, `tessera ${part}`);
  const startPool = createPool(config.databaseUrl, startConnections, `tessera ${part} starts`, startConnections);
  const clock = createBusinessClock(pool, config.databaseUrl, config.sandbox !== undefined);
  const live = createLiveEvents(config, pool);
  const mail = createMailer(config.mail);
  const stripeCalls = new AbortController();
  return {
    config,
    db: createDatabase(pool),
    pool,
    starts: createDatabase(startPool),
    arrivals: new Arrivals(arrivalsMs),
    clock,
    live,
    payments: createPayments(config.stripe, stripeCalls.signal),
    endStripeCalls: () => stripeCalls.abort(),
    models: createModelGateway(config),
    switches: createModelSwitches(),
    mail,
    google: config.google && createGoogle(config.google),
    storage: config.storageBucket ? createS3Storage(config.storageBucket) : createDiskStorage(config.storageDir),
    settings: createSettings({ logLevel: log.level }),
    log,
    async close() {
      stripeCalls.abort();
      await Promise.all([clock.close(), live.close(), mail.close()]);
      await Promise.all([pool.end(), startPool.end()]);
    },
  };
}
