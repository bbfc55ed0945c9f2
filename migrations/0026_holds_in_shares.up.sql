-- A hold may serve several answers, each of which settles its share: captures what it costs and releases the rest of the share. What is
-- settled is no longer held; the hold ends once, when nothing of it is left. Of a part it says how much of it is settled.
alter table holds add column settled bigint not null default 0;
update holds set settled = amount where state <> 'open';
alter table holds
  drop constraint holds_check2,
  add constraint holds_settled check (settled between captured and amount and (state = 'open') = (settled < amount)),
  add constraint holds_released_free check (state <> 'released' or captured = 0);
alter table hold_parts add column settled bigint not null default 0 check (settled between 0 and amount);
update hold_parts p set settled = p.amount from holds h where h.id = p.hold_id and h.state <> 'open';

-- Settles p_share of a hold, or all that is left of it where p_share is null: captures p_captured under p_key and releases the rest of the
-- share. What is captured is taken from the grants that expire soonest, and so is what stays held for others.
-- The hold has ended already: `settled` is false and `captured` is what was posted under p_key before, or 0.
create function ledger_settle(p_hold uuid, p_share bigint, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
returns table (settled boolean, state text, captured bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  target holds;
  part record;
  v_share bigint;
  missing bigint := p_captured;
  kept bigint;
  taken bigint;
  freed bigint;
  next_line smallint := 1;
  v_transaction uuid := uuidv7();
begin
  select * into target from holds h where h.id = p_hold;
  if not found then raise exception 'no hold %', p_hold using errcode = 'TS404'; end if;
  perform from wallets w where w.id = target.wallet_id for update;
  -- Only now: the wallet may have been waited for.
  select * into target from holds h where h.id = p_hold;
  v_share := coalesce(p_share, target.amount - target.settled);
  if p_captured is null or p_captured < 0 or p_captured > target.amount then
    raise exception 'cannot capture % of %', p_captured, target.amount using errcode = 'TS400';
  end if;
  if target.state <> 'open' then
    return query select false, target.state, coalesce((select (t.content->>'credits')::bigint from ledger_transactions t where t.key = p_key), 0),
      w.balance, w.held from wallets w where w.id = target.wallet_id;
    return;
  end if;
  if v_share not between 1 and target.amount - target.settled or p_captured > v_share then
    raise exception 'cannot settle % of % with %', v_share, target.amount - target.settled, p_captured using errcode = 'TS400';
  end if;
  kept := target.amount - target.settled - v_share;
  update holds h set settled = h.settled + v_share, captured = h.captured + p_captured,
      state = case when kept > 0 then 'open' when h.captured + p_captured > 0 then 'captured' else 'released' end,
      ended_at = case when kept = 0 then p_ended_at end
    where h.id = p_hold returning * into target;
  update wallets w set held = w.held - v_share, balance = w.balance - p_captured where w.id = target.wallet_id;
  if p_captured > 0 and not ledger_open_transaction(v_transaction, p_key, 'capture', target.wallet_id,
    jsonb_build_object('hold', p_hold, 'credits', p_captured), p_now)
  then
    raise exception 'ledger key % was posted before', p_key using errcode = 'TS409';
  end if;
  for part in
    select p.grant_id, p.amount - p.settled as open, g.expired_at from hold_parts p join grants g on g.id = p.grant_id
      where p.hold_id = p_hold and p.settled < p.amount order by g.expires_at, g.id
  loop
    taken := least(missing, part.open);
    missing := missing - taken;
    freed := greatest(part.open - taken - kept, 0);
    kept := kept - (part.open - taken - freed);
    update grants g set held = g.held - taken - freed, remaining = g.remaining - taken where g.id = part.grant_id;
    update hold_parts p set settled = p.settled + taken + freed where p.hold_id = p_hold and p.grant_id = part.grant_id;
    if taken > 0 then
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
        (v_transaction, next_line, 'wallet', target.wallet_id, part.grant_id, -taken),
        (v_transaction, (next_line + 1)::smallint, 'spent', target.wallet_id, part.grant_id, taken);
      next_line := (next_line + 2)::smallint;
    end if;
    if part.expired_at is not null and freed > 0 then
      perform ledger_expire_free(part.grant_id, 'expire:' || part.grant_id || ':' || p_hold || ':' || target.settled, p_now);
    end if;
  end loop;
  if exists (select from grants g where g.wallet_id = target.wallet_id and g.remaining < g.held) then
    perform ledger_settle_debt(target.wallet_id, p_now);
  end if;
  return query select true, target.state, p_captured, w.balance, w.held from wallets w where w.id = target.wallet_id;
end $$;

-- Ends a hold: p_captured > 0 captures that much of what is left of it and releases the rest; p_captured = 0 releases all that is left.
-- Ended already: `ended` is false and the row tells how it ended.
create or replace function ledger_end_hold(p_hold uuid, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
returns table (ended boolean, state text, captured bigint, balance bigint, held bigint) language sql security definer
set search_path = public, pg_temp as $$
  select * from ledger_settle(p_hold, null, p_captured, p_key, p_now, p_ended_at)
$$;

create or replace function ledger_disagreements() returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'grant', g.id, g.remaining, coalesce(sum(e.amount), 0)::bigint
    from grants g left join ledger_entries e on e.grant_id = g.id and e.account = 'wallet'
    group by g.id having g.remaining <> coalesce(sum(e.amount), 0)
  union all
  select 'wallet', w.id, w.balance, coalesce(sum(e.amount), 0)::bigint
    from wallets w left join ledger_entries e on e.wallet_id = w.id and e.account = 'wallet'
    group by w.id having w.balance <> coalesce(sum(e.amount), 0)
  union all
  select 'held', w.id, w.held, coalesce(sum(h.amount - h.settled), 0)::bigint
    from wallets w left join holds h on h.wallet_id = w.id and h.state = 'open'
    group by w.id having w.held <> coalesce(sum(h.amount - h.settled), 0)
  union all
  select 'part', h.id, h.amount, coalesce(sum(p.amount), 0)::bigint
    from holds h left join hold_parts p on p.hold_id = h.id
    group by h.id having h.amount <> coalesce(sum(p.amount), 0)
  union all
  select 'settled', h.id, h.settled, coalesce(sum(p.settled), 0)::bigint
    from holds h left join hold_parts p on p.hold_id = h.id
    group by h.id having h.settled <> coalesce(sum(p.settled), 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(sum(e.amount), 0)::bigint
    from ledger_transactions t left join ledger_entries e on e.transaction_id = t.id
    group by t.id having coalesce(sum(e.amount), 1) <> 0
$$;

-- For some wallets, by indexes. Of holds it reads the open ones, for the parts of a hold that has ended never change.
create or replace function ledger_disagreements_in(p_wallets uuid[]) returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'grant', g.id, g.remaining, coalesce(e.sum, 0)::bigint
    from grants g, lateral (select sum(amount) from ledger_entries where grant_id = g.id and account = 'wallet') e
    where g.wallet_id = any (p_wallets) and g.remaining <> coalesce(e.sum, 0)
  union all
  select 'wallet', w.id, w.balance, coalesce(e.sum, 0)::bigint
    from wallets w, lateral (select sum(amount) from ledger_entries where wallet_id = w.id and account = 'wallet') e
    where w.id = any (p_wallets) and w.balance <> coalesce(e.sum, 0)
  union all
  select 'held', w.id, w.held, coalesce(h.sum, 0)::bigint
    from wallets w, lateral (select sum(amount - settled) from holds where wallet_id = w.id and state = 'open') h
    where w.id = any (p_wallets) and w.held <> coalesce(h.sum, 0)
  union all
  select 'part', h.id, h.amount, coalesce(p.sum, 0)::bigint
    from holds h, lateral (select sum(amount) from hold_parts where hold_id = h.id) p
    where h.wallet_id = any (p_wallets) and h.state = 'open' and h.amount <> coalesce(p.sum, 0)
  union all
  select 'settled', h.id, h.settled, coalesce(p.sum, 0)::bigint
    from holds h, lateral (select sum(settled) from hold_parts where hold_id = h.id) p
    where h.wallet_id = any (p_wallets) and h.state = 'open' and h.settled <> coalesce(p.sum, 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(e.sum, 0)::bigint
    from ledger_transactions t, lateral (select sum(amount) from ledger_entries where transaction_id = t.id) e
    where t.wallet_id = any (p_wallets) and coalesce(e.sum, 1) <> 0
$$;
