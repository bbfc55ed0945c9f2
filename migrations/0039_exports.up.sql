-- A person's exports of their own data (server/features/own-data/). A row has the name of its file from the start, so that every file that
-- may be there is known: when the name or the row goes, a job that deletes the file is written in the same transaction, whoever does it.
create table data_exports (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  -- In the file storage; random. Null once the file is to be deleted.
  file_name uuid default gen_random_uuid(),
  status text not null default 'making' check (status in ('making', 'ready', 'expired')),
  -- Business time, all of them.
  asked_at timestamptz not null,
  -- The last try that failed; null again once one succeeded.
  failed_at timestamptz,
  ready_at timestamptz,
  expires_at timestamptz,
  bytes bigint,
  leased_until timestamptz,
  check (status = 'making' or (ready_at is not null and expires_at is not null and bytes is not null)),
  check ((status = 'expired') = (file_name is null))
);
-- One at a time.
create unique index data_exports_making on data_exports (user_id) where status = 'making';
create index data_exports_user on data_exports (user_id, id);
create index data_exports_asked on data_exports (asked_at);
create index data_exports_ready on data_exports (ready_at) where status = 'ready';

create function data_exports_delete_file() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into outbox (job, payload) values ('delete-file', jsonb_build_object('name', old.file_name));
  return null;
end $$;
create trigger data_exports_file_deleted after delete on data_exports
  for each row when (old.file_name is not null) execute function data_exports_delete_file();
create trigger data_exports_file_expired after update of file_name on data_exports
  for each row when (old.file_name is distinct from new.file_name) execute function data_exports_delete_file();

-- The files of exports, 24 hours after they were made, as their mail says.
create function retention_export_files(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, ready_at as at from data_exports
      where status = 'ready' and ready_at >= coalesce(p_from, '-infinity')::timestamptz and ready_at <= business_now() - interval '24 hours'
      order by ready_at limit least(p_limit, 1000) for update skip locked),
    expired as (update data_exports set status = 'expired', file_name = null where id in (select id from past) returning 1)
  select (select count(*)::integer from expired), (select at::text from past order by at desc limit 1)
$$;

-- That there was an export, 7 days after it was asked for.
create function retention_exports(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, asked_at as at from data_exports
      where asked_at >= coalesce(p_from, '-infinity')::timestamptz and asked_at <= business_now() - interval '7 days'
      order by asked_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from data_exports where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
