-- The release before has no such job.
delete from outbox where job = 'read-invoices';
drop index orders_contract;
drop index orders_session;
drop index bank_transfers_subscription;
alter table bank_transfers drop column agreed_elsewhere;
drop table transfer_offers;
