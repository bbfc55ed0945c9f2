-- What a hold and its capture cost PostgreSQL (decision 29). It still asserts every rule of the ledger itself.

-- PostgreSQL reads a table's check constraints anew for every statement that writes to the table. One check that calls a function, which is
-- compiled once per connection, says the same for a fraction of the cost.
create function grant_is_sound(p_kind text, p_credits bigint, p_remaining bigint, p_held bigint, p_clawed_back bigint)
returns boolean language plpgsql immutable as $$
begin
  -- Less than nothing is left only by what was clawed back: that is the wallet's recorded debt. No more is held than there is, but for that.
  return p_kind in ('plan', 'trial', 'pack', 'adjustment') and p_credits between 1 and 1000000000 and p_remaining <= p_credits
    and p_held between 0 and p_credits and p_clawed_back between 0 and p_credits
    and p_remaining + p_clawed_back >= 0 and p_held <= p_remaining + p_clawed_back;
end $$;
create function hold_is_sound(p_state text, p_amount bigint, p_settled bigint, p_captured bigint, p_has_ended boolean)
returns boolean language plpgsql immutable as $$
begin
  return p_amount > 0 and p_captured >= 0 and p_settled between p_captured and p_amount
    and case p_state
      when 'open' then not p_has_ended and p_settled < p_amount
      when 'captured' then p_has_ended and p_settled = p_amount
      when 'released' then p_has_ended and p_settled = p_amount and p_captured = 0
      else false end;
end $$;
create function hold_part_is_sound(p_amount bigint, p_settled bigint) returns boolean language plpgsql immutable as $$
begin
  return p_amount > 0 and p_settled between 0 and p_amount;
end $$;
create function ledger_entry_is_sound(p_line smallint, p_account text, p_amount bigint) returns boolean language plpgsql immutable as $$
begin
  return p_line > 0 and p_account in ('wallet', 'issued', 'spent', 'expired', 'clawed_back') and p_amount <> 0;
end $$;
create function ledger_transaction_is_sound(p_kind text) returns boolean language plpgsql immutable as $$
begin
  return p_kind in ('grant', 'capture', 'expire', 'clawback', 'repay', 'restore');
end $$;

-- A table with pending checks can't be altered, so they are made at once.
set constraints all immediate;
alter table grants
  drop constraint grants_check, drop constraint grants_check1, drop constraint grants_check2, drop constraint grants_check3,
  drop constraint grants_credits_check, drop constraint grants_held_covered, drop constraint grants_kind_check,
  add constraint grants_sound check (grant_is_sound(kind, credits, remaining, held, clawed_back));
alter table holds
  drop constraint holds_amount_check, drop constraint holds_check, drop constraint holds_check1, drop constraint holds_released_free,
  drop constraint holds_settled, drop constraint holds_state_check,
  add constraint holds_sound check (hold_is_sound(state, amount, settled, captured, ended_at is not null));
alter table hold_parts
  drop constraint hold_parts_amount_check, drop constraint hold_parts_check,
  add constraint hold_parts_sound check (hold_part_is_sound(amount, settled));
alter table ledger_transactions
  drop constraint ledger_transactions_kind_check, add constraint ledger_transactions_sound check (ledger_transaction_is_sound(kind));

-- A hold changes a grant's figures but nothing that an index contains, so PostgreSQL writes the new version beside the old one and touches no
-- index. `open` changes only with the first and the last of a grant's credits.
alter table grants add column open boolean not null generated always as (remaining <> 0 or held <> 0) stored;
create index grants_wallet on grants (wallet_id, open, expires_at, id);
drop index grants_open;
alter table grants set (fillfactor = 70);
alter table wallets set (fillfactor = 70);

