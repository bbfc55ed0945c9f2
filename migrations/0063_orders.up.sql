-- What a person ordered and agreed to on our page before the payment page opened (decision 57). A row is written with its checkout and never
-- changed, but for what the order led to, each once.
create table orders (
  -- The checkout's id; not a key to it, because checkouts go with the person.
  id uuid primary key,
  billing_account_id uuid not null references billing_accounts,
  price_id text not null,
  -- The first payment, and each renewal; null: there is none.
  amount_cents bigint not null check (amount_cents >= 0),
  later_cents bigint check (later_cents >= 0),
  currency text not null,
  credits integer not null check (credits > 0),
  language text not null,
  -- The versions of the texts (server/domain/orders.ts).
  terms text not null,
  withdrawal text not null,
  consented_at timestamptz not null,
  -- The session that was completed.
  stripe_session_id text,
  -- The subscription, or the ledger's key of the pack.
  contract_id text,
  concluded_at timestamptz,
  check ((contract_id is null) = (concluded_at is null))
);
create index orders_account on orders (billing_account_id);
create index orders_abandoned on orders (consented_at) where stripe_session_id is null and contract_id is null;

create function orders_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if old.stripe_session_id is null and old.contract_id is null then return old; end if;
  elsif tg_op = 'UPDATE' then
    if (to_jsonb(new) - array['stripe_session_id', 'contract_id', 'concluded_at'])
        = (to_jsonb(old) - array['stripe_session_id', 'contract_id', 'concluded_at'])
      and (old.stripe_session_id is null or new.stripe_session_id = old.stripe_session_id)
      and (old.contract_id is null or (new.contract_id, new.concluded_at) = (old.contract_id, old.concluded_at))
    then return new; end if;
  end if;
  raise exception 'orders are append-only' using errcode = 'TS901';
end $$;
create trigger orders_append_only before update or delete on orders for each row execute function orders_refuse();
create trigger orders_no_truncate before truncate on orders for each statement execute function orders_refuse();

-- Orders that nobody paid, 30 days after they were made.
create function retention_abandoned_orders(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, consented_at as at from orders
      where stripe_session_id is null and contract_id is null
        and consented_at >= coalesce(p_from, '-infinity')::timestamptz and consented_at <= business_now() - interval '30 days'
      order by consented_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from orders where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
