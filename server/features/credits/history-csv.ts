import type { LedgerFilter, LedgerLine } from "../../contract/ledger.ts";
import type { Executor } from "../../db/transaction.ts";
import { byteOrderMark, quoted } from "../../http/csv.ts";
import { readLedger } from "./history.ts";

const pageSize = 500;
const columns = ["time", "kind", "grant", "model", "conversation", "credits", "balance_after", "id"];

type NameModel = (id: string) => string;

function rowOf(line: LedgerLine, nameModel: NameModel): string {
  const model = line.modelId === null ? null : nameModel(line.modelId);
  const { occurredAt, kind, grantKind, conversationTitle, credits, balanceAfter, id } = line;
  return `${[occurredAt, kind, grantKind ?? "", quoted(model), quoted(conversationTitle), credits, balanceAfter, id].join(",")}\r\n`;
}

/** The history as CSV, a page at a time: each is read when the one before was sent, in a statement of its own. Somebody else gets no conversations. */
export async function* ledgerCsv(
  executor: Executor,
  userId: string,
  filter: LedgerFilter,
  nameModel: NameModel,
  readerId: string | null = userId,
): AsyncGenerator<string, void, undefined> {
  yield `${byteOrderMark}${columns.join(",")}\r\n`;
  let cursor: string | undefined;
  do {
    const page = await readLedger(executor, userId, cursor, pageSize, filter, readerId);
    if (page.lines.length > 0) yield page.lines.map((line) => rowOf(line, nameModel)).join("");
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