-- An entry's grant and wallet belong together: one foreign key says both, and the entries of a wallet are found by its grants.
alter table grants add constraint grants_of_wallet unique (id, wallet_id);
drop index ledger_entries_wallet;
drop trigger ledger_entries_balanced on ledger_entries;
alter table ledger_entries
  drop constraint ledger_entries_account_check, drop constraint ledger_entries_amount_check, drop constraint ledger_entries_line_check,
  drop constraint ledger_entries_wallet_id_fkey, drop constraint ledger_entries_grant_id_fkey,
  add constraint ledger_entries_sound check (ledger_entry_is_sound(line, account, amount)),
  add constraint ledger_entries_of_wallet foreign key (grant_id, wallet_id) references grants (id, wallet_id);

-- Invariant 1: what one statement enters sums to zero within each transaction, and so does the transaction.
create or replace function ledger_assert_balanced() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  select transaction_id, sum(amount) as total into wrong from entered group by transaction_id having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'ledger transaction % does not sum to zero: %', wrong.transaction_id, wrong.total using errcode = 'TS900';
  end if;
  return null;
end $$;
create trigger ledger_entries_sum_to_zero after insert on ledger_entries referencing new table as entered
  for each statement execute function ledger_assert_balanced();

-- A transaction without entries says nothing, and one that does not own its key posts a fact twice.
create or replace function ledger_assert_entries() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (select from ledger_keys k join ledger_entries e on e.transaction_id = k.transaction_id
    where k.key = new.key and k.transaction_id = new.id)
  then
    raise exception 'ledger transaction % has no entries or does not own its key %', new.id, new.key using errcode = 'TS900';
  end if;
  return null;
end $$;

-- Invariant 2, in one statement.
create or replace function ledger_assert_wallet() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  select w.balance, w.held, sums.remaining as grants_remaining, sums.held as grants_held into wrong
    from wallets w, lateral (
      select coalesce(sum(g.remaining), 0) as remaining, coalesce(sum(g.held), 0) as held from grants g where g.wallet_id = w.id and g.open
    ) sums where w.id = new.id and (w.balance <> sums.remaining or w.held <> sums.held);
  if found then
    raise exception 'wallet % says balance % held %, its grants say % and %',
      new.id, wrong.balance, wrong.held, wrong.grants_remaining, wrong.grants_held using errcode = 'TS900';
  end if;
  return null;
end $$;

-- Reserves credits, soonest-expiring grants first, from the kinds named. p_deadline is wall time.
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
  if p_amount is null or p_amount not between 1 and 1000000000 then perform ledger_assert_amount(p_amount); end if;
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
      where g.wallet_id = p_wallet and g.open and g.remaining > g.held
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
  created := true;
  state := 'open';
  balance := wallet.balance;
  held := wallet.held;
  return next;
end $$;

