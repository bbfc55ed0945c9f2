create or replace function turn_start(
  p_turn jsonb,
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  turn record;
  v_missing boolean := false;
  v_files uuid[];
begin
  select * into turn from jsonb_to_record(p_turn) as t (
    "conversationId" uuid, "isNew" boolean, title text, "parentId" uuid, "questionId" uuid, "answerId" uuid, prompt text,
    attachments jsonb, "attachmentTokens" integer);
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
  if jsonb_typeof(turn.attachments) = 'array' and not v_missing then
    -- The wallet before the files.
    perform from wallets w where w.billing_account_id = payer_of(p_user) for update;
    v_files := array(select (a ->> 'fileId')::uuid from jsonb_array_elements(turn.attachments) a);
    -- Whoever deletes one, or sends it elsewhere, waits or is first.
    perform from files f where f.id = any (v_files) order by f.id for no key update;
    v_missing := exists (select from unnest(v_files) asked (id) where not exists (
      select from files f where f.id = asked.id and f.user_id = p_user and f.kind = 'attachment' and f.content_type is not null
        and (f.conversation_id is null or f.conversation_id = turn."conversationId")));
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
      insert into messages (id, conversation_id, parent_id, role, content, generation_id, created_at) values
        (turn."questionId", turn."conversationId", turn."parentId", 'user', turn.prompt, null, p_now),
        (turn."answerId", turn."conversationId", turn."questionId", 'assistant', null, p_id, p_now);
      if v_files is not null then
        update messages m set attachments = turn.attachments, attachment_tokens = coalesce(turn."attachmentTokens", 0) where m.id = turn."questionId";
        update files f set conversation_id = turn."conversationId" where f.id = any (v_files) and f.conversation_id is null;
      end if;
    else
      insert into messages (id, conversation_id, parent_id, role, generation_id, created_at)
        values (turn."answerId", turn."conversationId", turn."questionId", 'assistant', p_id, p_now);
    end if;
    update conversations c set head_id = turn."answerId", updated_at = greatest(c.updated_at, p_now) where c.id = turn."conversationId";
  end if;
  return next;
end $$;

create or replace function answer_start(
  p_id uuid, p_user uuid, p_model text, p_key text, p_hash bytea, p_credits bigint, p_price_version text, p_kinds text[], p_refused boolean,
  p_hold uuid, p_trimmed integer, p_per_minute integer, p_at_once integer, p_owner uuid, p_lease_ms integer, p_hold_ms integer, p_now timestamptz
) returns table (outcome text, generation_id uuid, retry_after_ms bigint, available bigint) language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  v_payer uuid := payer_of(p_user);
  v_day date := (p_now at time zone 'UTC')::date;
  wallet record;
  known record;
  seen record;
  v_clock timestamptz;
  v_oldest timestamptz;
begin
  -- The first word need not wait for the disk: a crash of PostgreSQL within the next flush of the log (a quarter of a
  -- second) forgets the question together with its hold, and nothing was charged. Every end waits, and this with it.
  perform set_config('synchronous_commit', 'off', true);
  select w.id, w.frozen_at, w.balance - w.held as free into wallet from wallets w where w.billing_account_id = v_payer for update;
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
  -- Everything here belongs to one paying account, whose wallet is locked: of several sends at once each sees what the others hold.
  select greatest(account.members, 1) as members,
      (select count(*) from generations g where g.user_id = p_user and g.asked_at > v_clock - interval '1 minute')
        + (select count(*) from refused_sends r, unnest(r.refused_at) refused (at)
          where r.user_id = p_user and refused.at > v_clock - interval '1 minute') as own_sent,
      (select count(*) from generations g where g.payer_id = v_payer and g.asked_at > v_clock - interval '1 minute')
        + (select count(*) from billing_account_members m join refused_sends r on r.user_id = m.user_id, unnest(r.refused_at) refused (at)
          where m.billing_account_id = v_payer and refused.at > v_clock - interval '1 minute') as sent,
      (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) as own_running,
      (select count(*) from generations g where g.payer_id = v_payer and g.status = 'streaming' and g.lease_expires_at > v_clock) as running,
      case when p_hold is null then (select coalesce(sum(g.remaining - g.held), 0) from grants g where g.wallet_id = wallet.id and g.open
          and g.remaining > g.held and g.kind = any (p_kinds) and g.expired_at is null and g.expires_at > p_now)
        else coalesce((select h.amount - (select coalesce(sum(g.quoted_credits), 0) from generations g where g.hold_id = h.id)
          from holds h where h.id = p_hold and h.wallet_id = wallet.id and h.state = 'open'), 0) end as free,
      l.daily_cap_credits as cap, case when l.day >= v_day then l.day_credits else 0 end as used
    into seen
    from (select count(*) as members from billing_account_members m where m.billing_account_id = v_payer) account
      left join spending_limits l on l.user_id = p_user and l.daily_cap_credits is not null;
  if seen.own_sent >= p_per_minute or seen.sent >= p_per_minute * seen.members then
    select max(full_since.at) into v_oldest from (
        (select sent.at from (
            (select g.asked_at as at from generations g where g.user_id = p_user and g.asked_at > v_clock - interval '1 minute'
              order by g.asked_at desc limit p_per_minute)
            union all select unnest(r.refused_at) from refused_sends r where r.user_id = p_user
          ) sent order by sent.at desc offset p_per_minute - 1 limit 1)
        union all
        (select sent.at from (
            (select g.asked_at as at from generations g where g.payer_id = v_payer and g.asked_at > v_clock - interval '1 minute'
              order by g.asked_at desc limit p_per_minute * seen.members)
            union all select unnest(r.refused_at) from refused_sends r join billing_account_members m on m.user_id = r.user_id
              where m.billing_account_id = v_payer
          ) sent order by sent.at desc offset p_per_minute * seen.members - 1 limit 1)
      ) full_since;
    outcome := 'rate_limited';
    retry_after_ms := extract(epoch from v_oldest + interval '1 minute' - v_clock) * 1000;
    return next;
    return;
  end if;
  available := case when p_hold is not null then seen.free when wallet.frozen_at is not null then 0
    else coalesce(greatest(least(wallet.free, seen.free), 0), 0) end;
  outcome := case
    when p_refused then 'refused'
    when wallet.id is null then 'no_wallet'
    when wallet.frozen_at is not null then 'wallet_frozen'
    when seen.own_running >= p_at_once or seen.running >= p_at_once * seen.members then 'too_many_answers'
    when available < p_credits then 'insufficient_credits'
    when seen.used + p_credits > seen.cap then 'daily_cap_reached'
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
  if seen.cap is not null then
    update spending_limits l set day = greatest(l.day, v_day), day_credits = seen.used + p_credits where l.user_id = p_user;
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
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
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
  paid grants;
begin
  -- Wallet and hold as they are once the wallet is locked: it may have been waited for. Of which grants a hold consists never changes;
  -- `grant_id` is the one that holds it alone.
  select h.state, h.amount, h.settled, h.captured, h.wallet_id, p.grant_id into target
    from wallets w join holds h on h.wallet_id = w.id left join hold_parts p on p.hold_id = h.id and p.amount = h.amount
    where h.id = p_hold for update of w, h;
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
  if target.grant_id is not null and v_share = target.amount then
    -- Most often one grant holds it all, and it is settled at once.
    update grants g set held = g.held - v_share, remaining = g.remaining - p_captured where g.id = target.grant_id
      returning g as paid, exists (select from grants d where d.wallet_id = g.wallet_id and d.open and d.remaining < d.held) as wallet_in_debt
      into part;
    paid := part.paid;
    v_in_debt := part.wallet_in_debt;
    if p_captured > 0 then
      insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
        (v_transaction, 1, 'wallet', target.wallet_id, target.grant_id, -p_captured),
        (v_transaction, 2, 'spent', target.wallet_id, target.grant_id, p_captured);
      if paid.alert_percent is not null and not paid.alert_told then perform grant_spent(paid, p_captured); end if;
    end if;
    if paid.expired_at is not null and v_share > p_captured then
      perform ledger_expire_free(paid.id, 'expire:' || paid.id || ':' || p_hold || ':' || v_share, p_now);
      balance := balance - (v_share - p_captured);
    end if;
  else
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
      update grants g set held = g.held - taken - freed, remaining = g.remaining - taken where g.id = part.grant_id returning * into paid;
      -- Of a hold that has ended nobody reads what is settled of each part: all of it is.
      if state = 'open' then
        update hold_parts p set settled = p.settled + taken + freed where p.hold_id = p_hold and p.grant_id = part.grant_id;
      end if;
      if taken > 0 then
        insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
          (v_transaction, next_line, 'wallet', target.wallet_id, part.grant_id, -taken),
          (v_transaction, (next_line + 1)::smallint, 'spent', target.wallet_id, part.grant_id, taken);
        next_line := (next_line + 2)::smallint;
        if paid.alert_percent is not null and not paid.alert_told then perform grant_spent(paid, taken); end if;
      end if;
      if part.expired_at is not null and freed > 0 then
        perform ledger_expire_free(part.grant_id, 'expire:' || part.grant_id || ':' || p_hold || ':' || target.settled + v_share, p_now);
        balance := balance - freed;
      end if;
    end loop;
  end if;
  if v_in_debt then perform ledger_settle_debt(target.wallet_id, p_now); end if;
  return next;
end $$;

create or replace function ledger_hold(
  p_hold uuid, p_wallet uuid, p_amount bigint, p_kinds text[], p_now timestamptz, p_deadline timestamptz, p_created_at timestamptz
) returns table (created boolean, state text, balance bigint, held bigint) language plpgsql security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  wallet wallets;
  known holds;
  part record;
  missing bigint := p_amount;
  taken bigint;
  v_grant uuid;
begin
  if p_amount is null or p_amount not between 1 and 1000000000 then perform ledger_assert_amount(p_amount); end if;
  -- A hold need not wait for the disk: what a crash of PostgreSQL forgets within the next flush of the log was not charged (decision 8).
  perform set_config('synchronous_commit', 'off', true);
  update wallets w set held = w.held + p_amount
    where w.id = p_wallet and w.frozen_at is null and w.balance - w.held >= p_amount returning w.balance, w.held into balance, held;
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
  -- Most often the grant that expires first has enough.
  update grants g set held = g.held + p_amount
    where g.remaining - g.held >= p_amount and g.id = (
      select f.id from grants f where f.wallet_id = p_wallet and f.open and f.remaining > f.held
        and f.kind = any (p_kinds) and f.expired_at is null and f.expires_at > p_now order by f.expires_at, f.id limit 1)
    returning g.id into v_grant;
  if found then
    insert into hold_parts (hold_id, grant_id, amount) values (p_hold, v_grant, p_amount);
    missing := 0;
  else
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
  end if;
  if missing > 0 then
    raise exception 'not enough credits' using errcode = 'TS402', detail = (p_amount - missing)::text;
  end if;
  created := true;
  state := 'open';
  return next;
end $$;

alter function answer_end reset plan_cache_mode reset enable_seqscan;
alter function ledger_assert_entries() reset enable_seqscan;
alter function ledger_assert_wallet() reset enable_seqscan;
