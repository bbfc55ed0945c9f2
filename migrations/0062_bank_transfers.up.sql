-- What the team recorded of invoices that were paid by bank transfer (decision 56): each invoice once, and each reference of the bank once.
create table bank_transfers (
  reference text primary key check (length(reference) between 1 and 140),
  billing_account_id uuid not null references billing_accounts,
  invoice_id text not null unique,
  stripe_subscription_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  reason text not null,
  recorded_at timestamptz not null,
  -- The bank took the money back, or it was recorded by mistake.
  reversed_at timestamptz,
  reversal_reason text,
  check ((reversed_at is null) = (reversal_reason is null))
);
create index bank_transfers_account on bank_transfers (billing_account_id);

-- By when an invoice that was sent is to be paid by transfer; null: a card is charged.
alter table invoices add column due_at timestamptz;
