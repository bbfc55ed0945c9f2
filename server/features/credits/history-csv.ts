import type { LedgerFilter, LedgerLine } from "../../contract/credits/ledger.ts";
import type { Executor } from "../../db/transaction.ts";
import { byteOrderMark, quoted } from "../../http/csv.ts";
import { readLedger } from "./history.ts";

const pageSize = 500;
/** New columns come last, so that the others stay where people's own sheets expect them. */
const columns = [
  ...["time", "kind", "grant", "model", "conversation", "credits", "balance_after", "id"],
  ...["reason", "plan", "interval", "month", "from", "until", "pack", "invoice"],
];

type NameModel = (id: string) => string;

/** The plan with its interval, month and period, and the pack: as many cells as columns. */
function subjectCells({ grantFor }: LedgerLine): unknown[] {
  if (grantFor?.kind === "pack") return ["", "", "", "", "", grantFor.pack];
  if (!grantFor) return ["", "", "", "", "", ""];
  const { plan, interval, month, from, until } = grantFor;
  return [plan, interval, month ?? "", from, until, ""];
}

function rowOf(line: LedgerLine, nameModel: NameModel): string {
  const model = line.modelId === null ? null : nameModel(line.modelId);
  const { occurredAt, kind, grantKind, conversationTitle, credits, balanceAfter, id, reason, invoice } = line;
  const moved = [occurredAt, kind, grantKind ?? "", quoted(model), quoted(conversationTitle), credits, balanceAfter, id];
  const why = [reason ?? "", ...subjectCells(line), quoted(invoice && (invoice.number ?? invoice.id))];
  return `${[...moved, ...why].join(",")}\r\n`;
}

/** The history as CSV. Each page is read when the one before was sent. Only the person themselves gets the conversations. */
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
