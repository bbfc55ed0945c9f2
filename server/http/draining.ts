/**
 * How an API process shuts down (docs/decisions/0012): it reports that it is draining, closes its listener, answers the
 * requests it has accepted, and lets streams continue until the drain's time is over.
 */
import type { ServerResponse } from "node:http";
import { Server as TcpServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "#domain/errors.ts";
import type { App } from "./app-type.ts";

/** The part of the drain during which `/readyz` says "draining" and the listener is still open: three seconds of two minutes. */
const noticeShare = 1 / 40;
/** A turn of the event loop that is this short had almost nothing to do. */
const idleTurnMs = 0.1;
/** An overloaded process may never have a turn that short, so the limit grows by one millisecond for each ten seconds of waiting. */
const idleTurnGrowth = 1 / 10_000;
/** The part of the drain after which an overloaded process closes its listener even if connections are waiting. */
const acceptingShare = 1 / 2;
const leastAcceptingMs = 1_000;
const closeIdleEveryMs = 250;
/** Requests that are still running when the drain has ended may take this long. */
const lastAnswersMs = 2_000;

export class Draining {
  begun = false;
  /** The drain has ended. Requests that still arrive are refused before any work is done. */
  over = false;
  private readonly server: App["server"];
  private readonly responses = new Set<ServerResponse>();
  private readonly leaving: (() => void)[] = [];
  private readonly waits: ((timeoutMs: number) => Promise<unknown>)[] = [];
  /** Resolves when the listener is closed. Undefined until the process begins to accept what waits. */
  private accepting: Promise<void> | undefined;
  /** Every connection has ended. */
  private closed: Promise<void> = Promise.resolve();

  constructor(server: App["server"]) {
    this.server = server;
    server.on("request", (_request, response) => {
      this.responses.add(response);
      response.once("close", () => this.responses.delete(response));
    });
  }

  /** `listener` is called when this process no longer accepts connections: clients that reconnect reach another process. */
  onLeave(listener: () => void): void {
    this.leaving.push(listener);
  }

  /** The drain also waits for `work`, which needs no connection, for at most `timeoutMs`. */
  alsoWaitFor(work: (timeoutMs: number) => Promise<unknown>): void {
    this.waits.push(work);
  }

  /** Resolves when all accepted requests and other work have ended, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs;
    this.begun = true;
    await delay(timeoutMs * noticeShare);
    this.accepting = this.whenCaughtUp(Math.max(timeoutMs * acceptingShare, leastAcceptingMs), () => {
      this.closed = this.closeListener();
    });
    await this.accepting;
    for (const leave of this.leaving) leave();
    const leftMs = Math.max(end - performance.now(), 0);
    const ended = Promise.all([this.closed, ...this.waits.map((wait) => wait(leftMs))]);
    await within(ended, leftMs);
  }

  /**
   * Resolves when every connection has ended. If a response began before the drain, its client does not know that the connection
   * will be closed and keeps it open; we close it once it is idle.
   */
  private closeListener(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      // HTTP's own `close` closes the idle connections first. With 500 of them that takes 10 ms, in which connections begin to wait.
      TcpServer.prototype.close.call(this.server, () => resolve());
    });
    void this.closeIdleUntil(closed);
    return closed;
  }

  private async closeIdleUntil(closed: Promise<void>): Promise<void> {
    let open = true;
    void closed.then(() => {
      open = false;
    });
    while (open) {
      // When the loop lags, a connection that seems idle may hold a request that was not read yet.
      await this.whenCaughtUp(Number.POSITIVE_INFINITY, () => this.closeIdle());
      await delay(closeIdleEveryMs, undefined, { ref: false });
    }
  }

  /** Node considers a connection idle as soon as its response has ended, even if a slow client has not received all of it yet. */
  private closeIdle(): void {
    const underWay = [...this.responses].some((response) => response.writableEnded && !response.writableFinished);
    if (!underWay) this.server.closeIdleConnections();
  }

  /** Requests wait here until the listener is closed, because an overloaded process accepts too slowly if it also answers. */
  async afterAccepting(): Promise<void> {
    await this.accepting;
  }

  async lastAnswers(): Promise<void> {
    await within(this.closed, lastAnswersMs);
  }

  /**
   * Calls `act` when the event loop has accepted every connection and read every request that had arrived, or after `longestMs`.
   * When a listener closes, the operating system resets the connections that the process has not accepted yet, and a proxy can't
   * tell whether their requests were executed. The event loop accepts one connection a turn, so a slow turn can leave many waiting.
   */
  private async whenCaughtUp(longestMs: number, act: () => void): Promise<void> {
    const startedAt = performance.now();
    let accepted = 0;
    const count = () => {
      accepted += 1;
    };
    this.server.on("connection", count);
    for (let [done, rested] = [false, false]; !done; ) {
      const [before, turnAt] = [accepted, performance.now()];
      const idle = await new Promise<boolean>((resolve) => {
        // Runs right after the event loop has accepted and read.
        setImmediate(() => {
          const now = performance.now();
          const waitedMs = now - startedAt;
          const short = now - turnAt < idleTurnMs + waitedMs * idleTurnGrowth;
          done = (accepted === before && short && rested) || waitedMs > longestMs;
          if (done) act();
          resolve(accepted === before && short);
        });
      });
      // The operating system rarely interrupts a process that has just slept, so it rarely does so between this check and `act`.
      rested = idle && !rested && !done;
      if (rested) await delay(1);
    }
    this.server.off("connection", count);
  }
}

async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}

/** Register it before every other hook, so that during the drain each response tells the client to close the connection. */
export function registerDraining(app: App): Draining {
  const draining = new Draining(app.server);
  app.addHook("onRequest", async () => {
    await draining.afterAccepting();
    if (draining.over)
      throw new DomainError("service_unavailable", "The service is restarting. Try again in a moment", { retryAfterSeconds: 2 });
  });
  app.addHook("onSend", async (_request, reply) => {
    if (draining.begun) reply.header("connection", "close");
  });
  app.addHook("preClose", async () => {
    draining.begun = true;
    draining.over = true;
  });
  app.addHook("onClose", () => draining.lastAnswers());
  return draining;
}
