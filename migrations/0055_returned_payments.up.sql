-- Money that went back to the payer: refunds and lost disputes (decision 48).

-- What Stripe said of a charge when we last read it. Only charges of which something was returned or disputed have a row.
create table charge_returns (
  charge_id text primary key,
  billing_account_id uuid not null references billing_accounts,
  paid_cents bigint not null check (paid_cents > 0),
  -- By refunds that succeeded, and by disputes that were lost. Together they can be more than was paid; no more than that counts.
  refunded_cents bigint not null check (refunded_cents >= 0),
  lost_cents bigint not null check (lost_cents >= 0),
  -- A dispute waits for the bank's decision. The wallet is frozen as long.
  disputed boolean not null,
  -- How often the row was written. Part of the keys of what the ledger posted then.
  version bigint not null check (version > 0),
  recorded_at timestamptz not null
);
create index charge_returns_disputed on charge_returns (billing_account_id) where disputed;

-- The months of an annual plan that its charge still has to give.
create index scheduled_grants_charge on scheduled_grants (charge_id) where posted_at is null;

-- Gives back up to p_credits of what was clawed back of a grant, because a refund failed. What other grants had paid of its debt goes back
-- to them, to those that expire last first. What then belongs to a grant that has expired expires at once, visibly.
create function ledger_restore(p_grant uuid, p_credits bigint, p_key text, p_now timestamptz)
returns table (given bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_wallet uuid;
  v_transaction uuid := uuidv7();
  v_repayment uuid;
  v_given bigint;
  v_moved bigint;
  v_returned bigint := 0;
  target grants;
  payer record;
begin
  perform ledger_assert_amount(p_credits);
  select wallet_id into v_wallet from grants where id = p_grant;
  if not found then raise exception 'no grant %', p_grant using errcode = 'TS404'; end if;
  perform from wallets where id = v_wallet for update;
  select * into target from grants where id = p_grant;
  v_given := least(p_credits, target.clawed_back);
  if v_given = 0 or not ledger_open_transaction(v_transaction, p_key, 'restore', v_wallet,
    jsonb_build_object('grant', p_grant, 'credits', p_credits), p_now)
  then
    return query select 0::bigint, w.balance, w.held from wallets w where w.id = v_wallet;
    return;
  end if;
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', v_wallet, p_grant, v_given), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, -v_given);
  update wallets w set balance = w.balance + v_given where w.id = v_wallet;
  for payer in
    select g.id, g.expired_at, paid.credits from grants g join (
        select theirs.grant_id, sum(ours.amount) as credits
          from ledger_entries ours join ledger_transactions t on t.id = ours.transaction_id and t.kind = 'repay'
            join ledger_entries theirs on theirs.transaction_id = ours.transaction_id and theirs.line <> ours.line
          where ours.grant_id = p_grant and ours.account = 'wallet' group by theirs.grant_id
      ) paid on paid.grant_id = g.id
      where paid.credits > 0 order by g.expires_at desc, g.id desc
  loop
    v_moved := least(payer.credits, target.remaining + v_given - v_returned - target.held);
    exit when v_moved <= 0;
    v_repayment := uuidv7();
    perform ledger_open_transaction(v_repayment, 'repay:' || v_repayment, 'repay', v_wallet,
      jsonb_build_object('from', p_grant, 'to', payer.id, 'credits', v_moved), p_now);
    insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
      (v_repayment, 1, 'wallet', v_wallet, p_grant, -v_moved), (v_repayment, 2, 'wallet', v_wallet, payer.id, v_moved);
    v_returned := v_returned + v_moved;
    update grants set remaining = remaining + v_moved where id = payer.id;
    if payer.expired_at is not null then
      perform ledger_expire_free(payer.id, 'expire:' || payer.id || ':' || v_repayment, p_now);
    end if;
  end loop;
  -- At once, since no grant ever has more than was granted.
  update grants set remaining = remaining + v_given - v_returned, clawed_back = clawed_back - v_given where id = p_grant;
  if target.expired_at is not null then perform ledger_expire_free(p_grant, 'expire:' || p_grant || ':' || v_transaction, p_now); end if;
  perform ledger_settle_debt(v_wallet, p_now);
  return query select v_given, w.balance, w.held from wallets w where w.id = v_wallet;
end $$;
