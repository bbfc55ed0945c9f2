-- What the admin panel shows of failed work: what it discards, and the orders of its lists.
-- A dead letter that is discarded is settled, too: `replayed_at` says when.
alter table dead_letters add column discarded boolean not null default false;
create index dead_letters_failed on dead_letters (failed_at, id);
create index stripe_events_received on stripe_events (received_at, id);
create index stripe_events_type on stripe_events (type, received_at, id);
create index stripe_events_set_aside_received on stripe_events (received_at, id) where status = 'set_aside';
create index invoices_failed on invoices (issued_at, id) where status = 'open' and (failed or needs_action);
