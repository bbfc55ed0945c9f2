/**
 * How the panel's tables are read: one page after a cursor, by the keys of an index, so that each page costs the same however many rows there
 * are; or all that match, as CSV, a page at a time.
 */
import type { FastifyReply } from "fastify";
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { TObject } from "typebox";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";
import { headOf, linesOf } from "../../http/csv-response.ts";
import type { Download } from "../team/downloads.ts";
import { sendDownload } from "../team/downloads.ts";

/** A column that rows are sorted by. A table's keys are the columns of an index; the last one is unique, and none is null. */
interface Key {
  column: RawBuilder<unknown>;
  type: "timestamptz" | "uuid" | "text" | "bigint";
}

export interface Table<Row, Shown extends Record<string, unknown>, Filter, Sort extends string> {
  columns: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  sorts: Record<Sort, readonly [Key, ...Key[]]>;
  /** The table opens with the first of them, in descending order. */
  defaultSort: Sort;
  /** Descending, if it is not given. */
  defaultOrder?: "asc" | "desc";
  conditionsOf: (filter: Filter) => (RawBuilder<boolean> | undefined)[];
  /** The contract of what is shown. Its fields are the columns of the file, in their order. */
  shown: TObject;
  show: (row: Row) => Shown;
}

/** For a table that is sorted by nothing but its time; `id` tells rows of one moment apart. */
export function byTime(time: RawBuilder<unknown>, id: RawBuilder<unknown>, idType: Key["type"] = "uuid") {
  const keys: [Key, Key] = [
    { column: time, type: "timestamptz" },
    { column: id, type: idType },
  ];
  return { sorts: { time: keys }, defaultSort: "time" } as const;
}

interface Asked<Sort extends string> {
  sort?: Sort;
  order?: "asc" | "desc";
  cursor?: string;
  limit?: number;
}

export interface TablePage<Shown> {
  rows: Shown[];
  nextCursor: string | null;
}

const usualRows = 50;
const csvRows = 500;

const isText = (value: unknown): value is string => typeof value === "string";

/** A cursor names its order, so that it can't be used with another. */
function placeAt(cursor: string, order: string, keys: number): string[] {
  return parseCursor(cursor, ([text = ""]) => {
    try {
      const parts: unknown = JSON.parse(decodeURIComponent(text));
      return Array.isArray(parts) && parts.every(isText) && parts.length === keys + 1 && parts[0] === order ? parts.slice(1) : undefined;
    } catch {
      return undefined;
    }
  });
}

function cursorOf(order: string, place: readonly unknown[]): string {
  return toCursor(encodeURIComponent(JSON.stringify([order, ...place.map(String)])));
}

/** Throws `validation_failed` for a cursor that is not of this table and order. */
export async function readTable<Row, Shown extends Record<string, unknown>, Filter, Sort extends string>(
  executor: Executor,
  table: Table<Row, Shown, Filter, Sort>,
  { sort = table.defaultSort, order = table.defaultOrder ?? "desc", cursor, limit = usualRows }: Asked<Sort>,
  filter: Filter,
): Promise<TablePage<Shown>> {
  const keys = table.sorts[sort];
  const name = `${sort} ${order}`;
  const place = cursor === undefined ? undefined : placeAt(cursor, name, keys.length);
  const columns = sql.join(keys.map(({ column }) => column));
  const conditions = table.conditionsOf(filter).filter((condition) => condition !== undefined);
  if (place) {
    const values = sql.join(keys.map(({ type }, index) => sql`${place[index]}::${sql.raw(type)}`));
    conditions.push(sql<boolean>`(${columns}) ${sql.raw(order === "asc" ? ">" : "<")} (${values})`);
  }
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  const by = sql.join(keys.map(({ column }) => sql`${column} ${sql.raw(order)}`));
  const { rows } = await sql<Row & { place: unknown[] }>`select ${table.columns}, jsonb_build_array(${columns}) as place
    from ${table.from} ${where} order by ${by} limit ${limit + 1}`.execute(executor);
  const last = rows[limit - 1];
  return {
    rows: rows.slice(0, limit).map(table.show),
    nextCursor: rows.length > limit && last ? cursorOf(name, last.place) : null,
  };
}

/**
 * The rows directly above and below one row in the order of the table, of those that match the filter. The row itself, which `which` names, need
 * not match it any more. Undefined if there is no such row.
 */
export async function readNeighbours<Row, Shown extends Record<string, unknown>, Filter, Sort extends string>(
  executor: Executor,
  table: Table<Row, Shown, Filter, Sort>,
  { sort = table.defaultSort, order = table.defaultOrder ?? "desc" }: Asked<Sort>,
  filter: Filter,
  which: RawBuilder<boolean>,
): Promise<{ above: Shown | null; below: Shown | null } | undefined> {
  const columns = sql.join(table.sorts[sort].map(({ column }) => column));
  const { rows } = await sql<{ place: unknown[] }>`select jsonb_build_array(${columns}) as place from ${table.from} where ${which}`.execute(
    executor,
  );
  const [row] = rows;
  if (!row) return undefined;
  const firstAfter = async (direction: "asc" | "desc") => {
    const cursor = cursorOf(`${sort} ${direction}`, row.place);
    const page = await readTable(executor, table, { sort, order: direction, cursor, limit: 1 }, filter);
    return page.rows[0] ?? null;
  };
  const [below, above] = await Promise.all([firstAfter(order), firstAfter(order === "asc" ? "desc" : "asc")]);
  return { above, below };
}

/** Every row that matches, below a line with the names. Each page is read when the one before was sent, in a statement of its own. */
async function* csvOf<Row, Shown extends Record<string, unknown>, Filter, Sort extends string>(
  executor: Executor,
  table: Table<Row, Shown, Filter, Sort>,
  asked: Asked<Sort>,
  filter: Filter,
): AsyncGenerator<string, void, undefined> {
  let isBegun = false;
  let cursor = asked.cursor;
  do {
    const page: TablePage<Shown> = await readTable(executor, table, { ...asked, ...(cursor && { cursor }), limit: csvRows }, filter);
    // Reading the first page finds every fault of the request before anything is sent.
    yield `${isBegun ? "" : headOf(table.shown)}${linesOf(table.shown, page.rows)}`;
    isBegun = true;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

export function sendCsv<Row, Shown extends Record<string, unknown>, Filter, Sort extends string>(
  download: Download,
  table: Table<Row, Shown, Filter, Sort>,
  asked: Asked<Sort>,
  filter: Filter,
): FastifyReply {
  return sendDownload(download, csvOf(download.deps.db, table, asked, filter));
}
