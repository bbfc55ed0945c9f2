import { addMonths } from "#domain/clock.ts";
import { planList } from "#domain/plans.ts";
import type { GrantSubject, LedgerLine } from "../../contract/credits/ledger.ts";
import type { GrantSourceRow } from "../../db/grant-sources.ts";

/** A month of a year begins on the day on which the year began. */
function periodOf({
  period_start: start,
  period_end: end,
  month_of_year: month,
}: GrantSourceRow): { from: string; until: string } | undefined {
  if (!start || !end) return undefined;
  const [from, until] = month === null ? [start, end] : [addMonths(start, month - 1), addMonths(start, month)];
  return { from: from.toISOString(), until: until.toISOString() };
}

function subjectOf(row: GrantSourceRow): GrantSubject | null {
  if (row.pack_key !== null) return { kind: "pack", pack: row.pack_key, credits: row.grant_credits ?? 0 };
  const plan = planList.find(({ key }) => key === row.plan_key);
  const period = periodOf(row);
  if (!plan || !row.billing_interval || !period) return null;
  return { kind: "plan", plan: plan.key, interval: row.billing_interval, month: row.month_of_year, ...period };
}

/** What the grant of the row was for, and its invoice. */
export function sourceOf(row: GrantSourceRow): Pick<LedgerLine, "grantFor" | "invoice"> {
  const { invoice_id: id, invoice_number: number } = row;
  return { grantFor: subjectOf(row), invoice: id === null ? null : { id, number } };
}
