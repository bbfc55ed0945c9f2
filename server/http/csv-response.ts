/** Rows as a CSV file: the fields of their contract are its columns, in their order. */
import type { TObject } from "typebox";
import { byteOrderMark, quoted } from "./csv.ts";

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return quoted(typeof value === "string" ? value : JSON.stringify(value));
}

/** The line with the names of what is shown. */
export const headOf = ({ properties }: TObject) => `${byteOrderMark}${Object.keys(properties).join(",")}\r\n`;

export function linesOf({ properties }: TObject, rows: readonly Record<string, unknown>[]): string {
  const names = Object.keys(properties);
  return rows.map((row) => `${names.map((name) => cellOf(row[name])).join(",")}\r\n`).join("");
}

/** The file is named by what it lists and the day in UTC, so that several of them are told apart. */
export const csvHeaders = (list: string, now: Date) => ({
  "content-type": "text/csv; charset=utf-8",
  "content-disposition": `attachment; filename="tessera-${list}-${now.toISOString().slice(0, 10)}.csv"`,
});
