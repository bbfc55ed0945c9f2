/**
 * A pool that notices a PostgreSQL which is there and says nothing: frozen, or on a host that went away without a word. What
 * waits for it fails then as if the connection were lost, and what comes fails at once, until it answers again. A statement that is
 * merely slow, or waits for a lock, goes on: the server is asked, not the clock.
 */
import type { Socket } from "node:net";
import { connect } from "node:net";
import pg from "pg";

/** SSLRequest (PostgreSQL's protocol, "Message Formats"): answered with one byte, before any sign-in and however many are connected. */
const shortestQuestion = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** Whatever waits longer than this makes us ask. */
const askAfterMs = 300;
const askEveryMs = 100;
/** Long enough for a server that has too much to do, short enough for everybody to be told within two seconds. */
const answerTimeoutMs = 1_400;

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void;

/** Only silence is no answer: a refused connection or an error is one. */
function answersAtAll(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answered: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answered);
    };
    // An answer that came while this process was busy is read in the turn after.
    const timer = setTimeout(() => setImmediate(() => setImmediate(end, false)), answerTimeoutMs);
    socket.once("connect", () => socket.write(shortestQuestion));
    socket.once("data", () => end(true));
    socket.once("close", () => end(true));
    socket.once("error", () => end(true));
  });
}

/** The server may still execute what it was sent: as with any lost connection, whether it did is for a retry under the same key to find out. */
function drop(client: pg.PoolClient): void {
  streamOf(client).destroy();
}

function streamOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

export class WatchedPool extends pg.Pool {
  private silent = false;
  private givenBack = 0;
  private asking = false;
  /** Connections that somebody has, and since when. */
  private readonly inUse = new Map<pg.PoolClient, number>();
  /** How to turn away those who wait for a connection, and since when they do. */
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
    this.timer = setInterval(() => void this.look(host, Number(port || 5432)), askEveryMs).unref();
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
    if (this.silent) throw silence();
    const turnedAway = Promise.withResolvers<never>();
    this.waiting.set(turnedAway.reject, performance.now());
    const connecting = super.connect();
    try {
      return await Promise.race([connecting, turnedAway.promise]);
    } catch (error) {
      // A connection that comes after all is somebody else's.
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw error;
    } finally {
      this.waiting.delete(turnedAway.reject);
    }
  }

  /** Grows with every answer on a connection in use, and changes with those that are taken and given back. */
  private bytesHeard(): number {
    return [...this.inUse.keys()].reduce((sum, client) => sum + streamOf(client).bytesRead, this.givenBack);
  }

  private async look(host: string, port: number): Promise<void> {
    const oldest = Math.min(...this.inUse.values(), ...this.waiting.values());
    if (host === "" || this.asking || (!this.silent && performance.now() - oldest < askAfterMs)) return;
    this.asking = true;
    const heard = this.bytesHeard();
    const answered = await answersAtAll(host, port);
    this.asking = false;
    // On a machine with too much to do the question may go unanswered for a while, and others' be answered.
    this.silent = !answered && heard === this.bytesHeard();
    if (!this.silent) return;
    for (const turnAway of this.waiting.keys()) turnAway(silence());
    for (const client of this.inUse.keys()) drop(client);
  }
}

function silence(): Error {
  return new Error("Connection terminated: PostgreSQL does not answer");
}
