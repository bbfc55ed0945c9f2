drop index invoices_number;
