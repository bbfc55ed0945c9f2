drop index billing_accounts_unread;
alter table billing_accounts drop column invoices_read_at;
drop table invoices;
