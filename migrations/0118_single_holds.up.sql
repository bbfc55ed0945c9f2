-- As in 0114_starts_together, and one hold alone is a call of ledger_hold: a statement for many costs more to start than one hold does.
create or replace function ledger_hold_many(
  p_holds uuid[], p_wallets uuid[], p_amounts bigint[], p_kinds text[], p_now timestamptz[], p_deadlines timestamptz[], p_created_at timestamptz
) returns void language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  short record;
  v_setting text;
begin
  if cardinality(p_holds) = 1 then
    if not (select h.created from ledger_hold(p_holds[1], p_wallets[1], p_amounts[1], p_kinds[1]::text[], p_now[1], p_deadlines[1], p_created_at) h) then
      raise exception 'hold % exists', p_holds[1] using errcode = 'unique_violation';
    end if;
    return;
  end if;
  perform ledger_assert_amount(amount) from unnest(p_amounts) amount where amount is null or amount not between 1 and 1000000000;
  -- A hold need not wait for the disk: what a crash of PostgreSQL forgets within the next flush of the log was not charged (decision 8).
  v_setting := set_config('synchronous_commit', 'off', true);
  -- Before their grants are read, because a wallet may have to be waited for.
  perform from wallets w where w.id = any (p_wallets) order by w.id for update;
  if exists (select from wallets w where w.id = any (p_wallets) and w.frozen_at is not null) then
    raise exception 'wallet is frozen' using errcode = 'TS423';
  end if;
  with ask as materialized (
    select * from unnest(p_holds, p_wallets, p_amounts, p_kinds, p_now, p_deadlines) a (hold, wallet, amount, kinds, now, deadline)
  ), wallet as (
    update wallets w set held = w.held + p_amounts[array_position(p_wallets, w.id)]
      where w.id = any (p_wallets) and w.balance - w.held >= p_amounts[array_position(p_wallets, w.id)]
      returning p_holds[array_position(p_wallets, w.id)] as hold
  ), part as materialized (
    select listed.hold, listed.grant_id, least(listed.free, listed.amount - listed.before) as amount from (
      select ask.hold, ask.amount, paying.id as grant_id, paying.free, coalesce(sum(paying.free)
          over (partition by ask.hold order by paying.expires_at, paying.id rows between unbounded preceding and 1 preceding), 0)::bigint as before
        from ask cross join lateral (
          select g.id, g.expires_at, g.remaining - g.held as free from grants g
            where g.wallet_id = ask.wallet and g.open and g.remaining > g.held
              and g.kind = any (ask.kinds::text[]) and g.expired_at is null and g.expires_at > ask.now offset 0) paying
    ) listed where listed.before < listed.amount
  ), paying as (
    update grants g set held = g.held + part.amount from part
      where g.id = any (array(select p.grant_id from part p)) and part.grant_id = g.id returning part.hold, part.amount
  ), hold as (
    insert into holds (id, wallet_id, amount, deadline, created_at) select ask.hold, ask.wallet, ask.amount, ask.deadline, p_created_at from ask
  ), parts as (
    insert into hold_parts (hold_id, grant_id, amount) select part.hold, part.grant_id, part.amount from part
  )
  select coalesce(sum(paying.amount), 0)::text as available into short
    from ask left join wallet on wallet.hold = ask.hold left join paying on paying.hold = ask.hold
    group by ask.hold, ask.amount, wallet.hold having wallet.hold is null or coalesce(sum(paying.amount), 0) <> ask.amount limit 1;
  if found then
    raise exception 'not enough credits' using errcode = 'TS402', detail = short.available;
  end if;
end $$;

-- As in 0115_ends_together, and one share alone is a call of ledger_settle.
create or replace function ledger_settle_many(
  p_holds uuid[], p_shares bigint[], p_captured bigint[], p_keys text[], p_now timestamptz[], p_ended_at timestamptz
) returns table (settled_place bigint, settled_state text, settled_credits bigint, settled_capture uuid) language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  share record;
  v_watched uuid[] := '{}';
  v_spent bigint[] := '{}';
