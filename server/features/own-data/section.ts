import type { RawBuilder } from "kysely";
import { sql } from "kysely";

/** Answers can be long, so few rows are in memory at a time. */
export const pageSize = 100;

interface Row {
  key: string;
  item: unknown;
}

/** Where a page ends: at its last row. */
export interface Place {
  place: string | null;
  key: string;
}

export interface Section {
  /** The file's name, without `.json`. */
  name: string;
  describes: string;
  /**
   * Rows with the JSON `item` and a uuid `key`, by which they are ordered. What people get more of with use is ordered as an index is, so that
   * PostgreSQL reads each page from its place on. `pageOf` leaves out what comes before `after`; a section that joins has to do so itself.
   */
  rows(userId: string, after?: Place): RawBuilder<Row>;
  /** The type of the column `place`, if the rows have one: they are ordered by it, and then by their key. */
  place?: "text" | "timestamptz" | "uuid";
}

/** The page of a section after `after`; without it the first one. */
export function pageOf({ rows, place }: Section, userId: string, after: Place | undefined): RawBuilder<Row & Place> {
  const order = place ? sql`kept.place, kept.key` : sql`kept.key`;
  const end = place ? sql`${after?.place}::${sql.raw(place)}, ${after?.key}::uuid` : sql`${after?.key}::uuid`;
  const shown = place ? sql`kept.place::text as place` : sql`null as place`;
  return sql`select ${shown}, key, item from (${rows(userId, after)}) as kept
    where ${after ? sql`(${order}) > (${end})` : sql`true`} order by ${order} limit ${pageSize}`;
}

/** The account that pays for the person. */
export const account = (userId: string) => sql`payer_of(${userId})`;
