-- Who a person is, what says so, and what they prove it with are three things: users, identities, credentials. Another way to sign in
-- is a new kind of row. A sign-up is a thing of its own until somebody confirms its address: no person exists before.
create table identities (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('email')),
  -- Of an e-mail address: the address in lower case.
  subject text not null check (length(subject) <= 255),
  -- Nobody has an identity before they proved that it is theirs.
  verified_at timestamptz not null,
  created_at timestamptz not null,
  unique (kind, subject),
  unique (user_id, kind),
  check (kind <> 'email' or subject = lower(subject))
);

create table credentials (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('password')),
  -- What the person calls it, where they may have several.
  name text,
  -- What checking it takes, by kind (server/db/types-accounts.ts).
  data jsonb not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  check (kind <> 'password' or jsonb_typeof(data -> 'hash') = 'string')
);
create index credentials_user on credentials (user_id);
create unique index credentials_one_password on credentials (user_id) where kind = 'password';

create table sign_ups (
  id uuid primary key,
  -- Null: no account can come of it any more. It was confirmed, or disowned, or the address is somebody's already. What is left of
  -- it names nobody; it keeps the answer to its password the same (server/features/auth/sign-in.ts).
  email text check (email = lower(email) and length(email) <= 255),
  -- Null once it is the person's own. Its salt is derived from the address, so that one hash finds all sign-ups with a password.
  password_hash text,
  language text not null,
  created_at timestamptz not null
);
create index sign_ups_email on sign_ups (email) where email is not null;
create index sign_ups_password on sign_ups (password_hash) where password_hash is not null;
create index sign_ups_created on sign_ups (created_at);

insert into identities (user_id, kind, subject, verified_at, created_at)
  select id, 'email', email, email_verified_at, email_verified_at from users where email_verified_at is not null;
insert into credentials (user_id, kind, data, created_at)
  select id, 'password', jsonb_build_object('hash', password_hash), email_verified_at from users
    where email_verified_at is not null and password_hash is not null;
-- A sign-up was what several links to an unconfirmed account share.
insert into sign_ups (id, email, password_hash, language, created_at)
  select distinct on (l.sign_up_id) l.sign_up_id, u.email, l.password_hash, u.language, u.created_at
    from email_links l join users u on u.id = l.user_id
    where l.purpose = 'confirm' and l.used_at is null and l.password_hash is not null and u.email_verified_at is null
    order by l.sign_up_id;

-- A link belongs to the sign-up it was mailed for and, once it was opened, to the person. Links that nothing can open go.
delete from email_links l using users u where u.id = l.user_id
  and case when u.email_verified_at is null then not exists (select from sign_ups s where s.id = l.sign_up_id) else l.used_at is null end;
alter table email_links
  alter column user_id drop not null,
  alter column sign_up_id drop not null,
  alter column sign_up_id drop default;
update email_links l set user_id = case when u.email_verified_at is null then null else l.user_id end,
    sign_up_id = case when u.email_verified_at is null then l.sign_up_id end
  from users u where u.id = l.user_id;
alter table email_links drop column password_hash;
alter table email_links
  add constraint email_links_sign_up_id_fkey foreign key (sign_up_id) references sign_ups on delete cascade,
  add constraint email_links_of_one check (num_nonnulls(sign_up_id, user_id) = 1);
create index email_links_sign_up on email_links (sign_up_id) where sign_up_id is not null;

delete from users where email_verified_at is null;
drop function retention_unconfirmed_accounts;
alter table users drop column email, drop column mailbox_key, drop column email_verified_at, drop column password_hash;
-- What accounts that could not be deleted left behind.
delete from sweep_failures where sweep = 'unconfirmed-accounts';

-- Sign-ups, 30 days after they were begun, with their links.
create function retention_sign_ups(p_limit integer, p_from text)
returns table (done integer, reached text) language sql security definer set search_path = public, pg_temp as $$
  with past as (select id, created_at as at from sign_ups
      where created_at >= coalesce(p_from, '-infinity')::timestamptz and created_at <= business_now() - interval '30 days'
      order by created_at limit least(p_limit, 1000) for update skip locked),
    deleted as (delete from sign_ups where id in (select id from past) returning 1)
  select (select count(*)::integer from deleted), (select at::text from past order by at desc limit 1)
$$;
