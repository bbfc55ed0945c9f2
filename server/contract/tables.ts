/** All tables of the panel have the same form of request and response (server/features/admin/tables.ts). */
import type { TProperties, TSchema } from "typebox";
import { Type } from "typebox";
import { mostRows } from "../domain/tables.ts";

/** What can be asked of a table that is sorted by `Sort`; `filters` are its own. Without a cursor the answer begins at the first row. */
export function tableQuery<Sort extends TSchema, Filters extends TProperties>(sort: Sort, filters: Filters) {
  return Type.Object(
    {
      sort: Type.Optional(sort),
      order: Type.Optional(Type.Union([Type.Literal("asc"), Type.Literal("desc")])),
      cursor: Type.Optional(Type.String({ maxLength: 1_000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostRows })),
      ...filters,
    },
    { additionalProperties: false },
  );
}

/** `nextCursor` is null on the last page. */
export function tablePage<Row extends TSchema>(row: Row) {
  return Type.Object({ rows: Type.Array(row), nextCursor: Type.Union([Type.String(), Type.Null()]) });
}

/** A page of a table with a search. `isCut`: too many rows match, so only the first by the alphabet were looked through. */
export function searchedPage<Row extends TSchema>(row: Row) {
  return Type.Object({ ...tablePage(row).properties, isCut: Type.Boolean() });
}
