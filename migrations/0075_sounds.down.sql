drop function retention_dictations;
drop index generations_reading;
drop index generations_dictated;
create or replace function answers_erase(p_ids uuid[]) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
  delete from files where generation_id = any (p_ids);
$$;
-- What an earlier release can't show goes: the text of a transcript stays.
delete from generation_parts where kind = 'segments';
create or replace function generation_part_is_sound(p_place smallint, p_kind text, p_has_text boolean, p_has_detail boolean)
returns boolean language plpgsql immutable as $$
begin
  return p_place > 0 and case p_kind
    when 'text' then p_has_text and not p_has_detail
    else p_kind in ('picture', 'sound', 'clip', 'sources', 'file') and not p_has_text and p_has_detail end;
end $$;
