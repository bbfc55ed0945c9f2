-- A bank was told to debit for the invoice and has not answered yet, which takes days: it is neither paid nor failed, and nobody has to do anything.
alter table invoices add column processing boolean not null default false;
