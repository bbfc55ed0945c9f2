/** SQL of the money-back guarantee. */
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { MoneyBackRow } from "../../db/types-billing.ts";

/** The account's first paid invoice, and what became of it. */
export interface FirstPayment {
  invoiceId: string;
  chargeId: string;
  subscriptionId: string | null;
  paidAt: Date;
  paidCents: number;
  /** Credits that it gave so far, and how many of them are spent. */
  granted: number;
  spent: number;
  /** What went back already. */
  returnedCents: number;
  disputed: boolean;
  /** What the person asked for; null: nothing. */
  askedCents: number | null;
}

/** Undefined if nothing was paid, or if the first payment gave no plan's credits. */
export async function selectFirstPayment(executor: Executor, payerId: string): Promise<FirstPayment | undefined> {
  const { rows } = await sql<FirstPayment>`
    with first as (select id, paid_at, amount_paid_cents, stripe_subscription_id from paid_invoices
      where billing_account_id = ${payerId} and amount_paid_cents > 0 order by paid_at, id limit 1)
    select f.id as "invoiceId", g.charge_id as "chargeId", f.stripe_subscription_id as "subscriptionId", f.paid_at as "paidAt",
        f.amount_paid_cents as "paidCents", g.credits as granted, g.spent, coalesce(r.refunded_cents + r.lost_cents, 0)::bigint as "returnedCents",
        coalesce(r.disputed, false) as disputed, m.amount_cents as "askedCents"
      from first f
      cross join lateral (select min(charge_id) as charge_id, sum(credits)::bigint as credits,
          sum((select coalesce(sum(e.amount), 0) from ledger_entries e where e.grant_id = grants.id and e.account = 'spent'))::bigint as spent
        from grants where invoice_id = f.id and kind = 'plan') g
      left join charge_returns r on r.charge_id = g.charge_id
      left join money_backs m on m.billing_account_id = ${payerId}
      where g.charge_id is not null`.execute(executor);
  return rows[0];
}

/** Returns the request's id. An account has one. */
export async function insertRequest(trx: Trx, payerId: string, payment: FirstPayment, amountCents: number, now: Date): Promise<string> {
  const { id } = await trx
    .insertInto("money_backs")
    .values({
      billing_account_id: payerId,
      invoice_id: payment.invoiceId,
      charge_id: payment.chargeId,
      stripe_subscription_id: payment.subscriptionId,
      amount_cents: amountCents,
      asked_at: now,
      done_at: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

export async function selectRequest(executor: Executor, requestId: string): Promise<MoneyBackRow | undefined> {
  return executor.selectFrom("money_backs").selectAll().where("id", "=", requestId).executeTakeFirst();
}

export async function markDone(executor: Executor, requestId: string, now: Date): Promise<void> {
  await executor.updateTable("money_backs").set({ done_at: now }).where("id", "=", requestId).where("done_at", "is", null).execute();
}
