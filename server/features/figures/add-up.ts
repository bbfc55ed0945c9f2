/**
 * Keeps the sums behind the figures: every minute the worker adds the rows that were written since the last time, a bounded number in each
 * transaction, for a bounded time in each run. After an outage the next runs catch up.
 */
import type { Db } from "../../db/database.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { FigureSource } from "../../db/types-figures.ts";
import { addAnswers } from "./add-answers.ts";
import { addLedger } from "./add-ledger.ts";
import { addPeople } from "./add-people.ts";
import { addSubscriptions } from "./add-subscriptions.ts";
import type { AddBatch } from "./marks.ts";
import { addNext, settleMs } from "./marks.ts";

export const sources: Readonly<Record<FigureSource, AddBatch>> = {
  people: addPeople,
  ledger: addLedger,
  subscriptions: addSubscriptions,
  answers: addAnswers,
};

/** A transaction with this many rows takes a fraction of a second. */
const batchRows = 2_000;
/** How long a run may take for each source. */
const runMs = 10_000;

interface Run {
  signal?: AbortSignal;
  /** How old a row must be. Only tests, which know that nothing else writes, give another. */
  marginMs?: number;
  limit?: number;
  forMs?: number;
}

/**
 * Returns whether everything that has settled is in the sums now. A source that fails doesn't keep the others; its error is thrown once they are
 * done.
 */
export async function addUp(db: Db, { signal, marginMs = settleMs, limit = batchRows, forMs = runMs }: Run = {}): Promise<boolean> {
  let isComplete = true;
  const failures: unknown[] = [];
  for (const [source, add] of Object.entries(sources) as [FigureSource, AddBatch][]) {
    const until = performance.now() + forMs;
    let isDone: boolean | undefined;
    try {
      do isDone = await inTransaction(db, (trx) => addNext(trx, source, add, { marginMs, limit }));
      while (isDone === false && performance.now() < until && !signal?.aborted);
    } catch (error) {
      failures.push(error);
    }
    isComplete &&= isDone === true;
  }
  if (failures.length > 0) throw failures[0];
  return isComplete;
}
