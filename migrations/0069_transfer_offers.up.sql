-- Enterprise plans by bank transfer that the team offers (decision 67): the person orders them on our page, as they order any other.
create table transfer_offers (
  user_id uuid primary key references users on delete cascade,
  price_id text not null,
  days_until_due integer not null check (days_until_due between 1 and 60),
  offered_at timestamptz not null,
  expires_at timestamptz not null,
  -- The order that the person placed; not a key to it, because one that led to nothing goes.
  order_id uuid
);

-- How the plan was agreed on, if not by an order on our page.
alter table bank_transfers add column agreed_elsewhere text check (length(agreed_elsewhere) between 5 and 500);
create index bank_transfers_subscription on bank_transfers (stripe_subscription_id);

-- What an order led to leads back to it.
create index orders_session on orders (stripe_session_id) where stripe_session_id is not null;
create index orders_contract on orders (contract_id) where contract_id is not null;
