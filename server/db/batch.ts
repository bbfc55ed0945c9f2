import pg from "pg";
import { isConnectionLost } from "../failures.ts";

export interface BatchOptions<Item, Result> {
  /** Items of one statement. */
  limit: number;
  /** Statements under way: while PostgreSQL works on one batch the next is gathered, and neither side waits for the other. */
  atOnce: number;
  /** One statement for all of them: a result for each, in their order. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  done: (result: Result) => void;
  failed: (error: unknown) => void;
}

/** Insufficient resources, operator intervention (a statement that took too long), system error. */
const overwhelmed = /^5[378]/;

/** PostgreSQL refused the statement for what it holds: each of its items may still be well alone. */
function isAboutContent(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isConnectionLost(error) && !overwhelmed.test(error.code ?? "");
}

/**
 * Takes items from many requests at once: those that arrive while statements are under way share the next one, and each
 * caller hears of its own. Nobody waits for others to come: with nothing under way an item goes at once. One that
 * PostgreSQL refuses spoils none beside it; with PostgreSQL away or overwhelmed all that wait fail together.
 */
export function createBatcher<Item, Result>({ limit, atOnce, run }: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { done }] of batch.entries()) done(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isAboutContent(error)) {
        for (const one of batch) await runBatch([one]);
        return;
      }
      const refused = isAboutContent(error) ? batch : [...batch, ...waiting.splice(0)];
      for (const { failed } of refused) failed(error);
    }
  }

  async function work(): Promise<void> {
    underWay += 1;
    // A fair part of what waits: the other statements work on the rest at the same time.
    while (waiting.length > 0) await runBatch(waiting.splice(0, Math.min(limit, Math.ceil(waiting.length / atOnce))));
    underWay -= 1;
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed });
      if (underWay < atOnce) void work();
    });
}
