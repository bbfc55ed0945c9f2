drop index dead_letters_failed;
drop index stripe_events_received;
drop index stripe_events_type;
drop index stripe_events_set_aside_received;
drop index invoices_failed;
alter table dead_letters drop column discarded;
