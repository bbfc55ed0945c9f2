/** Reads from the log the answers that have ended or that another process writes, with one poll for all of them. */
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
  /** How many polls in a row found no reader. */
  idlePolls: number;
}

const idlePollsAllowed = 8;

/**
 * Splits a row of the log into its frames. The row has them as they were sent to the client, and we send them again unchanged, so we don't
 * parse them.
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

  /** Returns the answer's feed with what is in the log now. It grows while the answer is running. Throws if the log can't be read. */
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

  /** Reads the rows before the log: if a row says that the answer has ended, the log that we read after it is complete. */
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
