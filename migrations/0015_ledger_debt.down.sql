alter table grants drop constraint grants_held_covered;
create or replace function ledger_assert_wallet() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wallet wallets;
  grants_remaining numeric;
  grants_held numeric;
  debt numeric;
begin
  select * into wallet from wallets where id = new.id;
  select coalesce(sum(remaining), 0), coalesce(sum(held), 0), coalesce(sum(greatest(held - remaining, 0)), 0)
    into grants_remaining, grants_held, debt
    from grants where wallet_id = new.id and (remaining <> 0 or held <> 0);
  if wallet.balance <> grants_remaining or wallet.held <> grants_held then
    raise exception 'wallet % says balance % held %, its grants say % and %',
      new.id, wallet.balance, wallet.held, grants_remaining, grants_held using errcode = 'TS900';
  end if;
  if wallet.balance - wallet.held < -debt then
    raise exception 'wallet % is overdrawn', new.id using errcode = 'TS900';
  end if;
  return null;
end $$;
drop function ledger_claw_back;
create function ledger_claw_back(p_grant uuid, p_credits bigint, p_key text, p_now timestamptz)
returns table (posted boolean, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_wallet uuid;
  v_transaction uuid := uuidv7();
begin
  perform ledger_assert_amount(p_credits);
  select wallet_id into v_wallet from grants where id = p_grant;
  if not found then raise exception 'no grant %', p_grant using errcode = 'TS404'; end if;
  perform from wallets where id = v_wallet for update;
  if not ledger_open_transaction(v_transaction, p_key, 'clawback', v_wallet,
    jsonb_build_object('grant', p_grant, 'credits', p_credits), p_now)
  then
    return query select false, w.balance, w.held from wallets w where w.id = v_wallet;
    return;
  end if;
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', v_wallet, p_grant, -p_credits), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, p_credits);
  update grants set remaining = remaining - p_credits, clawed_back = clawed_back + p_credits where id = p_grant;
  update wallets w set balance = w.balance - p_credits where w.id = v_wallet;
  perform ledger_settle_debt(v_wallet, p_now);
  return query select true, w.balance, w.held from wallets w where w.id = v_wallet;
end $$;
