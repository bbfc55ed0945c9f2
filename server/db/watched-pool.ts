/**
 * A pool that notices when PostgreSQL stops responding although its connections stay open: the process is frozen, or its host
 * has disappeared from the network. Waiting queries then fail as if the connection had been lost, and new ones fail at once
 * until PostgreSQL responds again. A statement that is only slow or waits for a lock goes on, because the pool checks whether
 * the server responds, not how long the statement takes.
 */
import type { Socket } from "node:net";
import { connect } from "node:net";
import pg from "pg";

/**
 * SSLRequest (PostgreSQL's protocol, "Message Formats"). The server answers it with one byte, without a sign-in and even if all
 * its connections are in use.
 */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** If a query or a connection request waits longer than this, the pool checks the server. */
const checkAfterMs = 300;
const checkEveryMs = 100;
/** Long enough for an overloaded server to answer, short enough for all callers to get an error within two seconds. */
const answerTimeoutMs = 1_400;

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void;

/** Resolves to false only if the server sends nothing at all; a refused connection or an error counts as a response. */
function responds(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answered: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answered);
    };
    // If the answer arrived while this process was busy, the event loop reads it in its next turn.
    const timer = setTimeout(() => setImmediate(() => setImmediate(end, false)), answerTimeoutMs);
    socket.once("connect", () => socket.write(sslRequest));
    socket.once("data", () => end(true));
    socket.once("close", () => end(true));
    socket.once("error", () => end(true));
  });
}

/** The server may still execute the statement. As with any lost connection, a retry under the same key finds out whether it did. */
function drop(client: pg.PoolClient): void {
  streamOf(client).destroy();
}

function streamOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

export class WatchedPool extends pg.Pool {
  private unresponsive = false;
  private givenBack = 0;
  private checking = false;
  /** Connections in use, and since when. */
  private readonly inUse = new Map<pg.PoolClient, number>();
  /** The reject functions of callers that wait for a connection, and since when they wait. */
  private readonly waiting = new Map<(error: Error) => void, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(options: pg.PoolConfig & { connectionString: string }) {
    super(options);
    const { hostname, port } = new URL(options.connectionString);
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    this.on("acquire", (client) => this.inUse.set(client, performance.now()));
    this.on("release", (_error, client) => {
      this.inUse.delete(client);
      this.givenBack += 1;
    });
    this.timer = setInterval(() => void this.checkServer(host, Number(port || 5432)), checkEveryMs).unref();
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const acquired = this.acquire();
    if (!callback) return acquired;
    acquired.then(
      (client) => callback(undefined, client, (release) => client.release(release as Error | undefined)),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | undefined {
    clearInterval(this.timer);
    if (!callback) return super.end();
    super.end(callback);
    return undefined;
  }

  private async acquire(): Promise<pg.PoolClient> {
    if (this.unresponsive) throw unresponsive();
    // Nobody waits for a connection that is free.
    if (this.idleCount > this.waitingCount) return super.connect();
    const rejected = Promise.withResolvers<never>();
    this.waiting.set(rejected.reject, performance.now());
    const connecting = super.connect();
    try {
      return await Promise.race([connecting, rejected.promise]);
    } catch (error) {
      // If the connection is established after all, give it back to the pool.
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw error;
    } finally {
      this.waiting.delete(rejected.reject);
    }
  }

  /** Changes whenever data arrives on a connection in use, or a connection is taken or given back. */
  private activity(): number {
    return [...this.inUse.keys()].reduce((sum, client) => sum + streamOf(client).bytesRead, this.givenBack);
  }

  private async checkServer(host: string, port: number): Promise<void> {
    const oldest = Math.min(...this.inUse.values(), ...this.waiting.values());
    if (host === "" || this.checking || (!this.unresponsive && performance.now() - oldest < checkAfterMs)) return;
    this.checking = true;
    const activityBefore = this.activity();
    const answered = await responds(host, port);
    this.checking = false;
    // On an overloaded machine our check may get no answer while queries still do.
    this.unresponsive = !answered && activityBefore === this.activity();
    if (!this.unresponsive) return;
    for (const rejectWaiting of this.waiting.keys()) rejectWaiting(unresponsive());
    for (const client of this.inUse.keys()) drop(client);
  }
}

function unresponsive(): Error {
  return new Error("Connection terminated: PostgreSQL does not respond");
}
