-- The only ways credits move. Each function locks the person's own wallet row first and reads the grants in a later
-- statement, so that it never decides on grants it read before it waited; no row is shared between people.
-- Refusals carry an SQLSTATE: TS402 not enough credits, TS423 frozen, TS409 the same key with other content,
-- TS404 no such row, TS410 the hold has ended the other way. They are SECURITY DEFINER because the application's role
-- may not write the ledger's tables itself.

create function ledger_assert_amount(p_amount bigint) returns void language plpgsql immutable as $$
begin
  if p_amount is null or p_amount <= 0 or p_amount > 1000000000 then
    raise exception 'not an amount of credits: %', p_amount using errcode = 'TS400';
  end if;
end $$;

-- True when the fact is new; false when it was posted already with the same content.
create function ledger_open_transaction(
  p_id uuid, p_key text, p_kind text, p_wallet uuid, p_content jsonb, p_now timestamptz
) returns boolean language plpgsql as $$
declare
  known jsonb;
begin
  insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
    values (p_id, p_key, p_kind, p_wallet, p_content, p_now) on conflict (key) do nothing;
  if found then return true; end if;
  select content into known from ledger_transactions where key = p_key;
  if known is distinct from p_content then
    raise exception 'ledger key % was posted with other content', p_key using errcode = 'TS409';
  end if;
  return false;
end $$;

-- Moves free credits of the wallet's other grants into those below zero: debt is repaid before anything is spent.
create function ledger_settle_debt(p_wallet uuid, p_now timestamptz) returns bigint language plpgsql as $$
declare
  debtor grants;
  payer grants;
  moved bigint;
  total bigint := 0;
  transaction_id uuid;
begin
  for debtor in select * from grants where wallet_id = p_wallet and remaining < held order by id loop
    for payer in
      select * from grants where wallet_id = p_wallet and remaining > held and expired_at is null order by expires_at, id
    loop
      exit when debtor.remaining >= debtor.held;
      moved := least(debtor.held - debtor.remaining, payer.remaining - payer.held);
      transaction_id := uuidv7();
      perform ledger_open_transaction(transaction_id, 'repay:' || transaction_id, 'repay', p_wallet,
        jsonb_build_object('from', payer.id, 'to', debtor.id, 'credits', moved), p_now);
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
        (transaction_id, 1, 'wallet', p_wallet, payer.id, -moved), (transaction_id, 2, 'wallet', p_wallet, debtor.id, moved);
      update grants set remaining = remaining - moved where id = payer.id;
      update grants set remaining = remaining + moved where id = debtor.id;
      debtor.remaining := debtor.remaining + moved;
      total := total + moved;
    end loop;
  end loop;
  return total;
end $$;

