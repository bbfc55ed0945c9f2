-- The team's inbox (docs/decisions/0083): what became of each message, who of the team has it, and what they did.
-- Messages from before were answered from the team's mailbox, so that nobody has to look at them here.
alter table contact_messages
  add column status text not null default 'done' check (status in ('open', 'waiting', 'done')),
  add column owner_id uuid references users on delete set null,
  -- Counts the acts of the team. An act names the version that the clerk saw, so that the second of two at once is refused.
  add column version integer not null default 1;
alter table contact_messages alter column status set default 'open';

-- The orders of the panel's list, by what it can be filtered by.
create index contact_messages_order on contact_messages (created_at, id);
create index contact_messages_status on contact_messages (status, created_at, id);
create index contact_messages_category on contact_messages (category, created_at, id);
create index contact_messages_language on contact_messages (language, created_at, id);
create index contact_messages_owner on contact_messages (owner_id, created_at, id);
drop index contact_messages_created;
-- By the beginning of an address, too.
drop index contact_messages_email;
create index contact_messages_email on contact_messages (lower(email) text_pattern_ops);

-- What the team did with a message. The application can only add to it; it goes with its message. Who did it is null once they have left.
create table contact_events (
  id uuid primary key default uuidv7(),
  message_id uuid not null references contact_messages on delete cascade,
  actor_id uuid references users on delete set null,
  kind text not null check (kind in ('answered', 'status', 'owner')),
  at timestamptz not null,
  -- Of an answer, also the status that came with it.
  status text check (status in ('open', 'waiting', 'done')),
  -- Who got the message; null: nobody.
  owner_id uuid references users on delete set null,
  -- One press of the button, one answer.
  key uuid,
  subject text check (char_length(subject) between 1 and 200),
  body text check (char_length(body) between 1 and 10000),
  -- No foreign key: what the history says outlives the mail's row.
  mail_id uuid,
  unique (message_id, key),
  check ((kind = 'answered') = (key is not null and subject is not null and body is not null and mail_id is not null))
);
create index contact_events_message on contact_events (message_id, id);
create index contact_events_actor on contact_events (actor_id) where actor_id is not null;
create index contact_events_owner on contact_events (owner_id) where owner_id is not null;

-- What became of a mail that failed for good. No part of the payload is converted, because a letter is kept whatever is in it.
create index dead_letters_mail on dead_letters using gin (payload jsonb_path_ops) where job = 'send-mail';
