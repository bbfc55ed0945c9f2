/** Answers that another process writes, or that have ended, read from the log: one poll for all of them. */
import type { Deps } from "../../deps.ts";
import { Feed, formatEvent } from "../../http/event-stream.ts";
import * as queries from "./queries.ts";
import { toReceipt } from "./receipt.ts";

interface Watch {
  id: string;
  feed: Feed;
  lastEvent: number;
  ready: Promise<void>;
  isReady: boolean;
  /** Polls in a row without a reader. */
  idlePolls: number;
}

const idlePollsAllowed = 8;

/**
 * The frames of one row of the log, which were joined as they went over the wire. They are sent on as they are, so they are cut at their
 * ends and not parsed.
 */
function splitFrames(frames: string): string[] {
  return frames
    .split("\n\n")
    .slice(0, -1)
    .map((frame) => `${frame}\n\n`);
}

export class LogFollowers {
  private readonly deps: Deps;
  private readonly pollMs: number;
  private readonly watches = new Map<string, Watch>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(deps: Deps, pollMs: number) {
    this.deps = deps;
    this.pollMs = pollMs;
  }

  /** The answer's feed, with what the log holds now; live while the answer is under way. Throws when the log can't be read. */
  async follow(id: string): Promise<Feed> {
    const watch = this.watches.get(id) ?? this.watch(id);
    await watch.ready;
    if (this.closed) watch.feed.close();
    return watch.feed;
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const watch of this.watches.values()) watch.feed.close();
    this.watches.clear();
  }

  private watch(id: string): Watch {
    const watch: Watch = { id, feed: new Feed(), lastEvent: 0, ready: Promise.resolve(), isReady: false, idlePolls: 0 };
    this.watches.set(id, watch);
    watch.ready = this.read([watch]).then(
      () => {
        watch.isReady = true;
        this.schedule();
      },
      (error: unknown) => {
        this.watches.delete(id);
        throw error;
      },
    );
    return watch;
  }

  private schedule(): void {
    if (this.closed || this.timer || this.watches.size === 0) return;
    this.timer = setTimeout(async () => {
      await this.poll().catch((error: unknown) => this.deps.log.warn({ err: error }, "the stream log could not be read"));
      this.timer = undefined;
      this.schedule();
    }, this.pollMs);
  }

  private async poll(): Promise<void> {
    for (const watch of this.watches.values()) {
      watch.idlePolls = watch.feed.followers === 0 ? watch.idlePolls + 1 : 0;
      if (watch.idlePolls > idlePollsAllowed) this.watches.delete(watch.id);
    }
    const ready = [...this.watches.values()].filter((watch) => watch.isReady);
    if (ready.length > 0) await this.read(ready);
  }

  /** The rows first and the log after: what is ended when the first is read has its whole log when the second is. */
  private async read(watches: readonly Watch[]): Promise<void> {
    const { db } = this.deps;
    const ids = watches.map((watch) => watch.id);
    const generations = new Map((await queries.selectGenerations(db, ids)).map((row) => [row.id, row]));
    const batches = await queries.selectLog(db, new Map(watches.map((watch) => [watch.id, watch.lastEvent])));
    for (const watch of watches) {
      for (const batch of batches.filter((each) => each.generationId === watch.id)) {
        // A batch may have been widened since it was read.
        watch.feed.append(splitFrames(batch.frames).slice(Math.max(watch.feed.frames.length + 1 - batch.firstEvent, 0)));
        watch.lastEvent = batch.lastEvent;
      }
      const row = generations.get(watch.id);
      if (row?.status === "streaming") continue;
      const id = watch.lastEvent + 1;
      watch.feed.close(row && { id, frame: formatEvent(id, "receipt", toReceipt(row)) });
      this.watches.delete(watch.id);
    }
  }
}
