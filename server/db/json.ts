import type { ColumnType } from "kysely";

/** A jsonb column: read as the value, written as its text. */
export type Json<T> = ColumnType<T, string, string>;
