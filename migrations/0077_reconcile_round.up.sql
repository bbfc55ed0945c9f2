-- Each hour a slice of all accounts is compared with Stripe: how far the round has come, and when the last slice began, by PostgreSQL's clock.
alter table full_checks
  add column round_reached uuid not null default '00000000-0000-0000-0000-000000000000',
  add column sliced_at timestamptz;
