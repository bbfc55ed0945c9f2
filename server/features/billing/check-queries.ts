/** SQL of the checks: what the books lack, or have twice. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { FindingKind } from "#domain/findings.ts";
import type { Executor, Trx } from "../../db/transaction.ts";

/** How many credits were granted for each of the invoices. */
export async function selectGrantedCredits(executor: Executor, invoiceIds: readonly string[]): Promise<Map<string, number>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await executor
    .selectFrom("grants")
    .select(["invoice_id", (e) => e.fn.sum<number>("credits").as("credits")])
    .where("invoice_id", "in", invoiceIds)
    .groupBy("invoice_id")
    .execute();
  return new Map(rows.map((row) => [row.invoice_id ?? "", Number(row.credits)]));
}

/**
 * Whether there is such a row: read by an index for each row of the statement. For an `exists` PostgreSQL may read the whole table once
 * instead, because it believes that to be cheaper when it expects many rows.
 */
const isThere = (rows: RawBuilder<unknown>) => sql<boolean>`coalesce((select true ${rows} limit 1), false)`;

/** True for an invoice (`p`) that has a paid line without its grant, or sold no subscription and has no grant at all. */
const lacksGrant = sql<boolean>`case
    when p.stripe_subscription_id is null then not ${isThere(sql`from grants g where g.invoice_id = p.id`)}
    else ${isThere(sql`from paid_invoice_lines l
      where l.invoice_id = p.id and l.plan_key is not null and not l.proration and l.amount_cents > 0
        and not ${isThere(sql`from grants g where g.invoice_id = l.invoice_id and g.invoice_line_id = l.id`)}`)} end`;

/** Those of the recorded invoices that were paid and lack a grant. */
export async function selectWithoutGrant(executor: Executor, invoiceIds: readonly string[]): Promise<{ id: string; payer_id: string }[]> {
  if (invoiceIds.length === 0) return [];
  const { rows } = await sql<{ id: string; payer_id: string }>`
    select p.id, p.billing_account_id as payer_id from paid_invoices p
      where p.id = any (${invoiceIds}) and p.amount_paid_cents > 0 and p.billing_account_id is not null and ${lacksGrant}
      order by p.paid_at`.execute(executor);
  return rows;
}

