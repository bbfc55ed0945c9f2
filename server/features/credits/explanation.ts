/** How a balance came about: what each grant brought, what became of it, and what is left, computed from the entries. */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { Explanation } from "../../contract/credits/ledger.ts";
import type { GrantSourceRow } from "../../db/grant-sources.ts";
import { grantSource, grantSources } from "../../db/grant-sources.ts";
import type { Executor } from "../../db/transaction.ts";
import { sourceOf } from "./grant-source.ts";
import { findWalletId } from "./queries.ts";

interface Row extends GrantSourceRow {
  balance: number;
  held_in_all: number;
  closed: number;
  /** Null, and all that follows, if no grant is open. */
  id: string | null;
  kind: GrantKind;
  created_at: Date;
  expires_at: Date;
  held: number;
  credits: number;
  spent: number;
  expired: number;
  taken_back: number;
  remaining: number;
}

/**
 * It adds up the entries of the open grants. Nearly every grant has no more entries than credits. Nothing is left of the closed
 * ones, however many entries they have, so it only adds up what they brought. One statement, so that everything is of the same moment.
 */
async function selectSteps(executor: Executor, walletId: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select w.balance, w.held as held_in_all, closed.credits as closed, g.id, g.kind, g.created_at, g.expires_at, g.held, ${grantSource},
        sums.credits, sums.spent, sums.expired, sums.taken_back, sums.remaining
      from wallets w
      cross join lateral (select coalesce(sum(credits), 0)::bigint as credits from grants where wallet_id = w.id and not open) closed
      left join grants g on g.wallet_id = w.id and g.open
      ${grantSources}
      left join lateral (
        select coalesce(-sum(amount) filter (where account = 'issued'), 0)::bigint as credits,
            coalesce(sum(amount) filter (where account = 'spent'), 0)::bigint as spent,
            coalesce(sum(amount) filter (where account = 'expired'), 0)::bigint as expired,
            coalesce(sum(amount) filter (where account = 'clawed_back'), 0)::bigint as taken_back,
            coalesce(sum(amount) filter (where account = 'wallet'), 0)::bigint as remaining
          from ledger_entries where grant_id = g.id
      ) sums on true
      where w.id = ${walletId} order by g.created_at, g.id`.execute(executor);
  return rows;
}

function stepOf(row: Row & { id: string }): Explanation["grants"][number] {
  const { id, kind, created_at, expires_at, credits, spent, expired, taken_back: takenBack, remaining, held } = row;
  return {
    id,
    kind,
    ...sourceOf(row),
    createdAt: created_at.toISOString(),
    expiresAt: expires_at.toISOString(),
    credits,
    spent,
    expired,
    takenBack,
    // The rest are repayments of debt, which move credits from one grant to another.
    moved: remaining - (credits - spent - expired - takenBack),
    remaining,
    held,
  };
}

/** The steps from nothing to the balance of the wallet that pays for the person. */
export async function explainBalance(executor: Executor, userId: string): Promise<Explanation> {
  const walletId = await findWalletId(executor, userId);
  const rows = walletId === undefined ? [] : await selectSteps(executor, walletId);
  const { balance, held_in_all: held, closed } = rows[0] ?? { balance: 0, held_in_all: 0, closed: 0 };
  const grants = rows.flatMap((row) => (row.id === null ? [] : [stepOf({ ...row, id: row.id })]));
  const sumOf = (figure: "remaining" | "held") => grants.reduce((sum, grant) => sum + grant[figure], 0);
  return { balance, held, closedCredits: closed, grants, agrees: sumOf("remaining") === balance && sumOf("held") === held };
}
