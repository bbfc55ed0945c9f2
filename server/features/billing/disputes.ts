/** Disputes that wait for evidence or for the bank, and where a team member gives the evidence: in Stripe's dashboard alone. */

import type { Config } from "../../config.ts";
import type { OpenDispute } from "../../contract/admin/needs.ts";
import type { Executor } from "../../db/transaction.ts";
import { dashboardAddress } from "./stripe-dashboard.ts";

type Dispute = Omit<OpenDispute, "userId" | "email">;

interface Row {
  charge_id: string;
  paid_cents: number;
  recorded_at: Date;
  evidence_due_at: Date | null;
}

export function showDispute({ stripe }: Pick<Config, "stripe">, row: Row): Dispute {
  return {
    id: row.charge_id,
    paidCents: row.paid_cents,
    since: row.recorded_at.toISOString(),
    dueAt: row.evidence_due_at?.toISOString() ?? null,
    dashboardUrl: dashboardAddress(stripe, "payments", row.charge_id),
  };
}

const mostOfOne = 20;

/** Those of one account, the one that has to be answered soonest first. */
export async function readDisputesOf(executor: Executor, config: Pick<Config, "stripe">, payerId: string): Promise<Dispute[]> {
  const rows = await executor
    .selectFrom("charge_returns")
    .select(["charge_id", "paid_cents", "recorded_at", "evidence_due_at"])
    .where("billing_account_id", "=", payerId)
    .where("disputed", "=", true)
    .orderBy("evidence_due_at")
    .orderBy("charge_id")
    .limit(mostOfOne)
    .execute();
  return rows.map((row) => showDispute(config, row));
}
