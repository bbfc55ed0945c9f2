-- What was done to accounts, and by whom (server/domain/audit.ts). The application's role writes with audit_record alone and may
-- change or delete nothing. The log names people by ids of its own; which person an id stands for, and from which network an act
-- came, is kept beside it and goes with the person.
create table audit_people (
  -- Random, so that it does not tell when the person joined.
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null unique references users on delete cascade
);

create table audit_events (
  id uuid primary key default uuidv7(),
  -- Wall time.
  at timestamptz not null default clock_timestamp(),
  -- Who did it: of audit_people while they are there. Null: the operator, or nobody knows who.
  actor uuid,
  -- To whom it was done.
  subject uuid,
  action text not null,
  -- By action; never personal data.
  details jsonb not null check (jsonb_typeof(details) = 'object')
);
create index audit_events_at on audit_events (at);

create table audit_origins (
  event_id uuid primary key references audit_events on delete cascade,
  user_id uuid not null references users on delete cascade,
  network text not null
);
create index audit_origins_user on audit_origins (user_id);

create function audit_person(p_user uuid) returns uuid language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_id uuid;
begin
  if p_user is null then return null; end if;
  select id into v_id from audit_people where user_id = p_user;
  if found then return v_id; end if;
  insert into audit_people (user_id) values (p_user) on conflict (user_id) do nothing;
  select id into strict v_id from audit_people where user_id = p_user;
  return v_id;
end $$;

-- Writes one event in the caller's transaction. The database says when.
create function audit_record(p_actor uuid, p_subject uuid, p_action text, p_network text, p_details jsonb)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_event uuid;
begin
  insert into audit_events (actor, subject, action, details)
    values (audit_person(p_actor), audit_person(p_subject), p_action, p_details) returning id into v_event;
  if p_network is not null and coalesce(p_actor, p_subject) is not null then
    insert into audit_origins (event_id, user_id, network) values (v_event, coalesce(p_actor, p_subject), p_network);
  end if;
end $$;

-- The log, two years after; the origins go with their events.
create function retention_audit_events(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, at from audit_events
      where at >= coalesce(p_from, '-infinity')::timestamptz and at <= now() - interval '730 days'
      order by at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from audit_events where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
