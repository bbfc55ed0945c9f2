-- Prices of models that admins have planned: the credits of one unit, from the beginning of a day in UTC on, until the next one begins.
create table model_prices (
  model_id text not null check (length(model_id) between 1 and 100),
  begins_on date not null,
  credits integer not null check (credits between 1 and 500),
  planned_at timestamptz not null,
  primary key (model_id, begins_on),
  -- Never in the past, nor on a day that has begun.
  check (begins_on > (planned_at at time zone 'UTC')::date)
);
