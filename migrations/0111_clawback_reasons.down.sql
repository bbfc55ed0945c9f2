-- The release before reads the reasons from the keys.
create or replace function ledger_claw_back(p_grant uuid, p_in_all bigint, p_key text, p_now timestamptz)
returns table (taken bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_wallet uuid;
  v_transaction uuid := uuidv7();
  v_content jsonb := jsonb_build_object('grant', p_grant, 'inAll', p_in_all);
  target grants;
  v_expired bigint;
  v_taken bigint;
begin
  perform ledger_assert_amount(p_in_all);
  select wallet_id into v_wallet from grants where id = p_grant;
  if not found then raise exception 'no grant %', p_grant using errcode = 'TS404'; end if;
  perform from wallets where id = v_wallet for update;
  select * into target from grants where id = p_grant;
  if p_in_all > target.credits then raise exception 'more than was granted: %', p_in_all using errcode = 'TS400'; end if;
  select coalesce(sum(amount), 0) into v_expired from ledger_entries where grant_id = p_grant and account = 'expired';
  v_taken := greatest(p_in_all - v_expired - target.clawed_back, 0);
  if v_taken = 0 then
    if exists (select from ledger_keys k join ledger_transactions t on t.id = k.transaction_id where k.key = p_key and t.content <> v_content) then
      raise exception 'ledger key % was posted with other content', p_key using errcode = 'TS409';
    end if;
    return query select 0::bigint, w.balance, w.held from wallets w where w.id = v_wallet;
    return;
  end if;
  if not ledger_open_transaction(v_transaction, p_key, 'clawback', v_wallet, v_content, p_now) then
    raise exception 'ledger key % was posted and took less', p_key using errcode = 'TS409';
  end if;
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', v_wallet, p_grant, -v_taken), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, v_taken);
  update grants set remaining = remaining - v_taken, clawed_back = clawed_back + v_taken where id = p_grant;
  update wallets w set balance = w.balance - v_taken where w.id = v_wallet;
  perform ledger_settle_debt(v_wallet, p_now);
  return query select v_taken, w.balance, w.held from wallets w where w.id = v_wallet;
end $$;

drop function ledger_claw_back(uuid, bigint, text, timestamptz, text);
drop function ledger_open_transaction(uuid, text, text, uuid, jsonb, timestamptz, text);
alter table ledger_transactions
  drop constraint ledger_transactions_sound, add constraint ledger_transactions_sound check (ledger_transaction_is_sound(kind));
drop function ledger_transaction_is_sound(text, text);
alter table ledger_transactions drop column reason;
