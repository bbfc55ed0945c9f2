-- The subscription that an order by bank transfer led to. Until now it stood in `stripe_session_id`, and its first letters told it from a
-- session.
alter table orders
  add column stripe_subscription_id text,
  -- Both only with the same value: see the trigger below.
  add constraint orders_session_or_subscription check (
    stripe_session_id is null or stripe_subscription_id is null or stripe_session_id = stripe_subscription_id);
create index orders_subscription on orders (stripe_subscription_id) where stripe_subscription_id is not null;

-- As in 0074_transfer_returns, by the new column.
create or replace function orders_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if old.contract_id is null and (old.stripe_session_id is null or old.stripe_subscription_id is not null) then return old; end if;
  elsif tg_op = 'UPDATE' then
    if (to_jsonb(new) - array['stripe_session_id', 'stripe_subscription_id', 'contract_id', 'concluded_at'])
        = (to_jsonb(old) - array['stripe_session_id', 'stripe_subscription_id', 'contract_id', 'concluded_at'])
      and (old.stripe_session_id is null or new.stripe_session_id = old.stripe_session_id)
      and (old.stripe_subscription_id is null or new.stripe_subscription_id = old.stripe_subscription_id)
      and (old.contract_id is null or (new.contract_id, new.concluded_at) = (old.contract_id, old.concluded_at))
    then return new; end if;
  end if;
  raise exception 'orders are append-only' using errcode = 'TS901';
end $$;

-- Processes of the release before write the subscription into `stripe_session_id` and look for it there. For them the value stays, and what
-- this release writes is copied. If it were moved, they would offer again what was ordered, and would not mail what was agreed to. The next
-- release can drop this trigger and empty the copies.
create function orders_copy_subscription() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.stripe_subscription_id is null and new.stripe_session_id like 'sub\_%' then
    new.stripe_subscription_id := new.stripe_session_id;
  end if;
  new.stripe_session_id := coalesce(new.stripe_session_id, new.stripe_subscription_id);
  return new;
end $$;
create trigger orders_copy_subscription before insert or update of stripe_session_id, stripe_subscription_id on orders
  for each row execute function orders_copy_subscription();
update orders set stripe_subscription_id = stripe_session_id where stripe_session_id like 'sub\_%';

drop index orders_unpaid;
create index orders_unpaid on orders (consented_at) where contract_id is null and stripe_subscription_id is not null;

-- As in 0074_transfer_returns, by the new column.
create or replace function retention_unpaid_orders(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, consented_at as at from orders
      where contract_id is null and stripe_subscription_id is not null
        and consented_at >= coalesce(p_from, '-infinity')::timestamptz and consented_at <= business_now() - interval '90 days'
        and not exists (select from invoices i where i.billing_account_id = orders.billing_account_id
          and i.stripe_subscription_id = orders.stripe_subscription_id and i.status = 'open')
      order by consented_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from orders where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- As in 0063_orders, without orders that wait for a transfer.
create or replace function retention_abandoned_orders(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, consented_at as at from orders
      where stripe_session_id is null and stripe_subscription_id is null and contract_id is null
        and consented_at >= coalesce(p_from, '-infinity')::timestamptz and consented_at <= business_now() - interval '30 days'
      order by consented_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from orders where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- Nothing looks for a subscription's changes by their time, or reads them in that order: the figures follow the ids.
drop index subscription_changes_time;
