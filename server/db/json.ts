import type { ColumnType } from "kysely";

/** A jsonb column: we read it as a value and write it as JSON text. */
export type Json<T> = ColumnType<T, string, string>;
