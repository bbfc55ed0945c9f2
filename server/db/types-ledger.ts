import type { ColumnType, Generated } from "kysely";
import type { ClawbackReason, GrantKind } from "#domain/credits.ts";
import type { Json } from "./json.ts";

export interface Wallets {
  id: Generated<string>;
  billing_account_id: string;
  balance: Generated<number>;
  held: Generated<number>;
  frozen_at: Date | null;
  created_at: Date;
  /** The share of a month's plan credits at which its members are told; null: never. */
  alert_percent: Generated<number | null>;
}

export interface Grants {
  id: Generated<string>;
  wallet_id: string;
  kind: GrantKind;
  credits: number;
  remaining: number;
  held: Generated<number>;
  clawed_back: Generated<number>;
  expires_at: Date;
  expired_at: Date | null;
  source_key: string;
  created_at: Date;
  /** Whether anything is left or held. */
  open: ColumnType<boolean, never, never>;
  invoice_id: Generated<string | null>;
  invoice_line_id: Generated<string | null>;
  charge_id: Generated<string | null>;
  pack_key: Generated<string | null>;
  /** Which month of a year of the invoice's line, 0 to 11. */
  invoice_month: Generated<number | null>;
  /** For a plan's grant: the share that holds for its month; null: no alert. */
  alert_percent: Generated<number | null>;
  alert_told: Generated<boolean>;
  alert_dismissed: Generated<boolean>;
}

export type LedgerKind = "grant" | "capture" | "expire" | "clawback" | "repay" | "restore";

/** Which transaction posted a key: unique over all months of the ledger. */
export interface LedgerKeys {
  key: string;
  transaction_id: string;
}

export interface LedgerTransactions {
  id: Generated<string>;
  key: string;
  kind: LedgerKind;
  wallet_id: string;
  content: Json<Record<string, unknown>>;
  /** Only of a clawback. */
  reason: Generated<ClawbackReason | null>;
  occurred_at: Date;
  recorded_at: Generated<Date>;
}

export interface LedgerEntries {
  transaction_id: string;
  line: number;
  account: "wallet" | "issued" | "spent" | "expired" | "clawed_back";
  wallet_id: string;
  grant_id: string;
  amount: number;
}

export interface Holds {
  id: string;
  wallet_id: string;
  amount: number;
  state: Generated<"open" | "captured" | "released">;
  captured: Generated<number>;
  /** The part already captured or released; the rest is still held. */
  settled: Generated<number>;
  deadline: Date;
  created_at: Date;
  ended_at: Date | null;
}

export interface HoldParts {
  hold_id: string;
  grant_id: string;
  amount: number;
  /** Not updated any more once the hold has ended. */
  settled: Generated<number>;
}

export interface LedgerChecks {
  name: "recent" | "round";
  reached: string;
}

/** What was charged to an account for answers, by day in UTC and model. Only SQL reads and writes it. */
export interface UsageDays {
  billing_account_id: string;
  day: string;
  model_id: string;
  answers: number;
  credits: number;
}

export interface ModelAccounts {
  model_id: string;
  billing_account_id: string;
  last_day: string;
  told: Generated<boolean>;
}
