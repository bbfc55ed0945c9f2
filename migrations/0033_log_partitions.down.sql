-- Copies what is in the partitions to the default one, which is the table again.
create or replace function retention_answer_logs(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select e.generation_id, e.first_event from generation_events e join generations g on g.id = e.generation_id
      where e.generation_id >= coalesce(p_from, '00000000-0000-0000-0000-000000000000')::uuid
        and e.generation_id <= (select uuidv7(interval '-25 hours')) and g.ended_at <= business_now() - interval '25 hours'
      order by e.generation_id, e.first_event limit least(p_limit, 1000) for update of e skip locked),
    deleted as (delete from generation_events e using past where e.generation_id = past.generation_id and e.first_event = past.first_event
      returning 1)
  select (select count(*)::integer from deleted), (select generation_id::text from past order by generation_id desc limit 1)
$$;
drop function answer_log_drop_partition, answer_log_add_partition, answer_log_make_partition, answer_log_bound;

alter table generation_events detach partition generation_events_default;
insert into generation_events_default select * from generation_events;
drop table generation_events;
alter table generation_events_default rename to generation_events;
alter table generation_events rename constraint generation_events_default_pkey to generation_events_pkey;
alter table generation_events add constraint generation_events_generation_id_fkey
  foreign key (generation_id) references generations on delete cascade;
