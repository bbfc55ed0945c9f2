alter table invoices drop column processing;
