-- Tables that only grow are to be partitioned by month one day, and PostgreSQL has no unique key over partitions without the column that
-- divides them. So what has to be unique for longer than a month stands in tables of its own (decision 25).

-- Nobody posts or starts an answer between the copies below and the end of this migration.
lock table ledger_transactions, generations in share row exclusive mode;

-- Every key that was ever posted, and its transaction. It refers to the transaction by no foreign key: only ledger_open_transaction writes
-- here, in the statement before it writes the transaction.
create table ledger_keys (
  key text primary key,
  transaction_id uuid not null
);
insert into ledger_keys (key, transaction_id) select key, id from ledger_transactions;
alter table ledger_transactions drop constraint ledger_transactions_key_key;

-- The keys of sends. A key is known for 90 days (retention_answer_keys), by PostgreSQL's clock.
create table generation_keys (
  user_id uuid not null references users on delete cascade,
  key text not null,
  generation_id uuid not null,
  created_at timestamptz not null,
  primary key (user_id, key)
);
insert into generation_keys (user_id, key, generation_id, created_at)
  select user_id, idempotency_key, id, asked_at from generations where user_id is not null and asked_at > now() - interval '90 days';
create index generation_keys_created on generation_keys (created_at);
-- The column stays as long as the release before reads it.
alter table generations drop constraint generations_user_id_idempotency_key_key;

-- An answer is captured once because `capture:{generation}` is posted once; the history finds the answer by an index that need not be unique.
drop index generations_capture;
create index generations_capture on generations (capture_id) where capture_id is not null;

-- True when the fact is new; false when it was posted already with the same content.
create or replace function ledger_open_transaction(
  p_id uuid, p_key text, p_kind text, p_wallet uuid, p_content jsonb, p_now timestamptz
) returns boolean language plpgsql as $$
declare
  known jsonb;
begin
  insert into ledger_keys (key, transaction_id) values (p_key, p_id) on conflict (key) do nothing;
  if found then
    insert into ledger_transactions (id, key, kind, wallet_id, content, occurred_at) values (p_id, p_key, p_kind, p_wallet, p_content, p_now);
    return true;
  end if;
  select content into known from ledger_transactions where id = (select k.transaction_id from ledger_keys k where k.key = p_key);
  if known is distinct from p_content then
    raise exception 'ledger key % was posted with other content', p_key using errcode = 'TS409';
  end if;
  return false;
end $$;

-- A transaction without entries says nothing, and one that does not own its key posts a fact twice.
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

create or replace function ledger_claw_back(p_grant uuid, p_in_all bigint, p_key text, p_now timestamptz)
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
  if not ledger_open_transaction(v_transaction, p_key, 'clawback', v_wallet, v_content, p_now) then
    raise exception 'ledger key % was posted and took less', p_key using errcode = 'TS409';
  end if;
  insert into ledger_entries (transaction_id, line, account, wallet_id, grant_id, amount) values
    (v_transaction, 1, 'wallet', v_wallet, p_grant, -v_taken), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, v_taken);
  update grants set remaining = remaining - v_taken, clawed_back = clawed_back + v_taken where id = p_grant;
  update wallets w set balance = w.balance - v_taken where w.id = v_wallet;
  perform ledger_settle_debt(v_wallet, p_now);
  return query select v_taken, w.balance, w.held from wallets w where w.id = v_wallet;
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
  outcome := case
    when p_refused then 'refused'
    when wallet.id is null then 'no_wallet'
    when wallet.frozen_at is not null then 'wallet_frozen'
    when (select count(*) from generations g where g.user_id = p_user and g.status = 'streaming' and g.lease_expires_at > v_clock) >= p_at_once
      then 'too_many_answers'
    when (select count(*) from generations g where g.payer_id = v_payer and g.status = 'streaming' and g.lease_expires_at > v_clock)
      >= p_at_once * v_members then 'too_many_answers'
    when available < p_credits then 'insufficient_credits'
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
  insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, price_version, trimmed_messages,
      lease_owner, lease_expires_at, created_at, asked_at)
    values (p_id, p_user, v_payer, p_model, p_key, p_hash, coalesce(p_hold, p_id), p_credits, p_price_version, p_trimmed,
      p_owner, v_clock + p_lease_ms * interval '1 millisecond', p_now, v_clock);
  insert into generation_keys (user_id, key, generation_id, created_at) values (p_user, p_key, p_id, v_clock);
  generation_id := p_id;
  return next;
end $$;

create or replace function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_parts jsonb, p_prompt_tokens integer, p_completion_tokens integer,
  p_cost bigint, p_first_event integer, p_last_event integer, p_frames text, p_kinds text[], p_now timestamptz
) returns setof generations language plpgsql as $$
declare
  target generations;
  share record;
begin
  -- Not `for update`: the log's rows refer to this one, and an insert into the log must not wait here while we wait for it.
  select * into target from generations g where g.id = p_id for no key update;
  if not found then return; end if;
  if target.status <> 'streaming' or (p_owner is null and target.lease_expires_at >= clock_timestamp()) or (p_owner is not null and target.lease_owner <> p_owner) then
    return next target;
    return;
  end if;
  select * into share from ledger_settle(target.hold_id, target.quoted_credits, p_charge, 'capture:' || p_id, p_now, clock_timestamp());
  if share.state = 'open' and not exists (select from generations g where g.hold_id = target.hold_id and g.id <> p_id and g.status = 'streaming') then
    perform ledger_end_hold(target.hold_id, 0, 'capture:' || target.hold_id, p_now, clock_timestamp());
  end if;
  if p_first_event is not null then
    insert into generation_events as known (generation_id, first_event, last_event, frames) values (p_id, p_first_event, p_last_event, p_frames)
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
      where known.last_event < excluded.last_event;
  end if;
  if target.erased_at is null then
    insert into generation_parts (generation_id, place, kind, text, detail)
      select p_id, part.place, part.value->>'kind', part.value->>'text', part.value->'detail'
        from jsonb_array_elements(p_parts) with ordinality as part (value, place);
  end if;
  return query update generations g set status = p_status, failure_code = p_failure, cut_short = p_cut_short, charged_credits = share.captured,
      available_after = ledger_available(g.user_id, p_kinds, p_now), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, cost_micro_dollars = p_cost, ended_at = p_now,
      capture_id = case when share.captured > 0 then (select k.transaction_id from ledger_keys k where k.key = 'capture:' || p_id) end
    where g.id = p_id returning g.*;
end $$;

-- Keys of sends, after 90 days.
create function retention_answer_keys(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select user_id, key, created_at as at from generation_keys
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and created_at <= now() - interval '90 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from generation_keys k using past where k.user_id = past.user_id and k.key = past.key returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
