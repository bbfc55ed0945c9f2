-- What the provider's filter stopped, and what the model did for an answer besides words. Null: nothing of the kind, or its provider does not say.
alter table generations
  add column filter_reason text,
  add column searches integer,
  add column thinking_tokens integer;
-- Earlier rows have nulls, so they need not be read for this.
alter table generations
  add constraint generations_filter_reason check (filter_reason is null or (filter_reason ~ '^[a-z_]{1,30}$' and failure_code is not distinct from 'content_filtered')) not valid,
  add constraint generations_searches check (searches between 0 and 10000) not valid,
  add constraint generations_thinking_tokens check (thinking_tokens >= 0) not valid;

-- As in 0091, with these three columns. If the answer was erased meanwhile, nothing is written that tells what it was about.
create function answer_end(
  p_id uuid, p_owner uuid, p_status text, p_failure text, p_cut_short boolean, p_charge bigint, p_parts jsonb, p_prompt_tokens integer, p_completion_tokens integer,
  p_cost bigint, p_first_event integer, p_last_event integer, p_frames text, p_kinds text[], p_now timestamptz,
  p_first_text_ms integer, p_filter_reason text, p_searches integer, p_thinking_tokens integer
) returns setof generations language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
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
  if target.options is not null then
    delete from files f where f.generation_id = p_id and not exists (
      select from jsonb_array_elements(p_parts) part (value) where (part.value->'detail'->>'fileId')::uuid = f.id);
  end if;
  return query update generations g set status = p_status, failure_code = p_failure, cut_short = p_cut_short, charged_credits = share.captured,
      available_after = ledger_available(g.user_id, p_kinds, p_now), prompt_tokens = p_prompt_tokens,
      completion_tokens = p_completion_tokens, cost_micro_dollars = p_cost, ended_at = p_now,
      first_text_ms = p_first_text_ms, searches = p_searches, thinking_tokens = p_thinking_tokens,
      filter_reason = case when target.erased_at is null then p_filter_reason end,
      capture_id = case when share.captured > 0 then (select k.transaction_id from ledger_keys k where k.key = 'capture:' || p_id) end
    where g.id = p_id returning g.*;
end $$;

-- As in 0075, and the filter's reason is erased too, because it tells what was asked.
create or replace function answers_erase(p_ids uuid[]) returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids uuid[];
begin
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '', filter_reason = null,
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
  delete from files where generation_id = any (p_ids);
  -- After the update: who begins to read one of them aloud has locked its row.
  v_ids := array(select g.id from generations g
    where g.options->'speech' ? 'reads' and (g.options->'speech'->>'reads')::uuid = any (p_ids) and g.erased_at is null);
  if v_ids <> '{}' then perform answers_erase(v_ids); end if;
end $$;
