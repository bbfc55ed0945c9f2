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
alter table sweep_failures drop column billing_account_id;
alter table findings drop column money_back_id, drop column hold_id;
drop trigger generation_parts_file_id on generation_parts;
drop function generation_part_take_file();
alter table generation_parts drop column file_id;
drop trigger generations_reads_id on generations;
drop function generation_take_read();
alter table generations drop column reads_id;
drop index conversations_own;
drop trigger messages_earlier on messages;
drop function message_count_earlier();
drop function messages_up_to(uuid, uuid);
alter table messages drop column earlier;
