-- Posts a grant, and writes down what it is for. Returns its id and whether it is new.
drop function ledger_post_grant(uuid, text, bigint, timestamptz, text, timestamptz, text, text, text, text, smallint);
create or replace function ledger_post_grant(
  p_wallet uuid, p_kind text, p_credits bigint, p_expires_at timestamptz, p_key text, p_now timestamptz,
  p_invoice text default null, p_invoice_line text default null, p_charge text default null, p_pack text default null
) returns table (grant_id uuid, posted boolean, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_transaction uuid := uuidv7();
  v_grant uuid := uuidv7();
begin
  perform ledger_assert_amount(p_credits);
  perform from wallets where id = p_wallet for update;
  if not found then raise exception 'no wallet %', p_wallet using errcode = 'TS404'; end if;
  if not ledger_open_transaction(v_transaction, p_key, 'grant', p_wallet,
    jsonb_build_object('kind', p_kind, 'credits', p_credits, 'expiresAt', to_char(p_expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), p_now)
  then
    return query select g.id, false, w.balance, w.held from grants g join wallets w on w.id = g.wallet_id where g.source_key = p_key;
    return;
  end if;
  insert into grants (id, wallet_id, kind, credits, remaining, expires_at, source_key, created_at, invoice_id, invoice_line_id, charge_id, pack_key)
    values (v_grant, p_wallet, p_kind, p_credits, p_credits, p_expires_at, p_key, p_now, p_invoice, p_invoice_line, p_charge, p_pack);
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', p_wallet, v_grant, p_credits), (v_transaction, 2, 'issued', p_wallet, v_grant, -p_credits);
  update wallets w set balance = w.balance + p_credits where w.id = p_wallet;
  perform ledger_settle_debt(p_wallet, p_now);
  return query select v_grant, true, w.balance, w.held from wallets w where w.id = p_wallet;
end $$;

drop trigger scheduled_grants_month_taken on scheduled_grants;
drop function scheduled_grants_take_month;
alter table scheduled_grants drop column invoice_month;
alter table grants drop column invoice_month;
