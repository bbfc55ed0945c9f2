-- Until when Stripe takes evidence in the dispute of a charge; null: nothing is wanted, or nobody has read it yet.
alter table charge_returns add column evidence_due_at timestamptz;

-- Mails that were given up and wait for somebody.
create index dead_letters_mails_waiting on dead_letters (failed_at, id) where job = 'send-mail' and replayed_at is null;
