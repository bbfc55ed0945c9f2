-- The role of support, and why the team did something (server/domain/team.ts, docs/decisions/0081).
alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('user', 'support', 'admin'));
create index users_team on users (role) where role <> 'user';

-- Beside the log, like the origins: somebody wrote it, so it may name a person, and goes with the one it is about.
create table audit_reasons (
  event_id uuid primary key references audit_events on delete cascade,
  user_id uuid references users on delete cascade,
  reason text not null check (length(reason) between 1 and 500)
);
create index audit_reasons_user on audit_reasons (user_id) where user_id is not null;

-- As in 0031, with a reason.
create function audit_record(p_actor uuid, p_subject uuid, p_action text, p_network text, p_details jsonb, p_reason text)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_event uuid;
begin
  insert into audit_events (actor, subject, action, details)
    values (audit_person(p_actor), audit_person(p_subject), p_action, p_details) returning id into v_event;
  if p_network is not null and coalesce(p_actor, p_subject) is not null then
    insert into audit_origins (event_id, user_id, network) values (v_event, coalesce(p_actor, p_subject), p_network);
  end if;
  insert into audit_reasons (event_id, user_id, reason) values (v_event, p_subject, p_reason);
end $$;

-- What the panel's table of the log filters by, the newest first.
create index audit_events_actor on audit_events (actor, id) where actor is not null;
create index audit_events_action on audit_events (action, id);
