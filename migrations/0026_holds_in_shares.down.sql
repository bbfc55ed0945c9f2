-- What is left of a hold becomes the hold: before this, nothing of an open one was settled.
update hold_parts p set amount = p.amount - p.settled, settled = 0 from holds h where h.id = p.hold_id and h.state = 'open' and p.settled < p.amount;
delete from hold_parts p using holds h where h.id = p.hold_id and h.state = 'open' and p.settled > 0;
update holds set amount = amount - settled, settled = 0, captured = 0 where state = 'open' and settled > 0;

create or replace function ledger_end_hold(p_hold uuid, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
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

drop function ledger_settle;

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
    from wallets w, lateral (select sum(amount) from holds where wallet_id = w.id and state = 'open') h
    where w.id = any (p_wallets) and w.held <> coalesce(h.sum, 0)
  union all
  select 'part', h.id, h.amount, coalesce(p.sum, 0)::bigint
    from holds h, lateral (select sum(amount) from hold_parts where hold_id = h.id) p
    where h.wallet_id = any (p_wallets) and h.state = 'open' and h.amount <> coalesce(p.sum, 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(e.sum, 0)::bigint
    from ledger_transactions t, lateral (select sum(amount) from ledger_entries where transaction_id = t.id) e
    where t.wallet_id = any (p_wallets) and coalesce(e.sum, 1) <> 0
$$;

alter table hold_parts drop column settled;
alter table holds drop constraint holds_released_free, drop column settled;
alter table holds add constraint holds_check2 check (state = 'captured' or captured = 0);
