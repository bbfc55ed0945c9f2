-- A person withdraws from a plan that was paid by bank transfer by themselves (decision 73). No charge leads the money back: the team transfers
-- it, and records that.
alter table money_backs
  alter column charge_id drop not null,
  -- The bank's reference of the transfer that paid it.
  add column transfer_reference text references bank_transfers,
  -- The bank's reference of the transfer by which the money went back, and what the team says of it.
  add column returned_reference text check (length(returned_reference) between 1 and 140),
  add column return_reason text check (length(return_reason) between 5 and 500),
  add constraint money_backs_one_payment check (num_nonnulls(charge_id, transfer_reference) = 1),
  add constraint money_backs_returned check (
    (returned_reference is null) = (return_reason is null)
    and (returned_reference is null or (transfer_reference is not null and done_at is not null))
  );
create unique index money_backs_transfer on money_backs (transfer_reference) where transfer_reference is not null;
create unique index money_backs_returned_reference on money_backs (returned_reference) where returned_reference is not null;

create index money_backs_to_transfer on money_backs (asked_at) where done_at is null and charge_id is null;
-- The months of an annual plan that its invoice still has to give.
create index scheduled_grants_unposted on scheduled_grants (invoice_id) where posted_at is null;

-- Credit notes that Stripe has for an invoice, by their id (decision 74).
alter table invoices add column credit_notes jsonb not null default '[]';

-- Orders by transfer that nobody paid: their invoice is void by then, because it is due within 60 days.
create index orders_unpaid on orders (consented_at) where contract_id is null and stripe_session_id like 'sub\_%';

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

create function retention_unpaid_orders(p_limit integer, p_from text)
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