-- Settles p_share of a hold, or all that is left of it where p_share is null: captures p_captured under p_key and releases the rest of the
-- share. What is captured is taken from the grants that expire soonest, and so is what stays held for others.
-- The hold has ended already: `settled` is false and `captured` is what was posted under p_key before, or 0.
-- Settling makes no debt, so that a wallet without debt before has none after it.
create or replace function ledger_settle(p_hold uuid, p_share bigint, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
returns table (settled boolean, state text, captured bigint, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  target record;
  part record;
  v_in_debt boolean;
  v_share bigint;
  missing bigint := p_captured;
  kept bigint;
  taken bigint;
  freed bigint;
  next_line smallint := 1;
  v_transaction uuid := uuidv7();
begin
  -- Both as they are once the wallet is locked: it may have been waited for.
  select h.state, h.amount, h.settled, h.captured, h.wallet_id into target
    from wallets w join holds h on h.wallet_id = w.id where h.id = p_hold for update of w, h;
  if not found then raise exception 'no hold %', p_hold using errcode = 'TS404'; end if;
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
  settled := true;
  captured := p_captured;
  state := case when kept > 0 then 'open' when target.captured + p_captured > 0 then 'captured' else 'released' end;
  update holds h set settled = h.settled + v_share, captured = h.captured + p_captured, state = ledger_settle.state,
      ended_at = case when kept = 0 then p_ended_at end
    where h.id = p_hold;
  update wallets w set held = w.held - v_share, balance = w.balance - p_captured where w.id = target.wallet_id
    returning w.balance, w.held into balance, held;
  if p_captured > 0 and not ledger_open_transaction(v_transaction, p_key, 'capture', target.wallet_id,
    jsonb_build_object('hold', p_hold, 'credits', p_captured), p_now)
  then
    raise exception 'ledger key % was posted before', p_key using errcode = 'TS409';
  end if;
  for part in
    select p.grant_id, p.amount - p.settled as open, g.expired_at,
        exists (select from grants d where d.wallet_id = target.wallet_id and d.open and d.remaining < d.held) as wallet_in_debt
      from hold_parts p join grants g on g.id = p.grant_id
      where p.hold_id = p_hold and p.settled < p.amount order by g.expires_at, g.id
  loop
    v_in_debt := part.wallet_in_debt;
    taken := least(missing, part.open);
    missing := missing - taken;
    freed := greatest(part.open - taken - kept, 0);
    kept := kept - (part.open - taken - freed);
    update grants g set held = g.held - taken - freed, remaining = g.remaining - taken where g.id = part.grant_id;
    -- Of a hold that has ended nobody reads what is settled of each part: all of it is.
    if state = 'open' then
      update hold_parts p set settled = p.settled + taken + freed where p.hold_id = p_hold and p.grant_id = part.grant_id;
    end if;
    if taken > 0 then
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
        (v_transaction, next_line, 'wallet', target.wallet_id, part.grant_id, -taken),
        (v_transaction, (next_line + 1)::smallint, 'spent', target.wallet_id, part.grant_id, taken);
      next_line := (next_line + 2)::smallint;
    end if;
    if part.expired_at is not null and freed > 0 then
      perform ledger_expire_free(part.grant_id, 'expire:' || part.grant_id || ':' || p_hold || ':' || target.settled + v_share, p_now);
      balance := balance - freed;
    end if;
  end loop;
  if v_in_debt then perform ledger_settle_debt(target.wallet_id, p_now); end if;
  return next;
end $$;

create or replace function ledger_available(p_user uuid, p_kinds text[], p_now timestamptz) returns bigint language sql stable as $$
  select coalesce((select greatest(least(w.balance - w.held, coalesce(sum(g.remaining - g.held), 0)), 0)::bigint
    from wallets w left join grants g on g.wallet_id = w.id and g.open and g.remaining > g.held
      and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now
    where w.billing_account_id = payer_of(p_user) and w.frozen_at is null group by w.id), 0)
$$;

-- For some wallets, by indexes. Of holds it reads the open ones, for the parts of a hold that has ended never change.
create or replace function ledger_disagreements_in(p_wallets uuid[]) returns table (kind text, id uuid, recorded bigint, rebuilt bigint)
language sql stable security definer set search_path = public, pg_temp as $$
  select 'grant', g.id, g.remaining, coalesce(e.sum, 0)::bigint
    from grants g, lateral (select sum(amount) from ledger_entries where grant_id = g.id and account = 'wallet') e
    where g.wallet_id = any (p_wallets) and g.remaining <> coalesce(e.sum, 0)
  union all
  select 'wallet', w.id, w.balance, coalesce(e.sum, 0)::bigint
    from wallets w, lateral (
      select sum(e.amount) from grants g join ledger_entries e on e.grant_id = g.id and e.account = 'wallet' where g.wallet_id = w.id) e
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
    from holds h left join hold_parts p on p.hold_id = h.id where h.state = 'open'
    group by h.id having h.settled <> coalesce(sum(p.settled), 0)
  union all
  select 'transaction', t.id, 0::bigint, coalesce(sum(e.amount), 0)::bigint
    from ledger_transactions t left join ledger_entries e on e.transaction_id = t.id
    group by t.id having coalesce(sum(e.amount), 1) <> 0
$$;
