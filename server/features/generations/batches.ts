/**
 * The two hot writes of answers and the read before them, many people's in one statement: what arrives while another is
 * under way goes with the next. If the wallet or another row of a person is locked, that person is left out of the shared statement
 * and gets a statement of their own, so that nobody waits for another person's lock.
 */
import { sql } from "kysely";
import { createBatcher } from "../../db/batch.ts";
import type { Db } from "../../db/database.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import { sqlState } from "../../failures.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import { readEntitlements } from "../billing/entitlement.ts";
import type { EndRow, StartOutcome, StartRow } from "./queries.ts";
import { callEnd, callStart, columns, toJson } from "./queries.ts";

const limit = 32;
/** Far more than any lock of a shared statement lasts, far less than a person notices, and below PostgreSQL's search for deadlocks. */
const lockTimeout = "50ms";
/** SQLSTATE of lock_not_available. */
const lockNotAvailable = "55P03";

/**
 * Wallets that are free now, locked until the statement ends. The functions lock them again, in the same transaction, and
 * other rows of the same people (the person, the conversation, the answer), which somebody may hold without the wallet.
 */
const freeWallets = (userIds: readonly string[]) =>
  sql`free as materialized (select billing_account_id, set_config('lock_timeout', ${lockTimeout}, true) from wallets
      where billing_account_id = any (array(select payer_of(asker) from unnest(${userIds}::uuid[]) asker)) for update skip locked)`;

/** Nothing from the shared statement where the person's rows were locked. */
async function orNothing<Result>(shared: Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await shared;
  } catch (error) {
    if (sqlState(error) === lockNotAvailable) return undefined;
    throw error;
  }
}

type Placed<Row> = Row & { place: number };

/** By the place of each item; undefined for those that were left out. */
function inPlaces<Row extends object>(count: number, rows: readonly Placed<Row>[]): (Row | undefined)[] {
  const results: (Row | undefined)[] = Array.from({ length: count });
  for (const { place, ...row } of rows) results[place] = row as unknown as Row;
  return results;
}

/** One statement for all of them, whatever becomes of each. Undefined: left out for a lock. */
export async function startMany(db: Db, starts: readonly StartRow[]): Promise<(StartOutcome | undefined)[]> {
  const asks = toJson(starts.map((start, place) => ({ ...start, requestHash: start.requestHash.toString("hex"), place })));
  const { rows } = await sql<Placed<StartOutcome>>`/* prepared */ with ${freeWallets(starts.map(({ userId }) => userId))}
    select ask.place, started.* from json_to_recordset(${asks}::json) as ask (place integer, turn jsonb, id uuid, "userId" uuid, "modelId" text,
        "idempotencyKey" text, "requestHash" text, credits bigint, "priceVersion" text, kinds text[], refused boolean, "holdId" uuid,
        "trimmedMessages" integer, "requestsPerMinute" integer, "concurrentAnswers" integer, owner uuid, "leaseMs" integer,
        "holdMs" integer, now timestamptz)
      join free on free.billing_account_id = payer_of(ask."userId")
      cross join lateral turn_start(ask.turn, ask.id, ask."userId", ask."modelId", ask."idempotencyKey", decode(ask."requestHash", 'hex'), ask.credits,
        ask."priceVersion", ask.kinds, ask.refused, ask."holdId", ask."trimmedMessages", ask."requestsPerMinute", ask."concurrentAnswers",
        ask.owner, ask."leaseMs", ask."holdMs", ask.now) started`.execute(db);
  return inPlaces(starts.length, rows);
}

export interface OwnEnd extends EndRow {
  userId: string;
}

async function endMany(db: Db, ends: readonly OwnEnd[]): Promise<(GenerationRow | undefined)[]> {
  const asks = toJson(ends.map(({ lastFrames, ...end }, place) => ({ ...end, ...(lastFrames ?? {}), place })));
  const { rows } = await sql<Placed<GenerationRow>>`/* prepared */ with ${freeWallets(ends.map(({ userId }) => userId))}
    select place, ${columns} from (
      select ask.place, ended.* from json_to_recordset(${asks}::json) as ask (place integer, id uuid, "userId" uuid, owner uuid, status text,
          "failureCode" text, "cutShort" boolean, "chargedCredits" bigint, parts jsonb, "promptTokens" integer, "completionTokens" integer, "costMicroDollars" bigint, "firstEvent" integer,
          "lastEvent" integer, frames text, kinds text[], now timestamptz)
        join free on free.billing_account_id = payer_of(ask."userId")
        cross join lateral answer_end(ask.id, ask.owner, ask.status, ask."failureCode", ask."cutShort", ask."chargedCredits", ask.parts, ask."promptTokens",
          ask."completionTokens", ask."costMicroDollars", ask."firstEvent", ask."lastEvent", ask.frames, ask.kinds, ask.now) ended) done`.execute(
    db,
  );
  return inPlaces(ends.length, rows);
}

export interface AnswerBatches {
  start(row: StartRow): Promise<StartOutcome>;
  /** The row as it is now, ended by this call or before; undefined when there is none. */
  end(row: OwnEnd): Promise<GenerationRow | undefined>;
  /** `now` is business time. */
  entitlement(userId: string, now: Date): Promise<Entitlement>;
}

export function createAnswerBatches(db: Db): AnswerBatches {
  const start = createBatcher({ limit, atOnce: 2, run: (rows: readonly StartRow[]) => startMany(db, rows) });
  const end = createBatcher({ limit, atOnce: 2, run: (rows: readonly OwnEnd[]) => endMany(db, rows) });
  const entitlement = createBatcher({
    limit,
    atOnce: 2,
    run: (asks: readonly { userId: string; now: Date }[]) => readEntitlements(db, asks),
  });
  return {
    start: async (row) => (await orNothing(start(row))) ?? (await callStart(db, row)),
    end: async (row) => (await orNothing(end(row))) ?? (await callEnd(db, row)),
    entitlement: (userId, now) => entitlement({ userId, now }),
  };
}
