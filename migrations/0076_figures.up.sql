-- The figures of the business: sums by day in UTC of business time, kept up by a schedule of the worker from the raw rows (decision 79).
-- They can be made anew from the raw rows at any time, but for `daily_departures`.

-- How far each of the sources was added up. The row is locked while that happens, so that no row is added twice.
create table figure_marks (
  source text primary key check (source in ('ledger', 'subscriptions', 'answers', 'people')),
  -- All rows up to this id are in the sums.
  reached uuid not null default '00000000-0000-0000-0000-000000000000',
  -- Everything that was written until then is in the sums; null: never yet. Wall time.
  complete_until timestamptz
);
insert into figure_marks (source) values ('ledger'), ('subscriptions'), ('answers'), ('people');

-- Answers that were still being written when their place in the order was reached.
create table waiting_answers (
  generation_id uuid primary key
);

create table daily_credits (
  day date not null,
  grant_kind text not null,
  issued bigint not null,
  spent bigint not null,
  expired bigint not null,
  -- Less what was restored.
  clawed_back bigint not null,
  -- By how much the credits that people have changed.
  outstanding bigint not null,
  primary key (day, grant_kind)
);

-- What is left of all grants that expire on a day. What is taken back of spent credits counts as less than nothing.
create table credit_expiries (
  expires_on date not null,
  grant_kind text not null,
  outstanding bigint not null,
  primary key (expires_on, grant_kind)
);

create table daily_answers (
  day date not null,
  model_id text not null,
  completed bigint not null,
  stopped bigint not null,
  failed bigint not null,
  credits bigint not null,
  -- Of the credits those of plans and packs.
  sold_credits bigint not null,
  cost_micro_dollars bigint not null,
  -- Answers that gave something, and of which we don't know what their provider takes.
  uncosted bigint not null,
  primary key (day, model_id)
);

-- By the plan that a subscription has after a change, or had before its end. Amounts are in twelfths of a cent a month.
create table daily_subscriptions (
  day date not null,
  plan_key text not null,
  billing_interval text not null check (billing_interval in ('month', 'year')),
  -- By how much the running subscriptions, and what they bring in a month, changed.
  running bigint not null,
  mrr bigint not null,
  started bigint not null check (started >= 0),
  ended bigint not null check (ended >= 0),
  new bigint not null check (new >= 0),
  expansion bigint not null check (expansion >= 0),
  contraction bigint not null check (contraction >= 0),
  churn bigint not null check (churn >= 0),
  primary key (day, plan_key, billing_interval)
);

create table daily_people (
  day date primary key,
  joined bigint not null check (joined >= 0),
  trials bigint not null check (trials >= 0),
  -- Of the trials that began on this day those whose people subscribed later.
  converted bigint not null check (converted >= 0)
);

-- How many accounts were erased. Nothing of an erased account is left that says so, so this is written as it happens.
create table daily_departures (
  day date primary key,
  people bigint not null check (people > 0)
);
create function users_count_departure() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into daily_departures as known (day, people) values ((business_now() at time zone 'UTC')::date, 1)
    on conflict (day) do update set people = known.people + 1;
  return null;
end $$;
create trigger users_departed after delete on users for each row execute function users_count_departure();

-- Who left before is counted today. Every person opened a billing account, and those stay.
lock table users, billing_accounts in share row exclusive mode;
insert into daily_departures (day, people)
  select (business_now() at time zone 'UTC')::date, gone from (select (select count(*) from billing_accounts) - (select count(*) from users) as gone) x
    where gone > 0;
