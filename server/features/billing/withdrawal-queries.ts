/** SQL of withdrawals. */
import { sql } from "kysely";
import type { BillingInterval } from "#domain/plans.ts";
import type { Executor } from "../../db/transaction.ts";
import type { MoneyBackKind } from "../../db/types-billing.ts";
import type { Returnable } from "./ask-back.ts";

/** A contract: a subscription, by its first payment, or a pack. */
export interface ContractRow extends Returnable {
  planKey: string | null;
  interval: BillingInterval | null;
  packKey: string | null;
  concludedAt: Date;
  disputed: boolean;
  /** Credits that it gives in all: of an annual plan those of twelve months. */
  granted: number;
  /** How many of them are no longer there, though none were taken back: spent, held for answers on their way, or used up by an earlier debt. */
  used: number;
  /** By what the person asked the payment back, how much and when; null: not at all. */
  askedBy: MoneyBackKind | null;
  askedCents: number | null;
  askedAt: Date | null;
  /** The bank's reference of the transfer that paid it back. */
  returnedReference: string | null;
}

/** Newest first. */
export async function selectContracts(executor: Executor, payerId: string): Promise<ContractRow[]> {
  const { rows } = await sql<ContractRow>`
    with firsts as (select distinct on (coalesce(stripe_subscription_id, id)) id, stripe_subscription_id, paid_at, amount_paid_cents
      from paid_invoices where billing_account_id = ${payerId} and amount_paid_cents > 0
      order by coalesce(stripe_subscription_id, id), paid_at, id)
    select f.id as "invoiceId", g.charge_id as "chargeId", b.reference as "transferReference", f.stripe_subscription_id as "subscriptionId", f.paid_at as "concludedAt",
        f.amount_paid_cents as "paidCents", l.plan_key as "planKey", l.billing_interval as "interval", g.pack_key as "packKey",
        g.credits + s.credits as granted, g.used, case when b.reversed_at is null then coalesce(r.refunded_cents + r.lost_cents, 0)::bigint else f.amount_paid_cents end as "returnedCents",
        coalesce(r.disputed, false) as disputed, m.kind as "askedBy", m.amount_cents as "askedCents", m.asked_at as "askedAt",
        m.returned_reference as "returnedReference"
      from firsts f
      cross join lateral (select min(charge_id) as charge_id, min(pack_key) as pack_key, sum(credits)::bigint as credits,
          sum(credits - remaining - clawed_back + held)::bigint as used
        from grants where invoice_id = f.id and kind in ('plan', 'pack')) g
      cross join lateral (select coalesce(sum(credits), 0)::bigint as credits from scheduled_grants
        where invoice_id = f.id and posted_at is null) s
      left join lateral (select plan_key, billing_interval from paid_invoice_lines
        where invoice_id = f.id and plan_key is not null order by id limit 1) l on true
      left join charge_returns r on r.charge_id = g.charge_id
      left join bank_transfers b on b.invoice_id = f.id and g.charge_id is null
      left join money_backs m on m.billing_account_id = ${payerId} and m.invoice_id = f.id and m.kind <> 'surplus'
      where g.charge_id is not null or (b.reference is not null and g.credits is not null)
      order by f.paid_at desc, f.id`.execute(executor);
  return rows;
}
