-- Recordings that models write down, and texts that they read aloud (docs/decisions/0075).

-- As in 0050, with the pieces of a transcript.
create or replace function generation_part_is_sound(p_place smallint, p_kind text, p_has_text boolean, p_has_detail boolean)
returns boolean language plpgsql immutable as $$
begin
  return p_place > 0 and case p_kind
    when 'text' then p_has_text and not p_has_detail
    else p_kind in ('picture', 'sound', 'clip', 'sources', 'segments', 'file') and not p_has_text and p_has_detail end;
end $$;

-- By the answer that was read aloud: whoever deletes one deletes both.
create index generations_reading on generations (((options->'speech'->>'reads')::uuid)) where options->'speech' ? 'reads';
-- What was spoken into a composer.
create index generations_dictated on generations (created_at) where options->'recording' ? 'dictated' and erased_at is null;

-- As in 0067, with the answers in which these were read aloud.
create or replace function answers_erase(p_ids uuid[]) returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids uuid[];
begin
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
  delete from files where generation_id = any (p_ids);
  -- After the update: who begins to read one of them aloud has locked its row.
  v_ids := array(select g.id from generations g
    where g.options->'speech' ? 'reads' and (g.options->'speech'->>'reads')::uuid = any (p_ids) and g.erased_at is null);
  if v_ids <> '{}' then perform answers_erase(v_ids); end if;
end $$;

-- What was dictated, 7 days later. Its receipt stays.
create function retention_dictations(p_limit integer, p_from text)
returns table (done integer, reached text) language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids uuid[];
begin
  select array_agg(past.id), max(past.at)::text into v_ids, reached from (
    select g.id, g.created_at as at from generations g
      where g.options->'recording' ? 'dictated' and g.erased_at is null and g.ended_at is not null
        and g.created_at >= coalesce(p_from, '-infinity')::timestamptz and g.created_at <= business_now() - interval '7 days'
      order by g.created_at limit least(p_limit, 1000) for no key update skip locked) past;
  done := coalesce(cardinality(v_ids), 0);
  if done > 0 then perform answers_erase(v_ids); end if;
  return next;
end $$;
