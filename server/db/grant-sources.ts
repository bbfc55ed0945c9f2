/**
 * What a grant was for, for use in statements. The history, the explanation of a balance and the export of a person's data read it from here,
 * so that they say the same. For each line it looks into a few rows by their keys, however large the books are.
 */
import { sql } from "kysely";
import type { BillingInterval } from "#domain/plans.ts";

/** Joins what a grant `g` of a wallet `w` was paid with. An invoice is named only to the account it belongs to. */
export const grantSources = sql`left join paid_invoice_lines sold on sold.invoice_id = g.invoice_id and sold.id = g.invoice_line_id
  left join invoices on invoices.id = g.invoice_id and invoices.billing_account_id = w.billing_account_id`;

/** If a year was paid at once, each grant is for one of its months. */
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

/** The same for the export of a person's data, but with the whole period that was paid. */
export const exportedSource = sql`jsonb_build_object('plan', sold.plan_key, 'interval', sold.billing_interval, 'monthOfYear', ${monthOfYear},
  'from', sold.period_start, 'until', sold.period_end, 'pack', g.pack_key, 'stripeInvoice', g.invoice_id, 'invoiceNumber', invoices.number)`;
