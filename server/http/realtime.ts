/**
 * The WebSocket /api/realtime: tells a signed-in person's open pages that rows of theirs have changed. It carries no data, so
 * a lost message costs a re-check and nothing else.
 */
import type { FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import type { WebSocket } from "ws";
import { DomainError } from "#domain/errors.ts";
import type { RealtimeMessage, RealtimeTable } from "../contract/realtime.ts";
import { RealtimeAuthenticate, realtimeCloseCodes } from "../contract/realtime.ts";
import type { Deps } from "../deps.ts";
import type { Routes } from "./app-type.ts";
import type { LiveEvent } from "./live-events.ts";
import type { ReadViewer, Viewer } from "./viewer.ts";

/** Which of these sign-ins still hold. A connection outlives its access token, so its sign-in is what is checked again. */
export type CheckSessions = (sessionIds: readonly string[]) => Promise<Set<string>>;

const authenticateWithinMs = 5_000;
const recheckEveryMs = 60_000;
const heartbeatEveryMs = 30_000;
/** A reader this far behind is dropped: it reconnects and checks afresh. */
const bufferLimitBytes = 256 * 1024;
/** RFC 6455 §7.4.1. */
const policyViolation = 1008;
const tryAgainLater = 1013;

const authenticateCheck = Compile(RealtimeAuthenticate);

interface Connection {
  socket: WebSocket;
  viewer: Viewer;
  alive: boolean;
}

function send(socket: WebSocket, message: RealtimeMessage): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > bufferLimitBytes) socket.terminate();
  else socket.send(JSON.stringify(message));
}

function cut(socket: WebSocket, code: "unauthenticated" | "session_revoked"): void {
  send(socket, { type: "closed", code });
  socket.close(code === "unauthenticated" ? realtimeCloseCodes.unauthenticated : realtimeCloseCodes.revoked, code);
}

/** The connections of this process, by person. */
class Connections {
  private readonly byUser = new Map<string, Set<Connection>>();

  add(connection: Connection): void {
    const own = this.byUser.get(connection.viewer.userId) ?? new Set();
    this.byUser.set(connection.viewer.userId, own.add(connection));
  }

  remove(connection: Connection): void {
    const own = this.byUser.get(connection.viewer.userId);
    own?.delete(connection);
    if (own?.size === 0) this.byUser.delete(connection.viewer.userId);
  }

  of(userId: string): Connection[] {
    return [...(this.byUser.get(userId) ?? [])];
  }

  all(): Connection[] {
    return [...this.byUser.values()].flatMap((own) => [...own]);
  }
}

function tellChange({ socket, viewer }: Connection, table: RealtimeTable): void {
  send(socket, { type: "change", table, user_id: viewer.userId });
}

/** One answer to a ping is owed before the next ping. */
function checkHeartbeat(connections: readonly Connection[]): void {
  for (const connection of connections) {
    if (!connection.alive) connection.socket.terminate();
    connection.alive = false;
    connection.socket.ping();
  }
}

/** Other sites' pages are turned away before the handshake. Browsers always send Origin here; what sends none is no page of ours. */
export function isOwnOrigin(request: FastifyRequest, publicUrl: URL): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.origin === publicUrl.origin || (/^https?:$/.test(url.protocol) && url.host === request.host);
}

function readToken(data: unknown): string | undefined {
  try {
    const message: unknown = JSON.parse(String(data));
    return authenticateCheck.Check(message) ? message.access_token : undefined;
  } catch {
    return undefined;
  }
}

type RealtimeDeps = Pick<Deps, "live" | "log" | "config" | "clock">;

/** What one process does with its open connections. */
class Realtime {
  private readonly connections = new Connections();
  /** Grows with every change of sign-ins, so that one which happens while a token is read is not missed. */
  private sessionChanges = 0;
  private readonly deps: RealtimeDeps;
  private readonly readViewer: ReadViewer;
  private readonly checkSessions: CheckSessions;

