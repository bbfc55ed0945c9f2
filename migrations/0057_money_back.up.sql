-- Who asked for their first payment back, by the money-back guarantee (decision 51).
create table money_backs (
  id uuid primary key default uuidv7(),
  -- An account takes its first payment back once.
  billing_account_id uuid not null unique references billing_accounts,
  invoice_id text not null,
  charge_id text not null,
  stripe_subscription_id text,
  amount_cents bigint not null check (amount_cents > 0),
  -- Business time.
  asked_at timestamptz not null,
  -- When it was paid back at Stripe and the subscription was ended.
  done_at timestamptz
);
