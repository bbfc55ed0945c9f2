create table conversations (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  title text not null check (length(title) <= 200),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index conversations_user on conversations (user_id, updated_at desc, id desc);

-- One answer: asked, held, streamed, and ended once, with the receipt on the same row.
create table generations (
  id uuid primary key,
  user_id uuid references users on delete set null,
  conversation_id uuid references conversations on delete set null,
  model_id text not null,
  idempotency_key text not null check (length(idempotency_key) between 8 and 200),
  -- SHA-256 of what was asked; the same key with another hash is refused.
  request_hash bytea not null,
  status text not null default 'streaming' check (status in ('streaming', 'completed', 'stopped', 'failed')),
  failure_code text,
  -- Model, price, hold, charge, balance after: the receipt (promise 3).
  quoted_credits bigint not null check (quoted_credits > 0),
  charged_credits bigint check (charged_credits between 0 and quoted_credits),
  available_after bigint,
  prompt_tokens integer,
  completion_tokens integer,
  trimmed_messages integer not null default 0,
  -- Who writes the answer, on wall time: an expired lease lets another process end it.
  lease_owner uuid not null,
  lease_expires_at timestamptz not null,
  stop_requested_at timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((status = 'streaming') = (ended_at is null)),
  check ((status = 'streaming') = (charged_credits is null)),
  unique (user_id, idempotency_key)
);
create index generations_running on generations (lease_expires_at) where status = 'streaming';
create index generations_recent on generations (user_id, created_at desc);

create table messages (
  id uuid primary key default uuidv7(),
  conversation_id uuid not null references conversations on delete cascade,
  generation_id uuid not null references generations,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  created_at timestamptz not null,
  unique (generation_id, role)
);
create index messages_conversation on messages (conversation_id, id);

-- The stream log: numbered events in batches, so that any process can resume an answer anywhere.
create table generation_events (
  generation_id uuid not null references generations on delete cascade,
  first_event integer not null check (first_event > 0),
  last_event integer not null check (last_event >= first_event),
  -- Server-sent-event frames, concatenated, as they went over the wire.
  frames text not null,
  primary key (generation_id, first_event)
);
