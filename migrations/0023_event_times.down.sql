drop index stripe_events_created;
alter table stripe_events drop column created_at;
