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
drop function answer_end(uuid, uuid, text, text, boolean, bigint, jsonb, integer, integer, bigint, integer, integer, text, text[], timestamptz, integer, text, integer, integer);
alter table generations drop column filter_reason, drop column searches, drop column thinking_tokens;
