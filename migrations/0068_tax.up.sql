-- The tax that Stripe Tax reckoned within an invoice (decision 66): net and tax of what was sold are known apart.
alter table invoices
  -- Null: none was reckoned.
  add column tax_cents bigint check (tax_cents >= 0),
  -- The rate of value added tax, where the whole invoice has one.
  add column tax_percent double precision check (tax_percent > 0 and tax_percent <= 100),
  -- Stripe did not know where the customer lives, and went on without tax.
  add column tax_location_missing boolean not null default false,
  add constraint invoices_tax_within check (tax_cents <= total_cents);
