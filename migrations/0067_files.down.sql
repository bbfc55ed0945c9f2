create or replace function answers_erase(p_ids uuid[]) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
$$;
drop function retention_unfinished_files, retention_unsent_files, file_reserve;
drop table file_space, files;
drop function files_delete_bytes, files_count_changed, files_count_new;
