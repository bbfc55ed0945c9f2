-- The panel lists all mails, and Stripe's events about one object (server/features/admin/work-tables.ts, mail-tables.ts).
create index mails_template on mails (template, created_at, id);
create index mails_unsent on mails (created_at, id) where sent_at is null;
create index stripe_events_object on stripe_events (object_id, received_at, id) where object_id is not null;
