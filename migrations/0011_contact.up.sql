-- What people write to the team, kept before it is mailed. Lengths are code points, as in the rules.
create table contact_messages (
  id uuid primary key default uuidv7(),
  -- One send, one message: the same key again is answered with the same id, or refused where the content differs.
  idempotency_key uuid not null unique,
  content_hash bytea not null,
  user_id uuid references users on delete set null,
  name text not null check (char_length(name) between 1 and 100),
  email text not null check (char_length(email) <= 255),
  category text not null check (category in ('bug', 'feature', 'feedback', 'support')),
  subject text check (char_length(subject) between 1 and 200),
  message text not null check (char_length(message) between 1 and 5000),
  -- Of the acknowledgement.
  language text not null,
  created_at timestamptz not null
);
create index contact_messages_user on contact_messages (user_id) where user_id is not null;
