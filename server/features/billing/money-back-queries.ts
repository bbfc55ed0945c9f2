/** SQL of the money-back guarantee. */
import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { Returnable } from "./ask-back.ts";

/** The account's first invoice that was paid for a plan or pack it then had, and what became of it. */
export interface FirstPayment extends Returnable {
  paidAt: Date;
  /** Credits that it gave so far, and how many of them are spent or held for answers on their way. */
  granted: number;
  spent: number;
  disputed: boolean;
  /** What the person asked back, by the guarantee or by withdrawing from the contract; null: nothing. */
  askedCents: number | null;
}

/** Undefined if nothing was paid, or if the first payment gave no plan's credits. */
export async function selectFirstPayment(executor: Executor, payerId: string): Promise<FirstPayment | undefined> {
  const { rows } = await sql<FirstPayment>`
    with first as (select id, paid_at, amount_paid_cents, stripe_subscription_id from paid_invoices p
      where billing_account_id = ${payerId} and amount_paid_cents > 0
        and not exists (select from money_backs late where late.invoice_id = p.id and late.billing_account_id = p.billing_account_id and late.kind = 'late')
      order by paid_at, id limit 1)
    select f.id as "invoiceId", g.charge_id as "chargeId", b.reference as "transferReference", f.stripe_subscription_id as "subscriptionId", f.paid_at as "paidAt",
        f.amount_paid_cents as "paidCents", g.credits as granted, g.spent, (case
          when b.reversed_at is not null then f.amount_paid_cents
          when m.returned_reference is not null then m.amount_cents
          else coalesce(r.refunded_cents + r.lost_cents, 0) end)::bigint as "returnedCents",
        coalesce(r.disputed, false) as disputed, m.amount_cents as "askedCents"
      from first f
      cross join lateral (select min(charge_id) as charge_id, sum(credits)::bigint as credits,
          sum((select coalesce(sum(e.amount), 0) from ledger_entries e where e.grant_id = grants.id and e.account = 'spent') + held)::bigint as spent
        from grants where invoice_id = f.id and kind = 'plan') g
      left join charge_returns r on r.charge_id = g.charge_id
      left join bank_transfers b on b.invoice_id = f.id and g.charge_id is null
      left join money_backs m on m.billing_account_id = ${payerId} and m.invoice_id = f.id and m.kind <> 'surplus'
      where g.charge_id is not null or (b.reference is not null and g.credits is not null)`.execute(executor);
  return rows[0];
}
