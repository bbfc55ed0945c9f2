alter table invoices drop column tax_cents, drop column tax_percent, drop column tax_location_missing;
