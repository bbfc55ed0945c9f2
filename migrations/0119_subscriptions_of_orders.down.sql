create index subscription_changes_time on subscription_changes (valid_from);

create or replace function retention_abandoned_orders(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, consented_at as at from orders
      where stripe_session_id is null and contract_id is null
        and consented_at >= coalesce(p_from, '-infinity')::timestamptz and consented_at <= business_now() - interval '30 days'
      order by consented_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from orders where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

create or replace function retention_unpaid_orders(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, consented_at as at from orders
      where contract_id is null and stripe_session_id like 'sub\_%'
        and consented_at >= coalesce(p_from, '-infinity')::timestamptz and consented_at <= business_now() - interval '90 days'
        and not exists (select from invoices i where i.billing_account_id = orders.billing_account_id
          and i.stripe_subscription_id = orders.stripe_session_id and i.status = 'open')
      order by consented_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from orders where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
drop index orders_unpaid;
create index orders_unpaid on orders (consented_at) where contract_id is null and stripe_session_id like 'sub\_%';

-- The subscriptions are in `stripe_session_id`, too.
drop trigger orders_copy_subscription on orders;
drop function orders_copy_subscription;
create or replace function orders_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if old.contract_id is null and (old.stripe_session_id is null or old.stripe_session_id like 'sub\_%') then return old; end if;
  elsif tg_op = 'UPDATE' then
    if (to_jsonb(new) - array['stripe_session_id', 'contract_id', 'concluded_at'])
        = (to_jsonb(old) - array['stripe_session_id', 'contract_id', 'concluded_at'])
      and (old.stripe_session_id is null or new.stripe_session_id = old.stripe_session_id)
      and (old.contract_id is null or (new.contract_id, new.concluded_at) = (old.contract_id, old.concluded_at))
    then return new; end if;
  end if;
  raise exception 'orders are append-only' using errcode = 'TS901';
end $$;
alter table orders drop column stripe_subscription_id;
