-- The panel's lists as somebody of the team saved them under a name: filters, order and columns, as the list's address has them (decision 94).
create table saved_views (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  list text not null check (char_length(list) <= 30),
  name text not null check (char_length(name) between 1 and 40),
  search text not null check (char_length(search) between 1 and 1000),
  created_at timestamptz not null,
  unique (user_id, list, name)
);
