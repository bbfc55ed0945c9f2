-- What Stripe last said of each invoice, so that a person's list of invoices needs no call to Stripe. Credits follow paid_invoices.
create table invoices (
  id text primary key,
  billing_account_id uuid not null references billing_accounts,
  -- What the person reads on the PDF.
  number text,
  stripe_subscription_id text,
  -- What it is for: a plan, or a pack of credits. Neither: something we don't sell.
  plan_key text,
  billing_interval text check (billing_interval in ('month', 'year')),
  pack_key text,
  period_start timestamptz,
  period_end timestamptz,
  total_cents bigint not null,
  unpaid_cents bigint not null,
  refunded_cents bigint not null,
  status text not null check (status in ('open', 'paid', 'void', 'uncollectible')),
  -- It is open, and the last attempt to collect it failed or waits for the cardholder's bank.
  failed boolean not null,
  needs_action boolean not null,
  issued_at timestamptz not null,
  updated_at timestamptz not null
);
create index invoices_account on invoices (billing_account_id, issued_at desc, id desc);

-- When the invoices that a customer had before there was this table were copied into it.
alter table billing_accounts add column invoices_read_at timestamptz;
create index billing_accounts_unread on billing_accounts (id) where stripe_customer_id is not null and invoices_read_at is null;
