-- Admins discard events of Stripe's that were set aside or failed for good. Who did it, when and why is on the audit log.
alter table stripe_events drop constraint stripe_events_status_check,
  add constraint stripe_events_status_check check (status in ('received', 'processed', 'ignored', 'set_aside', 'discarded')),
  -- Until then a job may be acting on the event, so nobody can discard it. Wall time.
  add column taken_until timestamptz;
create index stripe_events_discarded on stripe_events (received_at, id) where status = 'discarded';
-- Finds which events have failed for good: their jobs have dead letters.
create index dead_letters_events on dead_letters ((payload ->> 'eventId')) where job = 'process-stripe-event' and replayed_at is null;
-- What the team did to one event, and who closed a finding.
create index audit_events_thing on audit_events ((coalesce(details ->> 'eventId', details ->> 'subject')), id)
  where action in ('stripe_event.replayed', 'stripe_event.discarded', 'finding.closed');

-- What was acted on can't be discarded, and what is discarded can only be put back.
create function stripe_events_refuse_discard() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'event % goes from % to %', old.id, old.status, new.status using errcode = 'check_violation';
end $$;
create trigger stripe_events_discarded before update of status on stripe_events for each row
  when ((new.status = 'discarded' and old.status not in ('received', 'set_aside', 'discarded'))
    or (old.status = 'discarded' and new.status not in ('received', 'discarded')))
  execute function stripe_events_refuse_discard();
