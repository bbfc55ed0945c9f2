/** Rows as a CSV file: the fields of their contract are its columns, in their order. */
import type { FastifyReply } from "fastify";
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

export const csvHeaders = { "content-type": "text/csv; charset=utf-8", "content-disposition": 'attachment; filename="tessera.csv"' };

/** Sends rows that are all in memory. */
export function sendCsvText(reply: FastifyReply, shown: TObject, rows: readonly Record<string, unknown>[]): FastifyReply {
  return reply.headers(csvHeaders).send(`${headOf(shown)}${linesOf(shown, rows)}`);
}
