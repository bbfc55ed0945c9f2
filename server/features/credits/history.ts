/** The wallet's history in pages. A page reads a bounded number of lines, however old the wallet is and however few lines match. */
import { validate as isUuid } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { LedgerFilter, LedgerLine, LedgerPage } from "../../contract/credits/ledger.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";
import { sourceOf } from "./grant-source.ts";
import type { LedgerLineRow, LedgerPlace, LineFilter } from "./history-queries.ts";
import { selectLedgerLines } from "./history-queries.ts";
import { findWalletId } from "./queries.ts";

/** How many lines a filtered page reads at most. */
export const mostLinesRead = 10_000;
const firstLinesRead = 200;

/**
 * Lines are in the order in which their postings began at the database. The business time of a posting is older by as long as it was on its
 * way, which is far less than this.
 */
const orderSlackMs = dayMs;

function placeAt(cursor: string): LedgerPlace {
  return parseCursor(cursor, ([id = "", balance = ""]) =>
    isUuid(id) && /^-?\d{1,15}$/.test(balance) ? { id, balance: Number(balance) } : undefined,
  );
}

function lineFilterOf({ kind, model, grant, from, to, direction }: LedgerFilter): LineFilter {
  return {
    kind,
    modelId: model,
    grantId: grant,
    since: from === undefined ? undefined : new Date(from),
    until: to === undefined ? undefined : addMilliseconds(new Date(to), dayMs),
    direction,
  };
}

function lineOf(row: LedgerLineRow): LedgerLine {
  return {
    id: row.id,
    kind: row.kind,
    credits: row.credits,
    balanceAfter: row.balance_after,
    occurredAt: row.occurred_at.toISOString(),
    grantId: row.grant_id,
    grantKind: row.grant_kind,
    ...sourceOf(row),
    reason: row.reason,
    modelId: row.model_id,
    conversationId: row.conversation_id,
    conversationTitle: row.conversation_title,
  };
}

/** Whether this line and all that follow it are of a time before `since`. */
function isBefore(line: LedgerLineRow, since: Date | undefined): boolean {
  return since !== undefined && line.occurred_at < addMilliseconds(since, -orderSlackMs);
}

interface Stretch {
  lines: LedgerLine[];
  /** Where the next page begins; undefined if nothing that matches can come. */
  next: LedgerPlace | undefined;
  /** Up to when it was read, if it ended before `limit` lines were found. */
  readTo: Date | null;
}

async function readStretch(
  executor: Executor,
  whose: { walletId: string; readerId: string | null },
  filter: LineFilter,
  before: LedgerPlace | undefined,
  limit: number,
): Promise<Stretch> {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const lines: LedgerLine[] = [];
  let next = before;
  let left = isFiltered ? mostLinesRead : limit;
  let read = isFiltered ? firstLinesRead : limit;
  for (;;) {
    const wanted = limit - lines.length;
    const rows = await selectLedgerLines(executor, { ...whose, filter, before: next, read, limit: wanted });
    for (const row of rows.slice(0, wanted)) {
      if (row.matches) lines.push(lineOf(row));
      next = { id: row.id, balance: row.balance_after - row.credits };
    }
    const last = rows.at(-1);
    if (!last || (rows.length <= wanted && (last.read < read || isBefore(last, filter.since))))
      return { lines, next: undefined, readTo: null };
    if (lines.length === limit) return { lines, next, readTo: null };
    left -= read;
    if (left <= 0) return { lines, next, readTo: last.occurred_at };
    read = Math.min(left, read * 4);
  }
}

/** One page of the history, newest first; `cursor` is the `nextCursor` of the page before. Somebody else who reads it gets no conversations. */
export async function readLedger(
  executor: Executor,
  userId: string,
  cursor: string | undefined,
  limit: number,
  filter: LedgerFilter = {},
  readerId: string | null = userId,
): Promise<LedgerPage> {
  const before = cursor === undefined ? undefined : placeAt(cursor);
  const walletId = await findWalletId(executor, userId);
  if (walletId === undefined) return { lines: [], nextCursor: null, readTo: null };
  const { lines, next, readTo } = await readStretch(executor, { walletId, readerId }, lineFilterOf(filter), before, limit);
  return { lines, nextCursor: next ? toCursor(next.id, String(next.balance)) : null, readTo: readTo?.toISOString() ?? null };
}
