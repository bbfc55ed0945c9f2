-- A Google account is an identity too: its subject is the `sub` of Google's tokens, which never changes, unlike its address.
alter table identities
  drop constraint identities_kind_check,
  add constraint identities_kind_check check (kind in ('email', 'google')),
  add column shown_as text check (length(shown_as) <= 255),
  add constraint identities_google_shown check (kind <> 'google' or shown_as is not null);

-- What Google said about somebody (server/features/auth/google.ts). Wall time.
create table google_answers (
  id uuid primary key,
  subject text not null check (length(subject) <= 255),
  email text not null check (email = lower(email) and length(email) <= 255),
  -- Who asked, to link it to their account or to show that it is they. Null: somebody who is signing in.
  user_id uuid references users on delete cascade,
  -- When they last showed Google who they are. Null: Google did not say.
  authenticated_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index google_answers_created on google_answers (created_at);
create index google_answers_user on google_answers (user_id) where user_id is not null;

-- Google's answers, a day after they came.
create function retention_google_answers(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from google_answers
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and created_at <= now() - interval '1 day'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from google_answers where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;

-- The application's role deletes no identity but a Google account.
create function google_unlink(p_user uuid) returns void language sql security definer set search_path = public, pg_temp as $$
  delete from identities where user_id = p_user and kind = 'google'
$$;
