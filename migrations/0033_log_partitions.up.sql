-- The answers' log is partitioned by the time in an answer's id, a UUIDv7, and goes by whole partitions (decision 23). A partition
-- holds the answers that were begun within twelve hours. What no partition is there for goes to the default one, so that an answer
-- never fails because nobody made a partition in time.

-- A partition is made and dropped without touching `generations`, whose rows are kept for good. insertLog and answer_end write
-- only for answers that are there.
alter table generation_events drop constraint generation_events_generation_id_fkey;

-- What is in the log already stays where it is, is found as before, and goes row by row.
alter table generation_events rename to generation_events_default;
alter table generation_events_default rename constraint generation_events_pkey to generation_events_default_pkey;
create table generation_events (like generation_events_default including constraints) partition by range (generation_id);
alter table generation_events add primary key (generation_id, first_event);
alter table generation_events attach partition generation_events_default default;

-- The first UUIDv7 of a millisecond.
create function answer_log_bound(p_at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '7000' || '8000' || repeat('0', 12))::uuid
$$;

-- Makes the partition of the twelve hours that begin at p_from, and returns its name. Null: there is one, or the default partition has
-- rows of this time, and keeps them and those that follow. Attaching it blocks neither reads nor writes of the other partitions.
create function answer_log_make_partition(p_from timestamptz) returns text language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_name text := to_char(p_from at time zone 'UTC', '"generation_events_"YYYYMMDD_HH24');
  v_low uuid := answer_log_bound(p_from);
  v_high uuid := answer_log_bound(p_from + interval '12 hours');
begin
  -- Before the locks and after them: somebody else may have made it meanwhile, or an answer begun.
  for attempt in 1..2 loop
    if to_regclass(v_name) is not null or exists (select from generation_events_default where generation_id >= v_low and generation_id < v_high) then
      return null;
    end if;
    if attempt = 1 then
      lock table only generation_events in share update exclusive mode;
      lock table only generation_events_default in access exclusive mode;
    end if;
  end loop;
  execute format('create table %I (like generation_events including constraints including indexes)', v_name);
  execute format('alter table generation_events attach partition %I for values from (%L) to (%L)', v_name, v_low, v_high);
  return v_name;
end $$;

-- Adds the first partition that is missing from now to eight days ahead, so that a worker that was away for a week comes back in
-- time, and returns its name; null: none is missing.
create function answer_log_add_partition() returns text language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_from timestamptz;
  v_name text;
begin
  for v_from in select generate_series(date_bin('12 hours', now(), '2000-01-01T00:00Z'), now() + interval '8 days', interval '12 hours') loop
    v_name := answer_log_make_partition(v_from);
    exit when v_name is not null;
  end loop;
  return v_name;
end $$;

-- Drops the oldest partition whose last answer was begun 25 hours ago, and returns its name; null: there is none. Answers that
-- began in it and can still be read, or have not ended, move to the default partition. Only the first lock is waited for, so
-- nobody is delayed longer than that; whoever is not let in raises lock_not_available, with nothing changed.
create function answer_log_drop_partition() returns text language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  oldest record;
  v_late uuid[];
begin
  -- The default partition has no bounds.
  select c.relname as name, b.low, b.high into oldest
    from pg_inherits i join pg_class c on c.oid = i.inhrelid,
      lateral (select substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(.*)''\) TO')::uuid as low,
        substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''(.*)''\)')::uuid as high) b
    where i.inhparent = 'generation_events'::regclass and b.high <= answer_log_bound(now() - interval '25 hours')
    order by b.high limit 1;
  if not found then return null; end if;
  v_late := array(select g.id from generations g where g.id >= oldest.low and g.id < oldest.high
    and (g.ended_at is null or g.ended_at > business_now() - interval '24 hours'));
  lock table only generation_events in access exclusive mode;
  execute format('lock table only %I, only generation_events_default in access exclusive mode nowait', oldest.name);
  execute format('alter table generation_events detach partition %I', oldest.name);
  execute format('insert into generation_events select * from %I where generation_id = any ($1)', oldest.name) using v_late;
  execute format('drop table %I', oldest.name);
  return oldest.name;
end $$;

-- Row by row go the events of the default partition, of answers that ended 25 hours ago.
create or replace function retention_answer_logs(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select e.generation_id, e.first_event from generation_events_default e join generations g on g.id = e.generation_id
      where e.generation_id >= coalesce(p_from, '00000000-0000-0000-0000-000000000000')::uuid
        and e.generation_id <= (select uuidv7(interval '-25 hours')) and g.ended_at <= business_now() - interval '25 hours'
      order by e.generation_id, e.first_event limit least(p_limit, 1000) for update of e skip locked),
    deleted as (delete from generation_events_default e using past where e.generation_id = past.generation_id and e.first_event = past.first_event
      returning 1)
  select (select count(*)::integer from deleted), (select generation_id::text from past order by generation_id desc limit 1)
$$;

do $$ begin
  while answer_log_add_partition() is not null loop end loop;
end $$;
