import { setImmediate as untilCallersWent } from "node:timers/promises";
import pg from "pg";
import { isConnectionLost } from "../failures.ts";
import type { Arrivals } from "./arrivals.ts";

export interface BatchOptions<Item, Result> {
  /** Items per statement. */
  limit: number;
  /** Statements running at once: while PostgreSQL works on one batch we collect the next. */
  atOnce: number;
  /** A statement takes at least so many waiting items, even if another could run: for items cheaper than a statement. Default: 1. */
  together?: number;
  /** The first statement waits for the calls that are on their way here. */
  arrivals?: Arrivals;
  /** Runs one statement for all items and returns one result for each, in the same order. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  done: (result: Result) => void;
  failed: (error: unknown) => void;
}

/** SQLSTATE classes 53 (insufficient resources), 57 (operator intervention, such as a statement timeout) and 58 (system error). */
const overwhelmed = /^5[378]/;

/** True if PostgreSQL refused the statement because of its content. Its items may then still succeed one by one. */
function isRefusedForContent(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isConnectionLost(error) && !overwhelmed.test(error.code ?? "");
}

/**
 * Combines items from many requests into shared statements. Items of one turn of the event loop share a statement, and so do items that
 * arrive while statements are running. Each caller gets its own result. If PostgreSQL refuses a batch
 * because of one item, the others still succeed. If PostgreSQL is unreachable or overloaded, all waiting items fail together.
 */
export function createBatcher<Item, Result>({
  limit,
  atOnce,
  together = 1,
  arrivals,
  run,
}: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let beginning = false;

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { done }] of batch.entries()) done(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isRefusedForContent(error)) {
        for (const one of batch) await runBatch([one]);
        return;
      }
      const refused = isRefusedForContent(error) ? batch : [...batch, ...waiting.splice(0)];
      for (const { failed } of refused) failed(error);
    }
  }

  async function work(): Promise<void> {
    // Divides what waits evenly among the statements that may still begin; later batches divide it among `atOnce`.
    let sharers = atOnce - underWay;
    underWay += 1;
    while (waiting.length > 0) {
      const share = Math.max(together, Math.ceil(waiting.length / sharers));
      sharers = atOnce;
      await runBatch(waiting.splice(0, Math.min(limit, share)));
      // The callers use their results first: sending a statement wakes PostgreSQL, often on the processor that this process runs on.
      await untilCallersWent();
    }
    underWay -= 1;
  }

  /** The process reads requests that arrive together one after the other. The statement begins when it has read them all. */
  async function begin(): Promise<void> {
    beginning = true;
    await arrivals?.settled();
    await untilCallersWent();
    beginning = false;
    while (underWay < atOnce && waiting.length > 0) void work();
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (!beginning) void begin();
    });
}
