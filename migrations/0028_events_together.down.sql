drop index stripe_events_set_aside;
drop index stripe_events_waiting;
alter table stripe_events drop column taken_by;
