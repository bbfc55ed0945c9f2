drop trigger stripe_events_discarded on stripe_events;
drop function stripe_events_refuse_discard;
drop index audit_events_thing;
drop index dead_letters_events;
drop index stripe_events_discarded;
-- The release before knows none that are discarded. Set aside, they are not acted on either.
update stripe_events set status = 'set_aside' where status = 'discarded';
alter table stripe_events drop column taken_until, drop constraint stripe_events_status_check,
  add constraint stripe_events_status_check check (status in ('received', 'processed', 'ignored', 'set_aside'));
