/**
 * The WebSocket /api/realtime tells a signed-in person's open pages that rows of theirs have changed. Messages contain no data, so
 * losing one only means that a page reads a little later.
 */
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import type { WebSocket } from "ws";
import type { Clock } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import type { RealtimeMessage, RealtimeTable } from "../contract/realtime.ts";
import { RealtimeAuthenticate, realtimeCloseCodes, realtimeTables } from "../contract/realtime.ts";
import type { Routes } from "./app-type.ts";
import { ByPerson } from "./by-person.ts";
import { clientNetwork } from "./client-network.ts";
import { NetworkCounts } from "./counts.ts";
import type { Draining } from "./draining.ts";
import type { HeldConnections } from "./held-connections.ts";
import type { LiveEvent, LiveEvents } from "./live-events.ts";
import { logRefusal } from "./problem.ts";
import type { ReadViewer, Viewer } from "./viewer.ts";

const authenticateWithinMs = 5_000;
/** The share of one network's connections that may be waiting for their first message. */
const unknownShare = 1 / 10;
const unknownInAll = 1_000;
const heartbeatEveryMs = 30_000;
/** A reader that is this far behind is disconnected; it reconnects and reads again. */
const bufferLimitBytes = 256 * 1024;
/** Close codes of RFC 6455 §7.4.1 and of the registry in §11.7. */
const policyViolation = 1008;
const serviceRestart = 1012;
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

function refuseToken(socket: WebSocket, request: FastifyRequest): void {
  logRefusal(request, { code: "unauthenticated", status: 401 });
  cut(socket, "unauthenticated");
}

function tellChange({ socket, viewer }: Connection, table: RealtimeTable): void {
  send(socket, { type: "change", table, user_id: viewer.userId });
}

/** The client has to answer each ping before the next one. */
function checkHeartbeat(connections: readonly Connection[]): void {
  for (const connection of connections) {
    if (!connection.alive) connection.socket.terminate();
    connection.alive = false;
    connection.socket.ping();
  }
}

/** Refuses pages of other sites before the handshake. Browsers always send Origin here, so a request without it is refused too. */
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

interface RealtimeDeps {
  live: LiveEvents;
  log: FastifyBaseLogger;
  config: Pick<Config, "publicUrl" | "connectionsPerAddress">;
  clock: Clock;
}

/** The open connections of one process. */
class Realtime {
  private readonly connections = new ByPerson<Connection>();
  private readonly sockets = new Set<WebSocket>();
  /** For each network, the connections that wait for their first message. */
  private readonly unknown = new NetworkCounts();
  private readonly open = new NetworkCounts();
  private left = false;
  private readonly deps: RealtimeDeps;
  private readonly readViewer: ReadViewer;
  private readonly held: HeldConnections;

  constructor(deps: RealtimeDeps, readViewer: ReadViewer, held: HeldConnections) {
    this.deps = deps;
    this.readViewer = readViewer;
    this.held = held;
  }

  /** Begins to pass on live events and to send pings. Returns a function that stops it. */
  start(): () => void {
    const unsubscribe = this.deps.live.subscribe((event) => this.follow(event));
    const heartbeatTimer = setInterval(() => checkHeartbeat(this.connections.all()), heartbeatEveryMs).unref();
    return () => {
      unsubscribe();
      clearInterval(heartbeatTimer);
    };
  }

  /** Closes all connections with a code after which the clients reconnect, to another process. */
  leave(): void {
    this.left = true;
    for (const socket of this.sockets) socket.close(serviceRestart);
  }

  private follow(event: LiveEvent | "resync"): void {
    if (event === "resync") {
      // We don't know what was missed, so every page reads again what it shows.
      for (const connection of this.connections.all()) for (const table of realtimeTables) tellChange(connection, table);
    } else if (event.table !== "session" && event.table !== "models" && event.table !== "settings") {
      for (const connection of this.connections.of(event.userId)) tellChange(connection, event.table);
    }
  }

  /** Reserves a place for the connection before its handshake, so that many at once can't all get the last one. */
  admit(request: FastifyRequest): void {
    const limit = this.deps.config.connectionsPerAddress;
    const network = clientNetwork(request.ip);
    const room =
      this.open.hasRoom(network, limit) &&
      this.unknown.hasRoom(network, Math.ceil(limit * unknownShare)) &&
      this.unknown.total < unknownInAll;
    if (!room) throw new DomainError("rate_limited", "Too many connections. Wait a moment", { retryAfterSeconds: 10 });
    const { socket } = request.raw;
    places.set(socket, this.unknown.add(network));
    socket.once("close", this.open.add(network));
    socket.once("close", () => places.get(socket)?.());
  }

  /** Accepts a new connection. Its first message must be the access token, within a few seconds. */
  accept(socket: WebSocket, request: FastifyRequest): void {
    this.sockets.add(socket);
    const timer = setTimeout(() => refuseToken(socket, request), authenticateWithinMs);
    socket.on("close", () => {
      clearTimeout(timer);
      this.sockets.delete(socket);
    });
    socket.on("error", () => socket.terminate());
    if (this.left) socket.close(serviceRestart);
    socket.once("message", (data) => {
      clearTimeout(timer);
      // Our client sends nothing more, so whoever does is not our client.
      socket.on("message", () => socket.close(policyViolation));
      const token = readToken(data);
      if (token === undefined) return refuseToken(socket, request);
      this.authenticate(socket, token, request).catch((error: unknown) => {
        this.deps.log.warn({ err: error }, "a connection could not be authenticated");
        socket.close(tryAgainLater);
      });
    });
  }

  private async authenticate(socket: WebSocket, token: string, request: FastifyRequest): Promise<void> {
    const viewer = await this.readViewer(token);
    if (socket.readyState !== socket.OPEN) return;
    if (!viewer) return refuseToken(socket, request);
    if (!this.held.hasRoomFor(viewer)) return socket.close(tryAgainLater);
    places.get(request.raw.socket)?.();
    const connection: Connection = { socket, viewer, alive: true };
    socket.on("close", this.connections.add(connection));
    socket.on(
      "close",
      this.held.hold(viewer, () => cut(socket, "session_revoked")),
    );
    socket.on("pong", () => {
      connection.alive = true;
    });
    send(socket, { type: "ready", server_time: this.deps.clock.now().toISOString() });
  }
}

/** Gives back the place of a connection that waits for its first message. */
const places = new WeakMap<object, () => void>();

/** Register it in an application with @fastify/websocket. */
export function realtimeRoutes(deps: RealtimeDeps, readViewer: ReadViewer, held: HeldConnections, draining: Draining): Routes {
  return async (app) => {
    const realtime = new Realtime(deps, readViewer, held);
    const stop = realtime.start();
    draining.onLeave(() => realtime.leave());
    app.addHook("onClose", async () => stop());
    const admit = async (request: FastifyRequest) => {
      // Without this, @fastify/websocket answers a plain call with an empty 404.
      if (!request.ws) throw new DomainError("not_found", "There is only a WebSocket at this address");
      if (!isOwnOrigin(request, deps.config.publicUrl))
        throw new DomainError("forbidden_origin", "This address is not open to other sites");
      realtime.admit(request);
    };
    app.get("/api/realtime", { websocket: true, onRequest: admit }, (socket, request) => realtime.accept(socket, request));
  };
}
