-- Work to be done, written in the transaction that makes it necessary; the worker's relay publishes it.
create table outbox (
  id uuid primary key default uuidv7(),
  job text not null,
  payload jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  published_at timestamptz,
  -- Published and not done by then: published again. Wall time.
  redrive_at timestamptz not null default clock_timestamp(),
  publications integer not null default 0
);
create index outbox_due on outbox (redrive_at);

-- Jobs that failed for good, kept until an admin replays or drops them.
create table dead_letters (
  id uuid primary key,
  job text not null,
  payload jsonb not null,
  error text not null,
  attempts integer not null,
  failed_at timestamptz not null default clock_timestamp(),
  replayed_at timestamptz
);

-- Recurring sweeps. `due_at` is business time; the lease is wall time, so that one worker runs a sweep at a time.
create table schedules (
  name text primary key,
  due_at timestamptz not null,
  leased_until timestamptz,
  last_run_at timestamptz,
  last_error text
);

-- Mail to be sent, once each: rendered by the worker in the reader's language.
create table mails (
  id uuid primary key default uuidv7(),
  -- One fact, one mail.
  key text not null unique,
  user_id uuid references users on delete set null,
  recipient text not null,
  template text not null,
  language text not null,
  parameters jsonb not null,
  created_at timestamptz not null,
  sent_at timestamptz
);

-- How far the sandbox has moved business time ahead of wall time; always zero in production.
create table business_clock (
  singleton boolean primary key default true check (singleton),
  offset_ms bigint not null default 0 check (offset_ms >= 0)
);
insert into business_clock default values;
