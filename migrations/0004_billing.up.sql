-- What Stripe told us, and what we hold to be true because of it.
create table stripe_events (
  id text primary key,
  type text not null,
  livemode boolean not null,
  object_id text,
  payload jsonb not null,
  received_at timestamptz not null default clock_timestamp(),
  -- 'set_aside': the wrong livemode, shown to the admin, never acted on.
  status text not null default 'received' check (status in ('received', 'processed', 'ignored', 'set_aside')),
  processed_at timestamptz
);
create index stripe_events_pending on stripe_events (received_at) where status = 'received';

create table user_subscriptions (
  user_id uuid primary key references users on delete cascade,
  plan_key text not null,
  billing_interval text not null check (billing_interval in ('month', 'year')),
  status text not null check (status in ('incomplete', 'active', 'past_due', 'canceled')),
  stripe_subscription_id text not null unique,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  cancel_at_period_end boolean not null default false,
  grace_until timestamptz,
  started_at timestamptz not null,
  ended_at timestamptz,
  updated_at timestamptz not null
);
create index user_subscriptions_grace on user_subscriptions (grace_until) where status = 'past_due';

-- Paid invoices, each the reason for the grants named after it.
create table paid_invoices (
  id text primary key,
  user_id uuid references users on delete set null,
  stripe_subscription_id text,
  stripe_customer_id text not null,
  amount_paid_cents bigint not null check (amount_paid_cents >= 0),
  billing_reason text,
  paid_at timestamptz not null,
  recorded_at timestamptz not null
);
create index paid_invoices_user on paid_invoices (user_id, paid_at);

-- Months still to come of annual plans: `month:{invoice}:{line}:{0…11}`.
create table scheduled_grants (
  key text primary key,
  user_id uuid not null references users on delete cascade,
  credits bigint not null check (credits > 0),
  due_at timestamptz not null,
  expires_at timestamptz not null,
  posted_at timestamptz,
  cancelled_at timestamptz
);
create index scheduled_grants_due on scheduled_grants (due_at) where posted_at is null and cancelled_at is null;

-- Checkouts begun, so that two tabs or a double click share one.
create table checkouts (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  price_id text not null,
  stripe_session_id text unique,
  url text,
  status text not null default 'open' check (status in ('open', 'completed', 'expired')),
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index checkouts_open on checkouts (user_id, price_id) where status = 'open';

-- The running discount campaign, set by an admin (docs/decisions/0093).
create table discount_campaigns (
  id uuid primary key default uuidv7(),
  percent integer not null check (percent between 1 and 90),
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  created_at timestamptz not null
);
