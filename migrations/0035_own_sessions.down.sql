drop index audit_events_subject;
alter table auth_sessions drop column time_zone;
