/**
 * Sends events between processes: when a person's rows change, every process that has a connection of that person is told.
 * A lost event does no harm: clients read again when they reconnect, and `resync` tells them to read again after an
 * interruption. Publish after the commit, never in a ledger transaction, because NOTIFY serialises commits.
 */
import { Redis } from "ioredis";
import pg from "pg";
import type { RealtimeTable } from "../contract/realtime.ts";
import { selectMembers } from "../db/payer.ts";
import type { Executor } from "../db/transaction.ts";

export interface LiveEvent {
  /** The person. Events of `models` name the model and how long it is paused, or `switches`; those of `settings` name nobody. */
  userId: string;
  /**
   * `session`: the person's sign-ins changed, so their open connections have to be checked again. `models`: a model of clips is paused, or an
   * admin has switched a model or planned a price. `settings`: an admin has changed one. The last two go to processes, not to pages.
   */
  table: RealtimeTable | "session" | "models" | "settings";
}

export interface LiveEvents {
  publish(event: LiveEvent): Promise<void>;
  /** Calls `listener` with every event, and with "resync" after an interruption. Returns a function that unsubscribes. */
  subscribe(listener: (event: LiveEvent | "resync") => void): () => void;
  /** Rejects if the server that carries the events (Redis or PostgreSQL) does not answer now. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Tells the person's open pages that rows of these tables changed. Call it after the commit. It never throws, because the change is
 * committed, and pages that miss the event read it at their next check. With `userId` null (the account was deleted) it does nothing.
 */
export async function announce(
  { live, log }: { live: LiveEvents; log: { warn(details: object, message: string): void } },
  userId: string | null,
  ...tables: readonly LiveEvent["table"][]
): Promise<void> {
  if (userId === null) return;
  try {
    await Promise.all(tables.map((table) => live.publish({ userId, table })));
  } catch (error) {
    log.warn({ err: error, userId, tables }, "a live event could not be published");
  }
}

/** Tells everybody for whom the billing account pays. Call it after the commit; it never throws, as `announce`. */
export async function announceToMembers(
  deps: Parameters<typeof announce>[0] & { db: Executor },
  payerId: string,
  ...tables: readonly LiveEvent["table"][]
): Promise<void> {
  await announceToEach(deps, selectMembers(deps.db, payerId), ...tables);
}

/** Tells these people; their ids may still have to be read. */
export async function announceToEach(
  deps: Parameters<typeof announce>[0],
  people: Promise<readonly string[]>,
  ...tables: readonly LiveEvent["table"][]
): Promise<void> {
  try {
    await Promise.all((await people).map((userId) => announce(deps, userId, ...tables)));
  } catch (error) {
    deps.log.warn({ err: error, tables }, "the people of a billing account could not be read for a live event");
  }
}

const channel = "tessera_live";
const reconnectMs = 500;
/** The most events kept while Redis is down; far more than people wait for an answer at the same time. */
const missedLimit = 10_000;
/** If Redis leaves a command unanswered for this long, it counts as down and we reconnect. */
export const silentRedisMs = 1_000;
const redisHeartbeatMs = 5_000;

function parseEvent(payload: string): LiveEvent | undefined {
  const [userId, table] = payload.split(" ");
  return userId && table ? { userId, table: table as LiveEvent["table"] } : undefined;
}

class Listeners {
  private readonly listeners = new Set<(event: LiveEvent | "resync") => void>();

  add(listener: (event: LiveEvent | "resync") => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(event: LiveEvent | "resync" | undefined): void {
    if (event) for (const listener of this.listeners) listener(event);
  }
}

function createPostgresLiveEvents(connectionString: string, pool: pg.Pool): LiveEvents {
  const listeners = new Listeners();
  let client: pg.Client | undefined;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function connect(interrupted: boolean): Promise<void> {
    const next = new pg.Client({ connectionString, application_name: "tessera live", keepAlive: true });
    const lost = () => {
      if (client !== next || closed) return;
      client = undefined;
      timer = setTimeout(() => void connect(true), reconnectMs);
    };
    next.on("error", lost);
    next.on("end", lost);
    next.on("notification", (message) => listeners.tell(parseEvent(message.payload ?? "")));
    client = next;
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      if (interrupted) listeners.tell("resync");
    } catch {
      lost();
    }
  }
  void connect(false);

  let waiting: string[] = [];
  let sending: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  /**
   * Events that arrive while a batch is being sent wait for the next batch, because NOTIFY takes a lock on the whole server.
   * The commit does not wait for the disk, since losing an event does no harm.
   */
  function publishSoon(payload: string): Promise<void> {
    waiting.push(payload);
    next ??= sending.then(async () => {
      const payloads = [...new Set(waiting)];
      waiting = [];
      next = undefined;
      const sent = pool.query(
        "select set_config('synchronous_commit', 'off', true), count(pg_notify($1, payload)) from unnest($2::text[]) as payload",
        [channel, payloads],
      );
      sending = sent.then(
        () => {},
        () => {},
      );
      await sent;
    });
    return next;
  }

  return {
    publish: (event) => publishSoon(`${event.userId} ${event.table}`),
    subscribe: (listener) => listeners.add(listener),
    async ping() {
      if (!client) throw new Error("not connected");
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}

function createRedisLiveEvents(redisUrl: string): LiveEvents {
  const listeners = new Listeners();
  // A publisher must not wait while Redis is down. Events it could not publish are published when Redis is back.
  const socketTimeout = silentRedisMs;
  const publisher = new Redis(redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true, socketTimeout });
  // It subscribes again below. ioredis would do so too, and not catch the failure if the connection is closed meanwhile.
  const subscriber = new Redis(redisUrl, { maxRetriesPerRequest: null, autoResubscribe: false, socketTimeout });
  // A subscriber sends nothing by itself, so without these pings it would not notice a dead connection.
  const heartbeat = setInterval(() => {
    if (subscriber.status === "ready") void subscriber.ping().catch(() => {});
  }, redisHeartbeatMs).unref();
  let wasReady = false;
  publisher.on("error", () => {});
  subscriber.on("error", () => {});
  void publisher.connect().catch(() => {});
  void subscriber.subscribe(channel).catch(() => {});
  subscriber.on("ready", async () => {
    const interrupted = wasReady;
    wasReady = true;
    // Events published before the subscription is active again are lost. So clients may read again only after it is active.
    await subscriber.subscribe(channel).catch(() => {});
    if (interrupted) listeners.tell("resync");
  });
  /** Events this process could not publish. Other processes may still be connected to Redis and would not send a resync. */
  const missed = new Set<string>();
  publisher.on("ready", () => {
    const payloads = [...missed];
    missed.clear();
    for (const payload of payloads) void publish(payload);
  });

  async function publish(payload: string): Promise<void> {
    await publisher.publish(channel, payload).catch(() => {
      if (missed.size < missedLimit) missed.add(payload);
    });
  }

  subscriber.on("message", (_channel, payload) => listeners.tell(parseEvent(payload)));
  return {
    publish: (event) => publish(`${event.userId} ${event.table}`),
    subscribe: (listener) => listeners.add(listener),
    async ping() {
      if (subscriber.status !== "ready") throw new Error("not connected");
      await publisher.ping();
    },
    async close() {
      clearInterval(heartbeat);
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

export function createLiveEvents(config: { databaseUrl: string; redisUrl: string | undefined }, pool: pg.Pool): LiveEvents {
  return config.redisUrl ? createRedisLiveEvents(config.redisUrl) : createPostgresLiveEvents(config.databaseUrl, pool);
}
