-- Public keys with which a person signs in: WebAuthn, with discoverable credentials.
create table passkeys (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  -- As the authenticator names it. No two people can have the same.
  credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023),
  public_key bytea not null check (octet_length(public_key) <= 2048),
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  device_type text not null check (device_type in ('singleDevice', 'multiDevice')),
  backed_up boolean not null,
  name text not null check (length(name) between 1 and 60),
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);

-- What a passkey has to sign. Each is good for one answer, for a few minutes. Wall time.
create table passkey_challenges (
  challenge bytea primary key check (octet_length(challenge) = 32),
  purpose text not null check (purpose in ('sign_in', 'registration', 'step_up')),
  -- Only this session can answer it. Null: somebody who is signing in.
  session_id uuid references auth_sessions on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint passkey_challenges_session check ((session_id is null) = (purpose = 'sign_in'))
);
-- Whoever begins again in a session makes what was begun before useless.
create unique index passkey_challenges_of_session on passkey_challenges (session_id, purpose) where session_id is not null;
create index passkey_challenges_expired on passkey_challenges (expires_at);

-- The application deletes passkeys only so. False if the person has no such passkey.
create function passkey_remove(p_user uuid, p_passkey uuid) returns boolean
language sql security definer set search_path = public, pg_temp as $$
  with gone as (delete from passkeys where user_id = p_user and id = p_passkey returning 1) select exists (select from gone)
$$;

-- Challenges, a day after they expired.
create function retention_passkey_challenges(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select challenge, expires_at as at from passkey_challenges
      where expires_at >= coalesce(p_from, '-infinity')::timestamptz and expires_at <= now() - interval '1 day'
      order by expires_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from passkey_challenges where challenge in (select challenge from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- Whoever takes a changed address back gets rid of the passkeys that were added since, too.
create or replace function undo_ways_in(p_link uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  with undone as (
      select user_id, business_now() - (now() - created_at) as since from email_links
        where id = p_link and purpose = 'undo-email' and used_at is not null),
    shown as (delete from credentials c using undone
      where c.user_id = undone.user_id and c.kind <> 'password' and c.created_at >= undone.since returning 1),
    known as (delete from identities i using undone
      where i.user_id = undone.user_id and i.kind <> 'email' and i.created_at >= undone.since returning 1),
    keys as (delete from passkeys p using undone where p.user_id = undone.user_id and p.created_at >= undone.since returning 1)
  select ((select count(*) from shown) + (select count(*) from known) + (select count(*) from keys))::integer
$$;
