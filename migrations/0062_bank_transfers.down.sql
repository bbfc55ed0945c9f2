-- The release before has no such job.
delete from outbox where job = 'settle-transfer';
alter table invoices drop column due_at;
drop table bank_transfers;
