-- Answers that are pictures become answers without any output.
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
  if share.captured < target.quoted_credits then
    -- What is not charged counts no more towards the day on which it was asked for.
    update spending_limits l set day_credits = greatest(l.day_credits - (target.quoted_credits - share.captured), 0)
      where l.user_id = target.user_id and l.day = (target.created_at at time zone 'UTC')::date;
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
create or replace function file_reserve(
  p_id uuid, p_user uuid, p_kind text, p_generation uuid, p_name text, p_bytes bigint, p_limit bigint, p_now timestamptz
) returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_used bigint;
begin
  -- Deleting the answer waits for this lock, and then finds the file.
  if p_generation is not null then
    perform from generations where id = p_generation and user_id = p_user and erased_at is null for share;
    if not found then return 'gone'; end if;
  end if;
  insert into file_space (user_id) values (p_user) on conflict do nothing;
  select bytes into v_used from file_space where user_id = p_user for update;
  if v_used + p_bytes > p_limit then return 'full'; end if;
  insert into files (id, user_id, kind, generation_id, name, bytes, created_at) values (p_id, p_user, p_kind, p_generation, p_name, p_bytes, p_now);
  return 'reserved';
end $$;
alter table generations drop column options;