begin
  if cardinality(p_holds) = 1 then
    settled_place := 1;
    select s.state, s.captured into settled_state, settled_credits
      from ledger_settle(p_holds[1], p_shares[1], p_captured[1], p_keys[1], p_now[1], p_ended_at) s;
    settled_capture := (select k.transaction_id from ledger_keys k where k.key = p_keys[1] and settled_credits > 0);
    return next;
    return;
  end if;
  -- Before their holds and grants are read, because a wallet may have to be waited for.
  perform from wallets w where w.id = any (array(select (select h.wallet_id from holds h where h.id = hold) from unnest(p_holds) hold))
    order by w.id for update;
  for share in
    with ask as materialized (
      select a.*, h.wallet_id, g.id as grant_id, g.watched, case when g.id is not null and a.captured > 0 then uuidv7() end as capture
        from unnest(p_holds, p_shares, p_captured, p_keys, p_now) with ordinality a (hold, share, captured, key, now, place)
          left join lateral (
            select h.wallet_id, h.state = 'open' and h.settled = 0 and h.amount = a.share and a.captured between 0 and a.share as whole
              from holds h where h.id = a.hold offset 0) h on true
          left join lateral (select p.grant_id from hold_parts p where p.hold_id = a.hold and p.amount = a.share offset 0) p on h.whole
          left join lateral (
            select g.id, g.alert_percent is not null and not g.alert_told as watched from grants g
              where g.id = p.grant_id and g.expired_at is null
                and (select count(*) from grants d where d.wallet_id = h.wallet_id and d.open and d.remaining < d.held) = 0 offset 0) g on true
    ), whole as materialized (
      select * from ask where ask.grant_id is not null
    ), hold as (
      update holds h set settled = whole.share, captured = whole.captured, ended_at = p_ended_at,
          state = case when whole.captured > 0 then 'captured' else 'released' end
        from whole where h.id = any (array(select whole.hold from whole)) and h.id = whole.hold
    ), wallet as (
      update wallets w set held = w.held - paid.share, balance = w.balance - paid.captured
        from (select whole.wallet_id, sum(whole.share) as share, sum(whole.captured) as captured from whole group by 1) paid
        where w.id = any (array(select whole.wallet_id from whole)) and w.id = paid.wallet_id
    ), paying as (
      update grants g set held = g.held - paid.share, remaining = g.remaining - paid.captured
        from (select whole.grant_id, sum(whole.share) as share, sum(whole.captured) as captured from whole group by 1) paid
        where g.id = any (array(select whole.grant_id from whole)) and g.id = paid.grant_id
    ), keyed as (
      insert into ledger_keys (key, transaction_id) select whole.key, whole.capture from whole where whole.capture is not null
        on conflict (key) do nothing returning transaction_id
    ), opened as (
      insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at)
        select whole.capture, whole.key, 'capture', whole.wallet_id, jsonb_build_object('hold', whole.hold, 'credits', whole.captured), whole.now
          from whole where whole.capture is not null
    ), entered as (
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount)
        select whole.capture, entry.line, entry.account, whole.wallet_id, whole.grant_id, entry.sign * whole.captured
          from whole cross join (values (1::smallint, 'wallet', -1), (2::smallint, 'spent', 1)) entry (line, account, sign)
          where whole.capture is not null
    )
    select ask.*, keyed.transaction_id is null and ask.capture is not null as posted_before
      from ask left join keyed on keyed.transaction_id = ask.capture
  loop
    settled_place := share.place;
    if share.grant_id is null then
      select s.state, s.captured into settled_state, settled_credits
        from ledger_settle(share.hold, share.share, share.captured, share.key, share.now, p_ended_at) s;
      settled_capture := (select k.transaction_id from ledger_keys k where k.key = share.key and settled_credits > 0);
    elsif share.posted_before then
      raise exception 'ledger key % was posted before', share.key using errcode = 'TS409';
    else
      settled_state := case when share.captured > 0 then 'captured' else 'released' end;
      settled_credits := share.captured;
      settled_capture := share.capture;
      if share.watched and share.captured > 0 then
        v_watched := v_watched || share.grant_id;
        v_spent := v_spent || share.captured;
      end if;
    end if;
    return next;
  end loop;
  if v_watched <> '{}' then
    perform grant_spent(g, (select sum(spent.credits)::bigint from unnest(v_watched, v_spent) spent (id, credits) where spent.id = g.id))
      from grants g where g.id = any (v_watched);
  end if;
end $$;