/** Those of the invoices that are not recorded, or that were paid and lack a grant. */
export async function selectLacking(executor: Executor, invoiceIds: readonly string[]): Promise<string[]> {
  if (invoiceIds.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select asked.id from unnest(${invoiceIds}::text[]) asked (id) left join paid_invoices p on p.id = asked.id
      where p.id is null or (p.amount_paid_cents > 0 and p.billing_account_id is not null and ${lacksGrant})`.execute(executor);
  return rows.map(({ id }) => id);
}

/** Invoices whose payment an earlier run found missing and could not repair, those first that were not looked at for longest. */
export async function selectUnrepairedPayments(executor: Executor, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("findings")
    .select("subject")
    .where("resolved_at", "is", null)
    .where("kind", "in", ["unrecorded_payment", "missing_grant"] satisfies FindingKind[])
    .orderBy("last_seen_at")
    .limit(limit)
    .execute();
  return rows.map(({ subject }) => subject);
}

export interface DoubledGrant {
  id: string;
  wallet_id: string;
  payer_id: string;
  invoice_id: string;
  credits: number;
  /** Nothing of it was spent, is held or has expired. */
  is_whole: boolean;
}

/**
 * Grants in these wallets for something that another grant was posted for: a month of an invoice's line, or a pack. What was taken back or
 * has expired is not counted. The first that was not taken back whole is the one that stays.
 */
export async function selectDoubledGrants(executor: Executor, walletIds: readonly string[]): Promise<DoubledGrant[]> {
  if (walletIds.length === 0) return [];
  const { rows } = await sql<DoubledGrant>`
    with sold as (
      select g.*, bool_or(g.invoice_month is not null) over line as has_months,
          row_number() over (partition by g.wallet_id, g.invoice_id, g.invoice_line_id, g.pack_key, g.invoice_month
            order by g.clawed_back = g.credits, g.id) as place
        from grants g where g.wallet_id = any (${walletIds}::uuid[]) and g.invoice_id is not null
        window line as (partition by g.wallet_id, g.invoice_id, g.invoice_line_id))
    select s.id, s.wallet_id, w.billing_account_id as payer_id, s.invoice_id, s.credits,
        s.remaining = s.credits and s.held = 0 as is_whole
      from sold s join wallets w on w.id = s.wallet_id
      where (s.place > 1 or (s.has_months and s.invoice_month is null))
        and s.credits > s.clawed_back + coalesce((select sum(e.amount) from ledger_entries e
          where e.grant_id = s.id and e.account = 'expired'), 0)
      order by s.id`.execute(executor);
  return rows;
}

/** Nothing is held, spent or granted in the wallet until the transaction ends. */
export async function lockWallet(trx: Trx, walletId: string): Promise<void> {
  await trx.selectFrom("wallets").select("id").where("id", "=", walletId).forUpdate().execute();
}

export async function selectWalletsOf(executor: Executor, payerIds: readonly string[]): Promise<string[]> {
  if (payerIds.length === 0) return [];
  const rows = await executor.selectFrom("wallets").select("id").where("billing_account_id", "in", payerIds).execute();
  return rows.map(({ id }) => id);
}

/**
 * Resolves the open findings of what is in order by now, because an event has come or a job has succeeded since: those of the account or,
 * without one, all.
 */
export async function resolveSettled(executor: Executor, now: Date, payerId?: string): Promise<void> {
  const ofAccount = payerId === undefined ? sql`` : sql`and billing_account_id = ${payerId}`;
  const isTaken = isThere(sql`from stripe_events e where e.id = f.subject and e.status <> 'received'`);
  const isDone = isThere(sql`from money_backs m where m.id = f.money_back_id and m.done_at is not null`);
  await sql`update findings f set resolved_at = ${now}, resolved_by = 'itself' where resolved_at is null ${ofAccount} and case kind
      when 'lost_event' then ${isTaken}
      when 'stuck_event' then ${isTaken}
      when 'unrecorded_payment' then ${isThere(sql`from paid_invoices p where p.id = f.subject`)}
      when 'missing_grant' then ${isThere(sql`from paid_invoices p where p.id = f.subject and not ${lacksGrant}`)}
      when 'unpaid_return' then ${isDone}
      when 'unreturned_transfer' then ${isDone}
      when 'surplus_transfer' then ${isDone}
      when 'stale_hold' then ${isThere(sql`from holds h where h.id = f.hold_id and h.ended_at is not null`)}
      else false end`.execute(executor);
}

export interface CheckedAccount {
  id: string;
  stripe_customer_id: string | null;
  /** The account's earlier customers, which were deleted at Stripe. */
  former_customers: readonly string[];
}

const formerCustomers = sql<string[]>`array(select former.stripe_customer_id from former_customers former
  where former.billing_account_id = billing_accounts.id order by former.retired_at)`.as("former_customers");

export async function selectAccountsAfter(executor: Executor, id: string, limit: number): Promise<CheckedAccount[]> {
  return executor
    .selectFrom("billing_accounts")
    .select(["id", "stripe_customer_id", formerCustomers])
    .where("id", ">", id)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Accounts whose check failed and was to be tried again by now. */
export async function selectAccountsToRetry(executor: Executor, limit: number): Promise<CheckedAccount[]> {
  return executor
    .selectFrom("sweep_failures")
    .innerJoin("billing_accounts", "billing_accounts.id", "sweep_failures.billing_account_id")
    .select(["billing_accounts.id", "stripe_customer_id", formerCustomers])
    .where("sweep", "=", "account-checks")
    .where("retry_at", "<=", sql<Date>`clock_timestamp()`)
    .orderBy("retry_at")
    .limit(limit)
    .execute();
}

export async function selectAccount(executor: Executor, id: string): Promise<CheckedAccount | undefined> {
  return executor
    .selectFrom("billing_accounts")
    .select(["id", "stripe_customer_id", formerCustomers])
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Money of charges that was asked back before `before` and has not gone back, oldest first. */
export async function selectUnpaidReturns(executor: Executor, before: Date, limit: number) {
  return executor
    .selectFrom("money_backs")
    .select(["id", "billing_account_id as payerId", "amount_cents as amountCents"])
    .where("done_at", "is", null)
    .where("charge_id", "is not", null)
    .where("asked_at", "<", before)
    .orderBy("asked_at")
    .limit(limit)
    .execute();
}
