-- What admins have changed while the product ran (server/domain/settings.ts, docs/decisions/0089). One row for each setting that was ever changed.
create table settings (
  name text primary key check (length(name) between 1 and 60),
  -- As the admin gave it; null: the default holds. Each release checks it against its own limits.
  value jsonb check (octet_length(value::text) <= 20000),
  -- Counts the changes, so that of two admins the second sees what the first did.
  version integer not null check (version > 0),
  changed_at timestamptz not null,
  -- Null: they have left.
  changed_by uuid references users on delete set null,
  reason text not null check (length(reason) between 1 and 500)
);
create index settings_changed_by on settings (changed_by) where changed_by is not null;
