-- Why credits were taken back stands on the ledger's transaction (decision 114), instead of in its key.
alter table ledger_transactions add column reason text;

-- For earlier clawbacks the key and what was asked back of the payment tell the reason. It is added, and nothing that was posted changes.
alter table ledger_transactions disable trigger ledger_transactions_append_only;
update ledger_transactions t set reason = case
    when t.key like 'clawback:refund:%' then 'refund'
    when t.key like 'clawback:dispute:%' then 'dispute'
    when t.key like 'clawback:returned:%' then 'payment_returned'
    when t.key like 'clawback:asked:%' then coalesce((
      select case m.kind when 'late' then 'late_payment' else m.kind end from money_backs m
        where m.billing_account_id = w.billing_account_id and m.kind <> 'surplus'
          and case when g.charge_id is null then m.invoice_id = g.invoice_id else m.charge_id = g.charge_id end), 'other')
    when t.key like 'clawback:transfer:%' then 'transfer_reversed'
    when t.key like 'clawback:doubled:%' then 'duplicate'
    when t.key like 'adjustment-taken:%' then 'taken_by_team'
    -- Older keys name neither a refund nor a dispute, and the charge's row has only today's sums.
    when t.key like 'clawback:' || g.id || ':%' then coalesce((
      select case when r.lost_cents = 0 and r.refunded_cents > 0 then 'refund' when r.refunded_cents = 0 and r.lost_cents > 0 then 'dispute' end
        from charge_returns r where r.charge_id = g.charge_id), 'payment_returned')
    else 'other' end
  from wallets w, grants g
  where t.kind = 'clawback' and w.id = t.wallet_id and g.id = (t.content ->> 'grant')::uuid;
alter table ledger_transactions enable trigger ledger_transactions_append_only;

create function ledger_transaction_is_sound(p_kind text, p_reason text) returns boolean language plpgsql immutable as $$
begin
  return case when p_kind = 'clawback' then p_reason is not null and p_reason in ('refund', 'dispute', 'payment_returned', 'guarantee', 'withdrawal',
      'late_payment', 'transfer_reversed', 'duplicate', 'taken_by_team', 'other')
    else p_kind in ('grant', 'capture', 'expire', 'repay', 'restore') and p_reason is null end;
end $$;
alter table ledger_transactions
  drop constraint ledger_transactions_sound, add constraint ledger_transactions_sound check (ledger_transaction_is_sound(kind, reason));

-- For a transaction with a reason. True when the fact is new; false when it was posted already with the same content.
create function ledger_open_transaction(
  p_id uuid, p_key text, p_kind text, p_wallet uuid, p_content jsonb, p_now timestamptz, p_reason text
) returns boolean language plpgsql as $$
declare
  known jsonb;
begin
  insert into ledger_keys (key, transaction_id) values (p_key, p_id) on conflict (key) do nothing;
  if found then
    insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at, reason)
      values (p_id, p_key, p_kind, p_wallet, p_content, p_now, p_reason);
    return true;
  end if;
  select content into known from ledger_transactions where id = (select k.transaction_id from ledger_keys k where k.key = p_key);
  if known is distinct from p_content then
    raise exception 'ledger key % was posted with other content', p_key using errcode = 'TS409';
  end if;
  return false;
end $$;

create function ledger_claw_back(p_grant uuid, p_in_all bigint, p_key text, p_now timestamptz, p_reason text)
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
  if not ledger_open_transaction(v_transaction, p_key, 'clawback', v_wallet, v_content, p_now, p_reason) then
    raise exception 'ledger key % was posted and took less', p_key using errcode = 'TS409';
  end if;
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', v_wallet, p_grant, -v_taken), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, v_taken);
  update grants set remaining = remaining - v_taken, clawed_back = clawed_back + v_taken where id = p_grant;
  update wallets w set balance = w.balance - v_taken where w.id = v_wallet;
  perform ledger_settle_debt(v_wallet, p_now);
  return query select v_taken, w.balance, w.held from wallets w where w.id = v_wallet;
end $$;

-- As the release before calls it, without a reason.
create or replace function ledger_claw_back(p_grant uuid, p_in_all bigint, p_key text, p_now timestamptz)
returns table (taken bigint, balance bigint, held bigint) language sql security definer set search_path = public, pg_temp
  as $$ select * from ledger_claw_back(p_grant, p_in_all, p_key, p_now, 'other') $$;
