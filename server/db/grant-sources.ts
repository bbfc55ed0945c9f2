/**
 * What a grant was for, and why credits of one were taken back, for use in statements: the ledger itself says neither. The history, the
 * explanation of a balance and the export of a person's data read it from here, so that they say the same. For each line it looks into a few
 * rows by their keys, however large the books are.
 */
import { sql } from "kysely";
import type { BillingInterval } from "#domain/plans.ts";

/** Joins what a grant `g` of a wallet `w` was paid with. An invoice is named only to the account it belongs to. */
export const grantSources = sql`left join paid_invoice_lines sold on sold.invoice_id = g.invoice_id and sold.id = g.invoice_line_id
  left join invoices on invoices.id = g.invoice_id and invoices.billing_account_id = w.billing_account_id`;

/** Of a year that is paid at once, a grant is for one month. */
const monthOfYear = sql<number | null>`case when sold.billing_interval = 'year' then g.invoice_month + 1 end`;

/** The columns of a `GrantSourceRow`. */
export const grantSource = sql`g.credits as grant_credits, g.pack_key, sold.plan_key, sold.billing_interval, sold.period_start, sold.period_end,
  ${monthOfYear} as month_of_year, invoices.id as invoice_id, invoices.number as invoice_number`;

/** All null where there is no grant, or where it was not sold. */
export interface GrantSourceRow {
  grant_credits: number | null;
  pack_key: string | null;
  plan_key: string | null;
  billing_interval: BillingInterval | null;
  period_start: Date | null;
  period_end: Date | null;
  month_of_year: number | null;
  invoice_id: string | null;
  invoice_number: string | null;
}

/** The same for the export, as its readers find it: with the whole period that was paid. */
export const exportedSource = sql`jsonb_build_object('plan', sold.plan_key, 'interval', sold.billing_interval, 'monthOfYear', ${monthOfYear},
  'from', sold.period_start, 'until', sold.period_end, 'pack', g.pack_key, 'stripeInvoice', g.invoice_id, 'invoiceNumber', invoices.number)`;

/** Money that somebody asked back, or that came too late; of a transfer its invoice tells, since no charge does. */
const askedBack = sql`select case m.kind when 'late' then 'late_payment' else m.kind end from money_backs m
  where m.billing_account_id = w.billing_account_id and m.kind <> 'surplus'
    and case when g.charge_id is null then m.invoice_id = g.invoice_id else m.charge_id = g.charge_id end`;

/** Earlier releases did not write down which of both it was, and a charge's row only says what came back of it in all. */
const returned = sql`select case when r.lost_cents = 0 and r.refunded_cents > 0 then 'refund' when r.refunded_cents = 0 and r.lost_cents > 0 then 'dispute' end
  from charge_returns r where r.charge_id = g.charge_id`;

/**
 * The `ClawbackReason` of a transaction with this key, which took credits of the grant `g` of a wallet `w`. Each way of taking credits posts
 * under keys of its own (docs/decisions/0112).
 */
export function clawbackReason(key: ReturnType<typeof sql.ref>) {
  return sql`case
    when ${key} like 'clawback:refund:%' then 'refund'
    when ${key} like 'clawback:dispute:%' then 'dispute'
    when ${key} like 'clawback:returned:%' then 'payment_returned'
    when ${key} like 'clawback:asked:%' then coalesce((${askedBack}), 'other')
    when ${key} like 'clawback:transfer:%' then 'transfer_reversed'
    when ${key} like 'clawback:doubled:%' then 'duplicate'
    when ${key} like 'adjustment-taken:%' then 'taken_by_team'
    when ${key} like concat('clawback:', g.id, ':%') then coalesce((${returned}), 'payment_returned')
    else 'other' end`;
}
