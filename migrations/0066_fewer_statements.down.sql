create or replace function turn_start(
  p_turn jsonb,
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
declare
  turn record;
  v_missing boolean := false;
begin
  select * into turn from jsonb_to_record(p_turn) as t (
    "conversationId" uuid, "isNew" boolean, title text, "parentId" uuid, "questionId" uuid, "answerId" uuid, prompt text);
  if p_turn is not null and not turn."isNew" then
    -- The wallet before the conversation, as everybody takes them.
    perform from wallets w where w.billing_account_id = payer_of(p_user) for update;
    perform from conversations c where c.id = turn."conversationId" and c.user_id = p_user for no key update;
    v_missing := not found or case
      when turn.prompt is null then not exists (
        select from messages m where m.conversation_id = turn."conversationId" and m.id = turn."questionId" and m.role = 'user')
      else turn."parentId" is not null and not exists (
        select from messages m where m.conversation_id = turn."conversationId" and m.id = turn."parentId" and m.role = 'assistant') end;
  end if;
  select a.* into outcome, generation_id, retry_after_ms, available from answer_start(p_id, p_user, p_model, p_key, p_hash, p_credits,
    p_price_version, p_kinds, p_refused or v_missing, p_hold, p_trimmed, p_per_minute, p_at_once, p_owner, p_lease_ms, p_hold_ms, p_now) a;
  if outcome = 'refused' and not p_refused then outcome := 'no_conversation'; end if;
  if outcome = 'created' and p_turn is not null then
    if turn."isNew" then
      insert into conversations (id, user_id, title, created_at, updated_at)
        values (turn."conversationId", p_user, turn.title, p_now, p_now) on conflict (id) do nothing;
    end if;
    if turn.prompt is not null then
      insert into messages (id, conversation_id, parent_id, role, content, created_at)
        values (turn."questionId", turn."conversationId", turn."parentId", 'user', turn.prompt, p_now);
    end if;
    insert into messages (id, conversation_id, parent_id, role, generation_id, created_at)
      values (turn."answerId", turn."conversationId", turn."questionId", 'assistant', p_id, p_now);
    update conversations c set head_id = turn."answerId", updated_at = greatest(c.updated_at, p_now) where c.id = turn."conversationId";
  end if;
  return next;
end $$;

create or replace function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql as $$
declare
  v_payer uuid := payer_of(p_user);
  v_members integer;
  wallet record;
  known record;
  v_clock timestamptz;
  v_oldest timestamptz;
  v_day date := (p_now at time zone 'UTC')::date;
  v_cap record;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id, w.frozen_at into wallet from wallets w where w.billing_account_id = v_payer for update;
  -- Only now: the wallet may have been waited for.
  v_clock := clock_timestamp();
  select g.id, g.request_hash into known from generation_keys k join generations g on g.id = k.generation_id
    where k.user_id = p_user and k.key = p_key;
  if found then
    outcome := case when known.request_hash = p_hash then 'known' else 'conflict' end;
    generation_id := known.id;
    return next;
    return;
  end if;
  v_members := greatest((select count(*) from billing_account_members m where m.billing_account_id = v_payer), 1);
  select max(full_since.at) into v_oldest from (
      (select sent.at from (
          (select g.asked_at as at from generations g where g.user_id = p_user and g.asked_at > v_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute)
          union all select unnest(r.refused_at) from refused_sends r where r.user_id = p_user
        ) sent order by sent.at desc offset p_per_minute - 1 limit 1)
      union all
      (select sent.at from (
          (select g.asked_at as at from generations g where g.payer_id = v_payer and g.asked_at > v_clock - interval '1 minute'
            order by g.asked_at desc limit p_per_minute * v_members)
          union all select unnest(r.refused_at) from refused_sends r join billing_account_members m on m.user_id = r.user_id
            where m.billing_account_id = v_payer
        ) sent order by sent.at desc offset p_per_minute * v_members - 1 limit 1)
    ) full_since;
  if v_oldest > v_clock - interval '1 minute' then
    outcome := 'rate_limited';
    retry_after_ms := extract(epoch from v_oldest + interval '1 minute' - v_clock) * 1000;
    return next;
    return;
  end if;
  available := case when p_hold is null then ledger_available(p_user, p_kinds, p_now)
    else coalesce((select h.amount - (select coalesce(sum(g.quoted_credits), 0) from generations g where g.hold_id = h.id)
      from holds h where h.id = p_hold and h.wallet_id = wallet.id and h.state = 'open'), 0) end;
  -- The row is locked until the commit, so of several sends at once each sees what the others hold.
  select l.daily_cap_credits as credits, case when l.day >= v_day then l.day_credits else 0 end as used into v_cap
    from spending_limits l where l.user_id = p_user and l.daily_cap_credits is not null for update;
  outcome := case
    when p_refused then 'refused'
    when wallet.id is null then 'no_wallet'
    when wallet.frozen_at is not null then 'wallet_frozen'
    when (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) >= p_at_once
      then 'too_many_answers'
    when (select count(*) from generations g where g.payer_id = v_payer and g.status = 'streaming' and g.lease_expires_at > v_clock)
      >= p_at_once * v_members then 'too_many_answers'
    when available < p_credits then 'insufficient_credits'
    when v_cap.used + p_credits > v_cap.credits then 'daily_cap_reached'
    else 'created' end;
  if outcome <> 'created' then
    insert into refused_sends as before (user_id, refused_at) values (p_user, array[v_clock])
      on conflict (user_id) do update set refused_at = v_clock || array(
        select refused.at from unnest(before.refused_at) refused (at) where refused.at > v_clock - interval '1 minute' order by refused.at desc);
    return next;
    return;
  end if;
  if p_hold is null then
    perform ledger_hold(p_id, wallet.id, p_credits, p_kinds, p_now, v_clock + p_hold_ms * interval '1 millisecond', v_clock);
  end if;
  if v_cap.credits is not null then
    update spending_limits l set day = greatest(l.day, v_day), day_credits = v_cap.used + p_credits where l.user_id = p_user;
  end if;
  insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, price_version, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, v_payer, p_model, p_key, p_hash, coalesce(p_hold, p_id), p_credits, p_price_version, p_trimmed,
      p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now, v_clock);
  insert into generation_keys (user_id, key, generation_id, created_at) values (p_user, p_key, p_id, v_clock);
  generation_id := p_id;
  return next;
