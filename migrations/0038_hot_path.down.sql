set constraints all immediate;
drop trigger ledger_entries_sum_to_zero on ledger_entries;
create or replace function ledger_assert_balanced() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  total numeric;
begin
  select sum(amount) into total from ledger_entries where transaction_id = new.transaction_id;
  if total <> 0 then
    raise exception 'ledger transaction % does not sum to zero: %', new.transaction_id, total using errcode = 'TS900';
  end if;
  return null;
end $$;

create or replace function ledger_assert_entries() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (select from ledger_entries where transaction_id = new.id) then
    raise exception 'ledger transaction % has no entries', new.id using errcode = 'TS900';
  end if;
  if not exists (select from ledger_keys where key = new.key and transaction_id = new.id) then
    raise exception 'ledger transaction % does not own its key %', new.id, new.key using errcode = 'TS900';
  end if;
  return null;
end $$;

create or replace function ledger_assert_wallet() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wallet wallets;
  grants_remaining numeric;
  grants_held numeric;
begin
  select * into wallet from wallets where id = new.id;
  select coalesce(sum(remaining), 0), coalesce(sum(held), 0) into grants_remaining, grants_held
    from grants where wallet_id = new.id and (remaining <> 0 or held <> 0);
  if wallet.balance <> grants_remaining or wallet.held <> grants_held then
    raise exception 'wallet % says balance % held %, its grants say % and %',
      new.id, wallet.balance, wallet.held, grants_remaining, grants_held using errcode = 'TS900';
  end if;
  return null;
end $$;

create or replace function ledger_hold(
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

create or replace function ledger_settle(p_hold uuid, p_share bigint, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
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
    return query select false, target.state, coalesce((select (t.content->>'credits')::bigint
      from ledger_keys k join ledger_transactions t on t.id = k.transaction_id where k.key = p_key), 0),
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

create or replace function ledger_available(p_user uuid, p_kinds text[], p_now timestamptz) returns bigint language sql stable as $$
  select coalesce((select greatest(least(w.balance - w.held, coalesce(sum(g.remaining - g.held), 0)), 0)::bigint
    from wallets w left join grants g on g.wallet_id = w.id and (g.remaining <> 0 or g.held <> 0) and g.remaining > g.held
      and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now
    where w.billing_account_id = payer_of(p_user) and w.frozen_at is null group by w.id), 0)
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

create constraint trigger ledger_entries_balanced after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_assert_balanced();
alter table ledger_entries
  drop constraint ledger_entries_sound, drop constraint ledger_entries_of_wallet,
  add constraint ledger_entries_account_check check (account in ('wallet', 'issued', 'spent', 'expired', 'clawed_back')),
  add constraint ledger_entries_amount_check check (amount <> 0),
  add constraint ledger_entries_line_check check (line > 0),
  add constraint ledger_entries_wallet_id_fkey foreign key (wallet_id) references wallets,
  add constraint ledger_entries_grant_id_fkey foreign key (grant_id) references grants;
create index ledger_entries_wallet on ledger_entries (wallet_id) where account = 'wallet';
alter table grants drop constraint grants_of_wallet;

create index grants_open on grants (wallet_id, expires_at, id) where remaining <> 0 or held <> 0;
drop index grants_wallet;
update hold_parts p set settled = p.amount from holds h where h.id = p.hold_id and h.state <> 'open' and p.settled < p.amount;
alter table grants reset (fillfactor), drop column open;
alter table wallets reset (fillfactor);

alter table grants
  drop constraint grants_sound,
  add constraint grants_check check (remaining <= credits),
  add constraint grants_check1 check (held >= 0 and held <= credits),
  add constraint grants_check2 check (clawed_back >= 0 and clawed_back <= credits),
  add constraint grants_check3 check (remaining + clawed_back >= 0),
  add constraint grants_credits_check check (credits > 0 and credits <= 1000000000),
  add constraint grants_held_covered check (held <= remaining + clawed_back),
  add constraint grants_kind_check check (kind in ('plan', 'trial', 'pack', 'adjustment'));
alter table holds
  drop constraint holds_sound,
  add constraint holds_amount_check check (amount > 0),
  add constraint holds_check check (captured >= 0 and captured <= amount),
  add constraint holds_check1 check ((state = 'open') = (ended_at is null)),
  add constraint holds_released_free check (state <> 'released' or captured = 0),
  add constraint holds_settled check (settled between captured and amount and (state = 'open') = (settled < amount)),
  add constraint holds_state_check check (state in ('open', 'captured', 'released'));
alter table hold_parts
  drop constraint hold_parts_sound,
  add constraint hold_parts_amount_check check (amount > 0),
  add constraint hold_parts_check check (settled between 0 and amount);
alter table ledger_transactions drop constraint ledger_transactions_sound,
  add constraint ledger_transactions_kind_check check (kind in ('grant', 'capture', 'expire', 'clawback', 'repay', 'restore'));
drop function ledger_transaction_is_sound, grant_is_sound, hold_is_sound, hold_part_is_sound, ledger_entry_is_sound;
set constraints all deferred;
