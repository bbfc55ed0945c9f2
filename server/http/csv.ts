/** Shared by everything that writes CSV (RFC 4180). */

/** Without it Excel reads the file in the device's own encoding. */
export const byteOrderMark = "\uFEFF";

/** A spreadsheet runs a cell that begins like this as a formula, even if it is quoted. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Text that a person wrote: quoted, and never a formula. */
export function quoted(text: string | null): string {
  if (text === null) return "";
  return `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
