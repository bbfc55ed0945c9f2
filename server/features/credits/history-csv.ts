import { findModel } from "#domain/models.ts";
import type { LedgerFilter, LedgerLine } from "../../contract/ledger.ts";
import type { Executor } from "../../db/transaction.ts";
import { readLedger } from "./history.ts";

const pageSize = 500;
/** Without it Excel takes the file for one in the encoding of the device. */
const byteOrderMark = "\uFEFF";
const columns = ["time", "kind", "grant", "model", "conversation", "credits", "balance_after", "id"];

/** A spreadsheet runs a cell that begins like this as a formula, also in quotes. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Text that a person wrote: quoted (RFC 4180), and never a formula. */
function quoted(text: string | null): string {
  if (text === null) return "";
  return `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

function rowOf(line: LedgerLine): string {
  const model = line.modelId === null ? null : (findModel(line.modelId)?.name ?? line.modelId);
  const { occurredAt, kind, grantKind, conversationTitle, credits, balanceAfter, id } = line;
  return `${[occurredAt, kind, grantKind ?? "", quoted(model), quoted(conversationTitle), credits, balanceAfter, id].join(",")}\r\n`;
}

/** The history as CSV, a page at a time: each is read when the one before was sent, in a statement of its own. */
export async function* ledgerCsv(executor: Executor, userId: string, filter: LedgerFilter): AsyncGenerator<string, void, undefined> {
  yield `${byteOrderMark}${columns.join(",")}\r\n`;
  let cursor: string | undefined;
  do {
    const page = await readLedger(executor, userId, cursor, pageSize, filter);
    if (page.lines.length > 0) yield page.lines.map(rowOf).join("");
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
