-- Models that admins have switched off, or on again. One row for each model that was ever switched.
create table model_switches (
  model_id text primary key check (length(model_id) between 1 and 100),
  is_off boolean not null,
  -- What people read instead, by language. Without English there is none.
  texts jsonb not null check (jsonb_typeof(texts) = 'object'),
  -- Counts the changes, so that of two admins the second sees what the first did.
  version integer not null check (version > 0),
  changed_at timestamptz not null
);
