-- Rows that a sweep could not finish for reasons of their own: left out until `retry_at`, so that they keep neither the
-- others nor the sandbox's clock. A row goes when its work is done, or a day after nobody asked for it again.
create table sweep_failures (
  sweep text not null,
  subject text not null,
  failures integer not null check (failures > 0),
  -- Wall time.
  retry_at timestamptz not null,
  error text not null,
  primary key (sweep, subject)
);