  constructor(deps: RealtimeDeps, readViewer: ReadViewer, checkSessions: CheckSessions) {
    this.deps = deps;
    this.readViewer = readViewer;
    this.checkSessions = checkSessions;
  }

  /** Follows live events and the clock. Returns how to stop. */
  start(): () => void {
    const unsubscribe = this.deps.live.subscribe((event) => this.follow(event));
    const recheckTimer = setInterval(() => void this.recheck(this.connections.all()), recheckEveryMs).unref();
    const heartbeatTimer = setInterval(() => checkHeartbeat(this.connections.all()), heartbeatEveryMs).unref();
    return () => {
      unsubscribe();
      clearInterval(recheckTimer);
      clearInterval(heartbeatTimer);
    };
  }

  private follow(event: LiveEvent | "resync"): void {
    if (event === "resync") {
      this.sessionChanges += 1;
      for (const connection of this.connections.all()) tellChange(connection, "user_subscriptions");
      void this.recheck(this.connections.all());
    } else if (event.table === "session") {
      this.sessionChanges += 1;
      void this.recheck(this.connections.of(event.userId));
    } else {
      for (const connection of this.connections.of(event.userId)) tellChange(connection, event.table);
    }
  }

  private async recheck(some: readonly Connection[]): Promise<void> {
    if (some.length === 0) return;
    try {
      const valid = await this.checkSessions([...new Set(some.map(({ viewer }) => viewer.sessionId))]);
      for (const { socket, viewer } of some) if (!valid.has(viewer.sessionId)) cut(socket, "session_revoked");
    } catch (error) {
      this.deps.log.warn({ err: error }, "open connections could not be checked; the next check follows within a minute");
    }
  }

  /** Takes a fresh connection: its first message must be the access token, soon. */
  accept(socket: WebSocket): void {
    const timer = setTimeout(() => cut(socket, "unauthenticated"), authenticateWithinMs);
    socket.on("close", () => clearTimeout(timer));
    socket.on("error", () => socket.terminate());
    socket.once("message", (data) => {
      clearTimeout(timer);
      // Nothing more is expected of a client; what goes on talking is not ours.
      socket.on("message", () => socket.close(policyViolation));
      const token = readToken(data);
      if (token === undefined) return cut(socket, "unauthenticated");
      this.authenticate(socket, token).catch((error: unknown) => {
        this.deps.log.warn({ err: error }, "a connection could not be authenticated");
        socket.close(tryAgainLater);
      });
    });
  }

  private async authenticate(socket: WebSocket, token: string): Promise<void> {
    const changesBefore = this.sessionChanges;
    const viewer = await this.readViewer(token);
    if (socket.readyState !== socket.OPEN) return;
    if (!viewer) return cut(socket, "unauthenticated");
    const connection: Connection = { socket, viewer, alive: true };
    this.connections.add(connection);
    socket.on("close", () => this.connections.remove(connection));
    socket.on("pong", () => {
      connection.alive = true;
    });
    send(socket, { type: "ready", server_time: this.deps.clock.now().toISOString() });
    if (this.sessionChanges !== changesBefore) await this.recheck([connection]);
  }
}

/** For the application that has @fastify/websocket; `checkSessions` is createSessionCheck of the auth feature. */
export function realtimeRoutes(deps: RealtimeDeps, readViewer: ReadViewer, checkSessions: CheckSessions): Routes {
  return async (app) => {
    const realtime = new Realtime(deps, readViewer, checkSessions);
    const stop = realtime.start();
    app.addHook("onClose", async () => stop());
    const refuseForeignOrigin = async (request: FastifyRequest) => {
      // @fastify/websocket would answer a plain call with an empty 404.
      if (!request.ws) throw new DomainError("not_found", "There is only a WebSocket at this address");
      if (!isOwnOrigin(request, deps.config.publicUrl))
        throw new DomainError("forbidden_origin", "This address is not open to other sites");
    };
    app.get("/api/realtime", { websocket: true, onRequest: refuseForeignOrigin }, (socket) => realtime.accept(socket));
  };
}
