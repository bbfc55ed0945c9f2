/** Numbered server-sent events (WHATWG HTML §9.2). Any number of readers can read one feed, each at its own speed. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

const heartbeatMs = 15_000;
/** A reader that has read nothing for this long is disconnected; it can resume with Last-Event-ID. */
const stalledReaderMs = 60_000;
/** The most characters written to a socket at once. The rest waits in the feed, which all readers share, so a slow reader needs no memory. */
const writeCharacters = 64 * 1024;

export function formatEvent(id: number, event: string, data: unknown): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The events of one stream so far: `frames[n]` is event n + 1. `closing` is the last event and has a number of its own. */
export class Feed {
  readonly frames: string[] = [];
  closing: { id: number; frame: string } | undefined;
  /** No more events follow. If `closing` is undefined, only this process stopped, and the stream may continue elsewhere. */
  closed = false;
  private readonly listeners = new Set<() => void>();

  push(event: string, data: unknown): void {
    this.frames.push(formatEvent(this.frames.length + 1, event, data));
    this.tell();
  }

  append(frames: readonly string[]): void {
    if (frames.length === 0) return;
    this.frames.push(...frames);
    this.tell();
  }

  close(closing?: { id: number; frame: string }): void {
    if (this.closed) return;
    this.closing = closing;
    this.closed = true;
    this.tell();
  }

  get followers(): number {
    return this.listeners.size;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when the feed is closed or `timeoutMs` have passed. */
  untilClosed(timeoutMs: number): Promise<void> {
    if (this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      const unsubscribe = this.subscribe(() => {
        if (this.closed) finish();
      });
    });
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** One reader. It stores only its position in the feed, so a slow reader needs no extra memory. */
class Reader {
  private readonly response: ServerResponse;
  private readonly feed: Feed;
  /** How many events have been written to the reader. */
  private position: number;
  private blockedSince: number | undefined;

  constructor(response: ServerResponse, feed: Feed, position: number) {
    this.response = response;
    this.feed = feed;
    this.position = position;
  }

  advance(): void {
    const { feed, response } = this;
    while (this.blockedSince === undefined && this.position < feed.frames.length) {
      if (!response.write(this.nextChunk())) this.block();
    }
    if (!feed.closed || this.blockedSince !== undefined) return;
    const { closing } = feed;
    response.end(closing && closing.id > this.position ? closing.frame : undefined);
  }

  /** Sends a comment, so that proxies don't close an idle stream and broken connections are noticed. */
  beat(): void {
    if (this.blockedSince === undefined) this.response.write(":\n\n");
    else if (performance.now() - this.blockedSince > stalledReaderMs) this.response.destroy();
  }

  private nextChunk(): string {
    const { frames } = this.feed;
    let chunk = "";
    while (this.position < frames.length && chunk.length < writeCharacters) {
      chunk += frames[this.position] ?? "";
      this.position += 1;
    }
    return chunk;
  }

  private block(): void {
    this.blockedSince = performance.now();
    this.response.once("drain", () => {
      this.blockedSince = undefined;
      this.advance();
    });
  }
}

/** Responds with the feed's events after number `after`, and with new ones until the feed closes. The feed continues if the caller disconnects. */
export function sendFeed(reply: FastifyReply, feed: Feed, after: number): void {
  reply.hijack();
  const response = reply.raw;
  if (response.destroyed) return;
  response.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  if (reply.request.method === "HEAD") return void response.end();
  const reader = new Reader(response, feed, after);
  if (after >= feed.frames.length) response.flushHeaders();
  const unsubscribe = feed.subscribe(() => reader.advance());
  const heartbeat = setInterval(() => reader.beat(), heartbeatMs);
  response.once("close", () => {
    unsubscribe();
    clearInterval(heartbeat);
  });
  response.on("error", () => {});
  reader.advance();
}
