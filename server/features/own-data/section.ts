import type { RawBuilder } from "kysely";
import { sql } from "kysely";

interface Row {
  key: string;
  item: unknown;
}

export interface Section {
  /** The file's name, without `.json`. */
  name: string;
  describes: string;
  /** Rows with a uuid `key` and the JSON `item`. */
  rows(userId: string): RawBuilder<Row>;
}

/** The account that pays for the person. */
export const account = (userId: string) => sql`payer_of(${userId})`;
