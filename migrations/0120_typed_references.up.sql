-- How many messages come before a question in its branch: so a send need not read all of them to know how many it leaves out. It is null for
-- answers, and for questions from before this migration: filling them in would rewrite the whole table while nobody can write to it.
alter table messages add column earlier integer;

-- How many messages a branch has from its first one to this one. It counts up to the nearest question that knows: the first send in a branch
-- from before this migration counts all of it, and later ones a turn.
create function messages_up_to(p_conversation uuid, p_message uuid) returns integer language plpgsql stable
set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_next uuid := p_message;
  v_earlier integer;
  v_count integer := 0;
begin
  while v_next is not null and v_earlier is null loop
    v_count := v_count + 1;
    select m.parent_id, m.earlier into v_next, v_earlier from messages m where m.conversation_id = p_conversation and m.id = v_next;
  end loop;
  return v_count + coalesce(v_earlier, 0);
end $$;
create function message_count_earlier() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.earlier := messages_up_to(new.conversation_id, new.parent_id);
  return new;
end $$;
create trigger messages_earlier before insert on messages for each row when (new.role = 'user') execute function message_count_earlier();

-- A person's conversations in the order of an export.
create index conversations_own on conversations (user_id, id);

-- Ids that stand within JSON or as texts, and by which rows are looked for, get columns of their own. Triggers fill those of large tables: a
-- generated column would rewrite the table. So they are also filled from what the release before this one writes.

-- The answer that is read aloud. The release before this one finds it by the index `generations_reading`, which the next release can drop.
alter table generations add column reads_id uuid;
create function generation_take_read() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.reads_id := (new.options->'speech'->>'reads')::uuid;
  return new;
end $$;
create trigger generations_reads_id before insert or update of options on generations
  for each row when (new.options is not null or new.reads_id is not null) execute function generation_take_read();
update generations set options = options where options->'speech' ? 'reads';
create index generations_reads on generations (reads_id) where reads_id is not null;

-- The file that a part of an answer is.
alter table generation_parts add column file_id uuid;
create function generation_part_take_file() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.file_id := (new.detail->>'fileId')::uuid;
  return new;
end $$;
create trigger generation_parts_file_id before insert or update of detail on generation_parts
  for each row when (new.detail ? 'fileId' or new.file_id is not null) execute function generation_part_take_file();
update generation_parts set detail = detail
  where generation_id in (select f.generation_id from files f where f.generation_id is not null) and detail ? 'fileId';

-- The row that a finding is about. Of other kinds the subject is an id of Stripe's, or a name.
alter table findings
  add column money_back_id uuid generated always as (
    case when kind in ('unpaid_return', 'unreturned_transfer', 'surplus_transfer') then subject::uuid end) stored,
  add column hold_id uuid generated always as (case when kind = 'stale_hold' then subject::uuid end) stored;
-- The account whose check failed.
alter table sweep_failures
  add column billing_account_id uuid generated always as (case when sweep = 'account-checks' then subject::uuid end) stored;

-- As in 0098, by the new column.
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
  v_ids := array(select g.id from generations g where g.reads_id = any (p_ids) and g.erased_at is null);
  if v_ids <> '{}' then perform answers_erase(v_ids); end if;
end $$;