end $$;

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

create or replace function ledger_settle_debt(p_wallet uuid, p_now timestamptz) returns bigint language plpgsql as $$
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

create or replace function ledger_end_hold(p_hold uuid, p_captured bigint, p_key text, p_now timestamptz, p_ended_at timestamptz)
returns table (ended boolean, state text, captured bigint, balance bigint, held bigint) language sql security definer
set search_path = public, pg_temp as $$
  select * from ledger_settle(p_hold, null, p_captured, p_key, p_now, p_ended_at)
$$;

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

create or replace function ledger_assert_entries() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if not exists (select from ledger_keys k join ledger_entries e on e.transaction_id = k.transaction_id
    where k.key = new.key and k.transaction_id = new.id)
  then
    raise exception 'ledger transaction % has no entries or does not own its key %', new.id, new.key using errcode = 'TS900';
  end if;
  return null;
end $$;

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

-- What expired or was taken back with its money was not spent.
create trigger grants_alert_passed before update of remaining on grants for each row when (
  new.alert_percent is not null and not new.alert_told and new.kind = 'plan' and new.remaining < old.remaining
  and new.expired_at is null and new.clawed_back = old.clawed_back
  and (new.credits - new.clawed_back - old.remaining) * 100 < new.alert_percent * (new.credits - new.clawed_back)
  and (new.credits - new.clawed_back - new.remaining) * 100 >= new.alert_percent * (new.credits - new.clawed_back)
) execute function grants_tell_alert();

drop function grant_spent;
