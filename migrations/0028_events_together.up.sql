-- Which event's job also handles this one: events of one object that wait together are one reading of it. The id of an event, itself
-- included. 'set_aside' now also means that no code acts on the type yet; such an event can be put back to work (server/queue/replay.ts).
alter table stripe_events add column taken_by text;
create index stripe_events_waiting on stripe_events (object_id) where status = 'received';
create index stripe_events_set_aside on stripe_events (type, id) where status = 'set_aside';
-- These were settled as of no interest, for want of code that acts on them.
update stripe_events set status = 'set_aside' where status = 'ignored' and object_id is not null
  and type !~ '^(customer\.subscription\.|checkout\.session\.|invoice\.(paid|payment_succeeded|payment_failed|payment_action_required|voided|marked_uncollectible)$)';
