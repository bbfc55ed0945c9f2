-- Which accounts used a model, and on which day last (decision 105): whom its end concerns, and how many a new price would.
create table model_accounts (
  model_id text not null,
  billing_account_id uuid not null references billing_accounts,
  -- The last day in UTC, of business time, on which an answer was charged.
  last_day date not null,
  -- Its members who used the model know that it ends.
  told boolean not null default false,
  primary key (model_id, billing_account_id)
);

-- As in 0056, and on the first charged answer of a day says that the account used the model on that day.
create or replace function usage_count(p_payer uuid, p_model text, p_credits bigint, p_now timestamptz) returns void language sql security definer
set search_path = public, pg_temp as $$
  with counted as (
    insert into usage_days as known (billing_account_id, day, model_id, answers, credits)
      values (p_payer, (p_now at time zone 'UTC')::date, p_model, 1, p_credits)
      on conflict (billing_account_id, day, model_id) do update set answers = known.answers + 1, credits = known.credits + excluded.credits
      returning day, old.day is null as is_first)
  insert into model_accounts as known (model_id, billing_account_id, last_day)
    select p_model, p_payer, day from counted where is_first
    on conflict (model_id, billing_account_id) do update set last_day = greatest(known.last_day, excluded.last_day)
$$;

-- So that no answer ends between reading the sums and the end of this migration.
lock table usage_days in share row exclusive mode;
insert into model_accounts (model_id, billing_account_id, last_day)
  select model_id, billing_account_id, max(day) from usage_days group by 1, 2 order by 1, 2;
create index model_accounts_last on model_accounts (model_id, told, last_day, billing_account_id);
