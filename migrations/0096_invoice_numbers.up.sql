-- People name an invoice by the number that is printed on it.
create index invoices_number on invoices (lower(number));
