-- The time zone the browser named at its last sign-in or refresh: the only thing that is known about where a session is used.
alter table auth_sessions add column time_zone text check (length(time_zone) <= 64);

-- A person reads what was done to their account, newest first.
create index audit_events_subject on audit_events (subject, id) where subject is not null;
