/**
 * Makes the sums anew from the raw rows and says where they differed. One transaction: whoever reads sees the sums as they were until it ends,
 * and the worker waits for the next minute.
 */
import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { FigureSource } from "../../db/types-figures.ts";
import { addWaited } from "./add-answers.ts";
import { sources } from "./add-up.ts";
import type { AddBatch } from "./marks.ts";
import { firstId } from "./marks.ts";

/** The tables of sums, with the columns that identify a row. */
const tables = {
  daily_credits: ["day", "grant_kind"],
  credit_expiries: ["expires_on", "grant_kind"],
  daily_answers: ["day", "model_id"],
  daily_first_texts: ["day", "model_id", "bucket"],
  daily_subscriptions: ["day", "plan_key", "billing_interval"],
  daily_people: ["day"],
} as const;

/** Few enough for a statement to stay far within its time-out. */
const batchRows = 20_000;

export interface Difference {
  /** The table, and what names its row. */
  sum: string;
  recorded: Record<string, number>;
  rebuilt: Record<string, number>;
}

type Sums = Map<string, Record<string, number>>;

/** All rows with a sum other than zero. */
async function readSums(trx: Trx): Promise<Sums> {
  const sums: Sums = new Map();
  for (const [table, names] of Object.entries(tables)) {
    const { rows } = await sql<{ row: Record<string, string | number> }>`select to_jsonb(t) as row from ${sql.table(table)} t`.execute(trx);
    for (const { row } of rows) {
      const values = Object.entries(row).filter((pair): pair is [string, number] => typeof pair[1] === "number");
      if (values.some(([, value]) => value !== 0))
        sums.set([table, ...names.map((name) => row[name])].join(" "), Object.fromEntries(values));
    }
  }
  return sums;
}

function compare(recorded: Sums, rebuilt: Sums): Difference[] {
  const keys = [...new Set([...recorded.keys(), ...rebuilt.keys()])].sort();
  return keys.flatMap((sum): Difference[] => {
    const [before = {}, after = {}] = [recorded.get(sum), rebuilt.get(sum)];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.every((name) => (before[name] ?? 0) === (after[name] ?? 0)) ? [] : [{ sum, recorded: before, rebuilt: after }];
  });
}

async function makeAnew(trx: Trx, marks: ReadonlyMap<string, string>): Promise<void> {
  for (const table of [...Object.keys(tables), "waiting_answers"]) await sql`delete from ${sql.table(table)}`.execute(trx);
  for (const [source, add] of Object.entries(sources) as [FigureSource, AddBatch][]) {
    const upTo = marks.get(source) ?? firstId;
    let after = firstId;
    for (;;) {
      const { rows, last } = await add(trx, { after, upTo, limit: batchRows });
      if (last === null || rows < batchRows) break;
      after = last;
    }
  }
}

class OnlyCompared extends Error {}

/** With `keep: false` nothing is changed. */
export async function rebuildFigures(db: Db, { keep }: { keep: boolean }): Promise<Difference[]> {
  let differences: Difference[] = [];
  try {
    await inTransaction(db, async (trx) => {
      const marks = await trx.selectFrom("figure_marks").select(["source", "reached"]).orderBy("source").forUpdate().execute();
      await addWaited(trx);
      const recorded = await readSums(trx);
      await makeAnew(trx, new Map(marks.map(({ source, reached }) => [source, reached])));
      differences = compare(recorded, await readSums(trx));
      if (!keep) throw new OnlyCompared();
    });
  } catch (error) {
    if (!(error instanceof OnlyCompared)) throw error;
  }
  return differences;
}
