-- People, their sign-in sessions and the links mailed to them.
create table users (
  id uuid primary key default uuidv7(),
  email text not null check (email = lower(email) and length(email) <= 255),
  -- One trial per mailbox: plus-aliases folded for all, dots for Gmail (docs/decisions/0042).
  mailbox_key text not null,
  email_verified_at timestamptz,
  password_hash text,
  role text not null default 'user' check (role in ('user', 'admin')),
  language text not null default 'en',
  avatar_url text,
  banned_at timestamptz,
  stripe_customer_id text unique,
  created_at timestamptz not null,
  last_sign_in_at timestamptz
);
create unique index users_email on users (email);

-- One row per sign-in (a refresh-token family). The token of each counter is derived from the server's key, so only
-- hashes rest here, and parallel tabs within the grace are given the same successor.
create table auth_sessions (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  counter integer not null default 0 check (counter >= 0),
  token_hash bytea not null,
  previous_token_hash bytea,
  rotated_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null,
  user_agent text
);
create index auth_sessions_user on auth_sessions (user_id) where revoked_at is null;

create table email_links (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  purpose text not null check (purpose in ('confirm', 'recover')),
  token_hash bytea not null unique,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);
create index email_links_user on email_links (user_id, purpose) where used_at is null;

-- Failed sign-ins per key ('email:…' or 'address:…'), so that guessing is slowed wherever it comes from.
create table auth_attempts (
  key text primary key,
  failures integer not null,
  window_started_at timestamptz not null,
  blocked_until timestamptz
);
