import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import { DomainError } from "#domain/errors.ts";
import type { Trx } from "../../db/transaction.ts";
import { findWalletId } from "./queries.ts";
import { translate } from "./service.ts";

export interface SharedHold {
  holdId: string;
  /** The credits are held in the wallet of the account that pays for this person. */
  userId: string;
  credits: number;
  kinds: readonly GrantKind[];
  /** After this time, by PostgreSQL's clock, a sweep releases what is left. */
  holdMs: number;
  /** Business time. */
  now: Date;
}

/**
 * Holds credits for several answers, each of which settles its share when it ends. (A single answer's hold is made by `answers_start`.)
 * Throws `insufficient_credits` and `wallet_frozen`.
 */
export async function holdForSeveral(trx: Trx, { holdId, userId, credits, kinds, holdMs, now }: SharedHold): Promise<void> {
  const walletId = await findWalletId(trx, userId);
  if (walletId === undefined)
    throw new DomainError("insufficient_credits", `This needs ${credits} credits; none are available`, { needed: credits, available: 0 });
  try {
    await sql`select from ledger_hold(${holdId}, ${walletId}, ${credits}, ${kinds}, ${now},
      clock_timestamp() + ${holdMs} * interval '1 millisecond', clock_timestamp())`.execute(trx);
  } catch (error) {
    throw translate(error, credits);
  }
}
