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
  if share.captured > 0 then
    perform usage_count(target.payer_id, target.model_id, share.captured, p_now);
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

drop function spending_limits_set;
drop table spending_limits;
