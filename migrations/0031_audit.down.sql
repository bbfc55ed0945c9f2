drop function retention_audit_events;
drop function audit_record;
drop function audit_person;
drop table audit_origins, audit_events, audit_people;
