drop index dead_letters_mails_waiting;
alter table charge_returns drop column evidence_due_at;
