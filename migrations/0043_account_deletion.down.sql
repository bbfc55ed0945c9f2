-- Whoever is deleting their account keeps it, and signs in again. The job of theirs stays in the outbox until a release that knows it runs.
drop function account_erase(uuid, integer), account_drop_exports(uuid);
drop index stripe_events_customer, contact_messages_email, mails_recipient;
alter table pending_sign_ins drop column second;
alter table users drop column delete_at;
