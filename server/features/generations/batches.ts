/**
 * The start and the end of answers and the entitlement read before them, for many people in one statement: requests that arrive while a
 * statement is running share the next one. If the wallet or another row of a person is locked, that person is left out of the shared statement
 * and gets a statement of their own, so that nobody waits for another person's lock.
 */
import { sql } from "kysely";
import type { Arrivals } from "../../db/arrivals.ts";
import { createBatcher } from "../../db/batch.ts";
import type { Db } from "../../db/database.ts";
import { selectMembersOfAll } from "../../db/payer.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { EndedRow } from "../../db/types-answers.ts";
import { startConnections } from "../../deps.ts";
import { lockNotAvailable, sqlState } from "../../failures.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import { readEntitlements } from "../billing/entitlement.ts";
import { startClip } from "./clip-end.ts";
import type { EndRow } from "./ends.ts";
import { callEnd, callEnds } from "./ends.ts";
import type { StartOutcome, StartRow } from "./starts.ts";
import { callStart, callStarts } from "./starts.ts";

const limit = 32;
/** At least this many starts share a statement: two statements of two cost more than one of four. */
const startsTogether = 5;
const endsTogether = 16;

/** Returns undefined if the shared statement failed because one of the person's rows was locked. */
async function orNothing<Result>(shared: Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await shared;
  } catch (error) {
    if (sqlState(error) === lockNotAvailable) return undefined;
    throw error;
  }
}

/** The start of pictures or of a clip. A clip's waits for the disk: its job outlives this process. */
export async function startLarge(trx: Trx, row: StartRow): Promise<StartOutcome> {
  const result = await callStart(trx, row);
  if (!row.options?.clip || result.outcome !== "created") return result;
  await startClip(trx, row, row.prompt ?? "");
  await sql`select set_config('synchronous_commit', 'on', true)`.execute(trx);
  return result;
}

export interface AnswerBatches {
  start(row: StartRow): Promise<StartOutcome>;
  /** Ends the answer and returns its row, also if it had ended before. Undefined if there is no row. */
  end(row: EndRow): Promise<EndedRow | undefined>;
  /** `now` is business time. */
  entitlement(userId: string, now: Date): Promise<Entitlement>;
  /** The people for whom the account pays. */
  members(payerId: string): Promise<string[]>;
}

/** Starts that can share a statement go to `starts`, which has connections for nothing else, and wait for those that are on their way. */
export function createAnswerBatches(db: Db, starts = db, arrivals?: Arrivals): AnswerBatches {
  const start = createBatcher({
    limit,
    atOnce: startConnections,
    together: startsTogether,
    ...(arrivals && { arrivals }),
    run: (rows: readonly StartRow[]) => callStarts(starts, rows, false),
  });
  const end = createBatcher({ limit, atOnce: 2, together: endsTogether, run: (rows: readonly EndRow[]) => callEnds(db, rows, false) });
  const entitlement = createBatcher({
    limit,
    atOnce: 2,
    run: (asks: readonly { userId: string; now: Date }[]) => readEntitlements(db, asks),
  });
  const members = createBatcher({ limit, atOnce: 1, run: (payerIds: readonly string[]) => selectMembersOfAll(db, payerIds) });
  return {
    members,
    // What is asked for with options is a transaction of its own: there are few of them.
    start: async (row) =>
      row.options ? inTransaction(db, (trx) => startLarge(trx, row)) : ((await orNothing(start(row))) ?? (await callStart(db, row))),
    end: async (row) => (await orNothing(end(row))) ?? (await callEnd(db, row)),
    entitlement: (userId, now) => entitlement({ userId, now }),
  };
}
