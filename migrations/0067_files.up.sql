-- The files of people: what they attach to questions, and what models make for them (docs/decisions/0065).
create table files (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('attachment', 'output')),
  -- Where an attachment was sent; null until it is. It goes with the conversation.
  conversation_id uuid references conversations on delete cascade,
  -- The answer that made an output. The output goes when the answer's text does.
  generation_id uuid references generations,
  -- In the file storage; random.
  stored_name uuid not null unique default gen_random_uuid(),
  -- What its owner calls it.
  name text not null check (char_length(name) between 1 and 200),
  -- By its content. Null while it is being stored.
  content_type text,
  -- What counts towards the person's space; while it is being stored, what is reserved for it.
  bytes bigint not null check (bytes >= 0),
  width integer check (width > 0),
  height integer check (height > 0),
  duration_ms integer check (duration_ms >= 0),
  pages integer check (pages > 0),
  -- Business time.
  created_at timestamptz not null,
  -- Wall time; a crash while it was being stored is found by it.
  reserved_at timestamptz not null default now(),
  check (kind = 'output' or generation_id is null),
  check (kind = 'attachment' or conversation_id is null)
);
create index files_user on files (user_id, kind, id);
create index files_conversation on files (conversation_id) where conversation_id is not null;
create index files_generation on files (generation_id) where generation_id is not null;
create index files_unsent on files (created_at) where kind = 'attachment' and conversation_id is null;
create index files_unfinished on files (reserved_at) where content_type is null;

-- How much each person's files take. Only the triggers below write it.
create table file_space (
  user_id uuid primary key references users on delete cascade,
  bytes bigint not null default 0 check (bytes >= 0)
);

-- Adds a file that is about to be stored, if there is room for it: whoever adds at the same moment waits for the row of file_space. Without a
-- limit there is always room. `gone`: the answer that made the file was deleted meanwhile.
create function file_reserve(
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

create function files_count_new() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into file_space as s (user_id, bytes) select user_id, sum(bytes) from added group by user_id
    on conflict (user_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end $$;
create trigger files_added after insert on files referencing new table as added for each statement execute function files_count_new();

create function files_count_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update file_space set bytes = bytes + new.bytes - old.bytes where user_id = new.user_id;
  return null;
end $$;
create trigger files_changed after update of bytes on files
  for each row when (old.bytes <> new.bytes) execute function files_count_changed();

-- Whoever deletes a row, the bytes go too: by jobs of at most a hundred files, written in the same transaction.
create function files_delete_bytes() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update file_space s set bytes = s.bytes - gone.bytes
    from (select user_id, sum(bytes) as bytes from deleted group by user_id) gone where s.user_id = gone.user_id;
  insert into outbox (job, payload)
    select 'delete-files', jsonb_build_object('names', jsonb_agg(stored_name))
      from (select stored_name, (row_number() over () - 1) / 100 as batch from deleted) numbered group by batch;
  return null;
end $$;
create trigger files_deleted after delete on files referencing old table as deleted for each statement execute function files_delete_bytes();

-- As in 0032, with the files that the answers made. Only after the update: a file that is being added has locked the answer's row.
create or replace function answers_erase(p_ids uuid[]) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from generation_events where generation_id = any (p_ids);
  delete from generation_parts where generation_id = any (p_ids);
  update generations g set erased_at = clock_timestamp(), request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.id = any (p_ids) and g.erased_at is null;
  delete from files where generation_id = any (p_ids);
$$;

-- Attachments that were never sent, 7 days after they were uploaded.
create function retention_unsent_files(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from files
      where kind = 'attachment' and conversation_id is null and created_at >= coalesce(p_from, '-infinity')::timestamptz
        and created_at <= business_now() - interval '7 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from files where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- What a process that was killed had begun to store, an hour after it began.
create function retention_unfinished_files(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, reserved_at as at from files
      where content_type is null and reserved_at >= coalesce(p_from, '-infinity')::timestamptz and reserved_at <= now() - interval '1 hours'
      order by reserved_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from files where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
