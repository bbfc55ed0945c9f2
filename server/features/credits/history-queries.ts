/** SQL of the wallet's history. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { ClawbackReason, GrantKind } from "#domain/credits.ts";
import type { LedgerLineKind } from "../../contract/credits/ledger.ts";
import type { GrantSourceRow } from "../../db/grant-sources.ts";
import { grantSource, grantSources } from "../../db/grant-sources.ts";
import type { Executor } from "../../db/transaction.ts";

export interface LedgerLineRow extends GrantSourceRow {
  id: string;
  kind: LedgerLineKind;
  credits: number;
  balance_after: number;
  occurred_at: Date;
  grant_id: string | null;
  grant_kind: GrantKind | null;
  /** For a clawback. */
  reason: ClawbackReason | null;
  model_id: string | null;
  conversation_id: string | null;
  conversation_title: string | null;
  /** False for the last line that was read, if it is here only to say how far that was. */
  matches: boolean;
  /** How many lines were read, of which those that match are here. */
  read: number;
}

/** Where a page of the history ended: its last line, and the wallet's balance before that line. */
export interface LedgerPlace {
  id: string;
  balance: number;
}

export interface LineFilter {
  kind: LedgerLineKind | undefined;
  modelId: string | undefined;
  grantId: string | undefined;
  /** Inclusive. */
  since: Date | undefined;
  /** Exclusive. */
  until: Date | undefined;
  direction: "in" | "out" | undefined;
}

function conditionOf({ kind, modelId, grantId, since, until, direction }: LineFilter): RawBuilder<boolean> {
  const conditions = [sql<boolean>`true`];
  if (kind) conditions.push(sql`kind = ${kind}`);
  if (modelId) conditions.push(sql`generations.model_id = ${modelId}`);
  if (grantId) conditions.push(sql`${grantId}::uuid = any (grant_ids)`);
  if (since) conditions.push(sql`occurred_at >= ${since}`);
  if (until) conditions.push(sql`occurred_at < ${until}`);
  if (direction) conditions.push(direction === "in" ? sql`credits > 0` : sql`credits < 0`);
  return sql`coalesce(${sql.join(conditions, sql` and `)}, false)`;
}

interface Reading {
  walletId: string;
  /** A line names a conversation only to the person it belongs to. */
  readerId: string | null;
  filter: LineFilter;
  before: LedgerPlace | undefined;
  /** How many lines to read. */
  read: number;
  /** How many matching lines to return at most. If fewer match, the last line that was read is returned too. */
  limit: number;
}

/**
 * Reads lines of the wallet's history, newest first. The balance after each line is calculated back from the wallet's balance or, on
 * later pages, from the balance at `before`, so that a page costs the same however old the wallet is. Lines are in the order of their ids,
 * so a line whose transaction had to wait for the wallet may appear below lines that are already shown. What a line was for is looked up
 * only for the lines that are returned. Repayments are left out, because they sum to zero.
 */
export async function selectLedgerLines(
  executor: Executor,
  { walletId, readerId, filter, before, read, limit }: Reading,
): Promise<LedgerLineRow[]> {
  const page = before ? sql`and id < ${before.id}` : sql``;
  const balance = before ? sql`${before.balance}::bigint` : sql`(select balance from wallets where id = ${walletId})`;
  const result = await sql<LedgerLineRow>`
    with page as (
      select id, kind, reason, occurred_at from ledger_transactions
        where wallet_id = ${walletId} and kind <> 'repay' ${page} order by id desc limit ${read}
    ), lines as (
      select page.*, moved.credits, moved.grant_ids, sum(moved.credits) over (order by id desc) as credits_since,
          lead(id) over (order by id desc) is null as is_last, count(*) over () as read
        from page, lateral (
          select sum(amount) as credits, array_agg(grant_id) as grant_ids
            from ledger_entries where transaction_id = page.id and account = 'wallet'
        ) moved
    ), found as (
      select lines.*, generations.id as generation_id, generations.model_id, ${conditionOf(filter)} as matches
        from lines left join generations on generations.capture_id = lines.id
    ), shown as (
      select * from found where matches or is_last order by id desc limit ${limit + 1}
    )
    select shown.id, shown.kind, shown.credits::bigint, (${balance} - credits_since + shown.credits)::bigint as balance_after, occurred_at,
        g.id as grant_id, g.kind as grant_kind, ${grantSource},
        reason, model_id, conversations.id as conversation_id, conversations.title as conversation_title, matches, read::integer
      from shown
      left join grants g on g.id = grant_ids[1] and shown.kind <> 'capture'
      left join wallets w on w.id = g.wallet_id
      ${grantSources}
      left join messages on messages.generation_id = shown.generation_id
      left join conversations on conversations.id = messages.conversation_id and conversations.user_id = ${readerId}::uuid
      order by shown.id desc`.execute(executor);
  return result.rows;
}
