-- A worker that sends a mail has it until then, by wall time: it renews that while it sends, in no transaction, and when it dies another
-- takes the mail over.
alter table mails add column leased_until timestamptz;