-- Posts a grant. Returns its id and whether it is new.
create function ledger_post_grant(
  p_wallet uuid, p_kind text, p_credits bigint, p_expires_at timestamptz, p_key text, p_now timestamptz
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
  insert into grants (id, wallet_id, kind, credits, remaining, expires_at, source_key, created_at)
    values (v_grant, p_wallet, p_kind, p_credits, p_credits, p_expires_at, p_key, p_now);
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', p_wallet, v_grant, p_credits), (v_transaction, 2, 'issued', p_wallet, v_grant, -p_credits);
  update wallets w set balance = w.balance + p_credits where w.id = p_wallet;
  perform ledger_settle_debt(p_wallet, p_now);
  return query select v_grant, true, w.balance, w.held from wallets w where w.id = p_wallet;
end $$;

-- Reserves credits, soonest-expiring grants first, from the kinds named. p_deadline is wall time.
create function ledger_hold(
  p_hold uuid, p_wallet uuid, p_amount bigint, p_kinds text[], p_now timestamptz, p_deadline timestamptz, p_created_at timestamptz
) returns table (created boolean, state text, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  wallet wallets;
  known holds;
  part record;
  missing bigint := p_amount;
  taken bigint;
begin
  perform ledger_assert_amount(p_amount);
  update wallets w set held = w.held + p_amount
    where w.id = p_wallet and w.frozen_at is null and w.balance - w.held >= p_amount returning * into wallet;
  if not found then
    select * into known from holds h where h.id = p_hold;
    if found then
      if known.wallet_id <> p_wallet or known.amount <> p_amount then
        raise exception 'hold % exists with other content', p_hold using errcode = 'TS409';
      end if;
      return query select false, known.state, w.balance, w.held from wallets w where w.id = p_wallet;
      return;
    end if;
    select * into wallet from wallets w where w.id = p_wallet;
    if not found then raise exception 'no wallet %', p_wallet using errcode = 'TS404'; end if;
    if wallet.frozen_at is not null then raise exception 'wallet is frozen' using errcode = 'TS423'; end if;
    raise exception 'not enough credits' using errcode = 'TS402', detail = greatest(wallet.balance - wallet.held, 0)::text;
  end if;
  insert into holds (id, wallet_id, amount, deadline, created_at)
    values (p_hold, p_wallet, p_amount, p_deadline, p_created_at) on conflict (id) do nothing;
  if not found then
    update wallets w set held = w.held - p_amount where w.id = p_wallet returning * into wallet;
    select * into known from holds h where h.id = p_hold;
    if known.wallet_id <> p_wallet or known.amount <> p_amount then
      raise exception 'hold % exists with other content', p_hold using errcode = 'TS409';
    end if;
    return query select false, known.state, wallet.balance, wallet.held;
    return;
  end if;
  for part in
    select g.id, g.remaining - g.held as free from grants g
      where g.wallet_id = p_wallet and (g.remaining <> 0 or g.held <> 0) and g.remaining > g.held
        and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now
      order by g.expires_at, g.id
  loop
    taken := least(missing, part.free);
    update grants g set held = g.held + taken where g.id = part.id;
    insert into hold_parts (hold_id, grant_id, amount) values (p_hold, part.id, taken);
    missing := missing - taken;
    exit when missing = 0;
  end loop;
  if missing > 0 then
    raise exception 'not enough credits' using errcode = 'TS402', detail = (p_amount - missing)::text;
  end if;
  return query select true, 'open'::text, wallet.balance, wallet.held;
end $$;

-- What a hold of an already expired grant gives back expires at once, visibly.
create function ledger_expire_free(p_grant uuid, p_key text, p_now timestamptz) returns bigint language plpgsql as $$
declare
  target grants;
  free bigint;
  v_transaction uuid := uuidv7();
begin
  select * into target from grants where id = p_grant;
  free := target.remaining - target.held;
  if free <= 0 then return 0; end if;
  perform ledger_open_transaction(v_transaction, p_key, 'expire', target.wallet_id, jsonb_build_object('grant', p_grant, 'credits', free), p_now);
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', target.wallet_id, p_grant, -free), (v_transaction, 2, 'expired', target.wallet_id, p_grant, free);
  update grants set remaining = remaining - free where id = p_grant;
  update wallets set balance = balance - free where id = target.wallet_id;
  return free;
end $$;

-- Ends a hold: p_captured > 0 captures that much and releases the rest; p_captured = 0 releases all.
-- Ended already: `ended` is false and the row tells how it ended.
create function ledger_end_hold(p_hold uuid, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
returns table (ended boolean, state text, captured bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  target holds;
  part record;
  missing bigint := p_captured;
  taken bigint;
  next_line smallint := 1;
  v_transaction uuid := uuidv7();
  wallet wallets;
begin
  select * into target from holds h where h.id = p_hold;
  if not found then raise exception 'no hold %', p_hold using errcode = 'TS404'; end if;
  if p_captured is null or p_captured < 0 or p_captured > target.amount then
    raise exception 'cannot capture % of %', p_captured, target.amount using errcode = 'TS400';
  end if;
  select * into wallet from wallets w where w.id = target.wallet_id for update;
  update holds h set state = case when p_captured > 0 then 'captured' else 'released' end, captured = p_captured, ended_at = p_ended_at
    where h.id = p_hold and h.state = 'open';
  if not found then
    select * into target from holds h where h.id = p_hold;
    return query select false, target.state, target.captured, wallet.balance, wallet.held;
    return;
  end if;
  update wallets w set held = w.held - target.amount, balance = w.balance - p_captured where w.id = target.wallet_id;
  if p_captured > 0 and not ledger_open_transaction(v_transaction, p_key, 'capture', target.wallet_id,
    jsonb_build_object('hold', p_hold, 'credits', p_captured), p_now)
  then
    raise exception 'ledger key % was posted for another hold', p_key using errcode = 'TS409';
  end if;
  for part in
    select p.grant_id, p.amount, g.expired_at from hold_parts p join grants g on g.id = p.grant_id
      where p.hold_id = p_hold order by g.expires_at, g.id
  loop
    taken := least(missing, part.amount);
    update grants g set held = g.held - part.amount, remaining = g.remaining - taken where g.id = part.grant_id;
    if taken > 0 then
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
        (v_transaction, next_line, 'wallet', target.wallet_id, part.grant_id, -taken),
        (v_transaction, (next_line + 1)::smallint, 'spent', target.wallet_id, part.grant_id, taken);
      next_line := (next_line + 2)::smallint;
      missing := missing - taken;
    end if;
    if part.expired_at is not null and taken < part.amount then
      perform ledger_expire_free(part.grant_id, 'expire:' || part.grant_id || ':' || p_hold, p_now);
    end if;
  end loop;
  if exists (select from grants g where g.wallet_id = target.wallet_id and g.remaining < g.held) then
    perform ledger_settle_debt(target.wallet_id, p_now);
  end if;
  return query select true, case when p_captured > 0 then 'captured' else 'released' end, p_captured, w.balance, w.held
    from wallets w where w.id = target.wallet_id;
end $$;

-- Ends a grant: what is free expires, what is held stays until its hold ends.
create function ledger_expire_grant(p_grant uuid, p_now timestamptz)
returns table (expired bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  v_wallet uuid;
  v_expired bigint := 0;
begin
  select wallet_id into v_wallet from grants where id = p_grant;
  if not found then raise exception 'no grant %', p_grant using errcode = 'TS404'; end if;
  perform from wallets where id = v_wallet for update;
  update grants set expired_at = p_now where id = p_grant and expired_at is null;
  if found then v_expired := ledger_expire_free(p_grant, 'expire:' || p_grant, p_now); end if;
  return query select v_expired, w.balance, w.held from wallets w where w.id = v_wallet;
end $$;

-- Takes granted credits back after a refund or a dispute; what is spent already becomes recorded debt.
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

-- The balances as the entries alone tell them (invariant 6); empty when the books agree.
create function ledger_disagreements() returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'grant', g.id, g.remaining, coalesce(sum(e.amount), 0)::bigint
    from grants g left join ledger_entries e on e.grant_id = g.id and e.account = 'wallet'
    group by g.id having g.remaining <> coalesce(sum(e.amount), 0)
  union all
  select 'wallet', w.id, w.balance, coalesce(sum(e.amount), 0)::bigint
    from wallets w left join ledger_entries e on e.wallet_id = w.id and e.account = 'wallet'
    group by w.id having w.balance <> coalesce(sum(e.amount), 0)
  union all
  select 'held', w.id, w.held, coalesce(sum(h.amount), 0)::bigint
    from wallets w left join holds h on h.wallet_id = w.id and h.state = 'open'
    group by w.id having w.held <> coalesce(sum(h.amount), 0)
  union all
  select 'part', h.id, h.amount, coalesce(sum(p.amount), 0)::bigint
    from holds h left join hold_parts p on p.hold_id = h.id
    group by h.id having h.amount <> coalesce(sum(p.amount), 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(sum(e.amount), 0)::bigint
    from ledger_transactions t left join ledger_entries e on e.transaction_id = t.id
    group by t.id having coalesce(sum(e.amount), 1) <> 0
$$;
