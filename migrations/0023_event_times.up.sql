-- When Stripe made the event. Reconciliation asks for the newest at every run: it reads one index entry, however many
-- events there are, and goes on knowing it when retention has emptied the payload.
alter table stripe_events add column created_at timestamptz;
update stripe_events set created_at = to_timestamp((payload->>'created')::numeric)
  where jsonb_typeof(payload->'created') = 'number' and (payload->>'created')::numeric between 0 and 9999999999;
create index stripe_events_created on stripe_events (created_at);
