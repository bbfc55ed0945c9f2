drop index audit_events_actor;
drop index audit_events_action;
drop function audit_record(uuid, uuid, text, text, jsonb, text);
drop table audit_reasons;
drop index users_team;
-- An earlier release doesn't know the role, and would take its people for users.
update users set role = 'user' where role = 'support';
alter table users drop constraint users_role_check;
alter table users add constraint users_role_check check (role in ('user', 'admin'));
