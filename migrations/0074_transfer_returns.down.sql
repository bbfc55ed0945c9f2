drop function retention_unpaid_orders;

create or replace function orders_refuse() returns trigger language plpgsql set search_path = public, pg_temp as $$
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
drop index orders_unpaid;

drop index scheduled_grants_unposted;
drop index money_backs_to_transfer;
alter table invoices drop column credit_notes;

-- Withdrawals from plans paid by transfer had no place before.
delete from money_backs where charge_id is null;
alter table money_backs
  drop column return_reason,
  drop column returned_reference,
  drop column transfer_reference,
  alter column charge_id set not null;
