/**
 * Live fan-out between processes: a change of a person's rows reaches every process that holds a connection of theirs.
 * Losing a message loses nothing: clients check again when they reconnect, and `resync` tells them to after a gap.
 * Published after the commit, never inside a ledger transaction: NOTIFY serialises commits.
 */
import { Redis } from "ioredis";
import pg from "pg";
import type { RealtimeTable } from "../contract/realtime.ts";

export interface LiveEvent {
  userId: string;
  /** `session`: this person's sign-ins changed, open connections are to be checked again. */
  table: RealtimeTable | "session";
}

export interface LiveEvents {
  publish(event: LiveEvent): Promise<void>;
  /** Called with every event, and with "resync" after the fan-out was interrupted. Returns the end of the subscription. */
  subscribe(listener: (event: LiveEvent | "resync") => void): () => void;
  /** Whether the fan-out (Redis where there is one) can be reached now. */
  connected(): boolean;
  close(): Promise<void>;
}

const channel = "tessera_live";
const reconnectMs = 500;

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

  /** What gathers while one batch is on its way goes with the next: NOTIFY takes a lock of the whole server, and nothing here needs the disk. */
  function publishSoon(payload: string): Promise<void> {
    waiting.push(payload);
    next ??= sending.then(async () => {
      const payloads = [...new Set(waiting)];
      waiting = [];
      next = undefined;
      const sent = pool.query(
        "select set_config('synchronous_commit', 'off', true), pg_notify($1, payload) from unnest($2::text[]) as payload",
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
    connected: () => client !== undefined,
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}

function createRedisLiveEvents(redisUrl: string): LiveEvents {
  const listeners = new Listeners();
  // A publisher must not wait for a Redis that is away: the message is lost, and a re-check makes up for it.
  const publisher = new Redis(redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
  const subscriber = new Redis(redisUrl, { maxRetriesPerRequest: null });
  let wasReady = false;
  publisher.on("error", () => {});
  subscriber.on("error", () => {});
  void publisher.connect().catch(() => {});
  void subscriber.subscribe(channel).catch(() => {});
  subscriber.on("ready", () => {
    if (wasReady) listeners.tell("resync");
    wasReady = true;
  });
  subscriber.on("message", (_channel, payload) => listeners.tell(parseEvent(payload)));
  return {
    async publish(event) {
      await publisher.publish(channel, `${event.userId} ${event.table}`).catch(() => {});
    },
    subscribe: (listener) => listeners.add(listener),
    connected: () => subscriber.status === "ready",
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

export function createLiveEvents(config: { databaseUrl: string; redisUrl: string | undefined }, pool: pg.Pool): LiveEvents {
  return config.redisUrl ? createRedisLiveEvents(config.redisUrl) : createPostgresLiveEvents(config.databaseUrl, pool);
}
