/**
 * How an API process shuts down (docs/decisions/0012): it reports that it is draining, closes its listener, answers the
 * requests it has accepted, and lets streams continue until the drain's time is over.
 */
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "#domain/errors.ts";
import type { App } from "./app-type.ts";

/** The part of the drain during which `/readyz` says "draining" and the listener is still open: three seconds of two minutes. */
const noticeShare = 1 / 40;
/** If a turn of the event loop was this short, no connection was waiting to be accepted. */
const idleTurnMs = 0.1;
const longestAcceptingMs = 1_000;
const closeIdleEveryMs = 250;
/** Requests that are still running when the drain has ended may take this long. */
const lastAnswersMs = 2_000;

export class Draining {
  begun = false;
  /** The drain has ended. Requests that still arrive are refused before any work is done. */
  over = false;
  private readonly app: App;
  private readonly leaving: (() => void)[] = [];
  private readonly waits: ((timeoutMs: number) => Promise<unknown>)[] = [];
  /** Every connection has ended. */
  private closed: Promise<void> = Promise.resolve();

  constructor(app: App) {
    this.app = app;
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
    await this.untilAccepted();
    this.closed = this.closeListener();
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
    const { server } = this.app;
    const timer = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs).unref();
    return new Promise((resolve) => {
      server.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  async lastAnswers(): Promise<void> {
    await within(this.closed, lastAnswersMs);
  }

  /**
   * When a listener closes, the operating system resets the connections that the process has not accepted yet, and a proxy can't
   * tell whether their requests were executed. So we wait for a moment at which none is waiting.
   */
  private async untilAccepted(): Promise<void> {
    const end = performance.now() + longestAcceptingMs;
    let accepted = 0;
    const count = () => {
      accepted += 1;
    };
    this.app.server.on("connection", count);
    for (;;) {
      const [before, turnAt] = [accepted, performance.now()];
      await new Promise((resolve) => setImmediate(resolve));
      const now = performance.now();
      if ((accepted === before && now - turnAt < idleTurnMs) || now > end) break;
    }
    this.app.server.off("connection", count);
  }
}

async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}

/** Register it before every other hook, so that during the drain each response tells the client to close the connection. */
export function registerDraining(app: App): Draining {
  const draining = new Draining(app);
  app.addHook("onRequest", async () => {
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
